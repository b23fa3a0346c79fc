//! A basic-memory project: a folder of Markdown entities.
//!
//! ```text
//! ---
//! title: Coffee
//! permalink: coffee
//! ---
//! - [method] Pour over gives more clarity #brewing (tried at home)
//! - relates_to [[Beans]]
//! ```
//!
//! Each note comes whole into the folder of imports, where its links go on working. Its observations
//! become memories, too, in a section with the entity's title, as they are written; relations are links
//! and stay in the note.

use std::path::Path;

use super::{Batch, Item, TransferError, outside};
use crate::format::lines::{self, LiveLines};
use crate::format::yaml;
use crate::vault::NotePath;

/// What the project at `root` holds; its notes go to the folder `into`.
///
/// # Errors
/// `root` is no folder, or has too much in it.
pub fn read(root: &Path, into: &NotePath) -> Result<Batch, TransferError> {
    let mut batch = Batch::default();
    for relative in outside::notes(root, &mut batch)? {
        let path = match into.join(&relative) {
            Ok(path) => path,
            Err(error) => {
                batch.skip(relative, error.to_string());
                continue;
            }
        };
        let Some(text) = outside::read_note(root, &relative, &mut batch) else { continue };
        let entity = Entity::parse(&text);
        let title = entity.title.unwrap_or_else(|| path.stem().to_owned());
        for (line, text) in entity.observations {
            let item = Item::Memory { section: Some(title.clone()), timestamp: None, text };
            batch.add(item, format!("{relative} line {line}"));
        }
        batch.add(Item::Note { path, text }, relative);
    }
    Ok(batch)
}

/// Whether some note of a folder is an entity.
pub(super) fn is_one(root: &Path) -> bool {
    let mut batch = Batch::default();
    let notes = outside::notes(root, &mut batch).unwrap_or_default();
    notes.iter().take(200).any(|relative| {
        let text = outside::read_note(root, relative, &mut batch).unwrap_or_default();
        let entity = Entity::parse(&text);
        entity.has_permalink || !entity.observations.is_empty()
    })
}

/// An entity, as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entity {
    title: Option<String>,
    has_permalink: bool,
    /// With their lines, from 1.
    observations: Vec<(usize, String)>,
}

impl Entity {
    fn parse(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut entity = Self::default();
        let head = lines::frontmatter_end(bytes).unwrap_or(0);
        for line in lines::lines(&bytes[..head]) {
            match yaml::entry(line.text) {
                Some(entry) if entry.key == "title" && !entry.value.trim().is_empty() => {
                    entity.title = Some(entry.value.trim().to_owned());
                }
                Some(entry) if entry.key == "permalink" => entity.has_permalink = true,
                _ => {}
            }
        }
        for line in LiveLines::new(bytes) {
            let text = String::from_utf8_lossy(line.text);
            entity.observations.extend(observation(&text).map(|text| (line.number, text.to_owned())));
        }
        entity
    }
}

/// The observation that a line is: `- [category] text`, or a list item with a tag that is no relation.
fn observation(line: &str) -> Option<&str> {
    let item = line.trim_start().strip_prefix(['-', '*'])?.strip_prefix(' ')?.trim();
    if let Some(rest) = item.strip_prefix('[') {
        let (category, text) = rest.split_once(']')?;
        let is_task = matches!(category.trim(), "" | "x" | "X" | "-" | "/");
        let is_plain = !category.contains(['[', '(', ')']);
        return (!is_task && is_plain && text.starts_with(' ') && !text.trim().is_empty()).then_some(item);
    }
    let is_tag = |word: &str| word.strip_prefix('#').is_some_and(|tag| tag.starts_with(char::is_alphabetic));
    (!item.contains("[[") && item.split_whitespace().any(is_tag)).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_told_from_tasks_links_and_relations() {
        let text = "---\ntitle: Coffee\npermalink: coffee\ntags: [a]\n---\n# Coffee\n\n- [method] Pour over #brewing (at home)\n\
                    * [tip] See [[Beans]]\n- [ ] task\n- [x] done\n- [text](https://example.org)\n- [[Bare]]\n- relates_to [[Beans]] #x\n\
                    - tagged #brewing\n- plain\n```\n- [code] no\n```\n  - [nested] yes\n- [empty] \n";
        let entity = Entity::parse(text);
        assert_eq!((entity.title.as_deref(), entity.has_permalink), (Some("Coffee"), true));
        let found: Vec<_> = entity.observations.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(
            found,
            [
                (8, "[method] Pour over #brewing (at home)"),
                (9, "[tip] See [[Beans]]"),
                (15, "tagged #brewing"),
                (20, "[nested] yes"),
            ]
        );
    }
}
