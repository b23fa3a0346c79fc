//! Reads a basic-memory project: a folder of Markdown entities.
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
//! Each note comes whole into the folder of imports, where its observations are found and its links go on working.
//! Nothing of it is written a second time into `MEMORY.md`.

use std::path::Path;

use super::{ImportBatch, ImportItem, TransferError, bounded_read};
use crate::format::lines::{self, LiveLines};
use crate::format::yaml;
use crate::vault::NotePath;

/// Reads the project at `root`; its notes go to the folder `into`.
///
/// # Errors
/// `root` is no folder, or has too much in it.
pub fn read(root: &Path, into: &NotePath) -> Result<ImportBatch, TransferError> {
    let mut batch = ImportBatch::default();
    for relative in bounded_read::notes(root, &mut batch)? {
        match into.join(&relative) {
            Ok(path) => {
                if let Some(text) = bounded_read::read_note(root, &relative, &mut batch) {
                    batch.add(ImportItem::Note { path, text }, relative);
                }
            }
            Err(error) => batch.skip(relative, error.to_string()),
        }
    }
    Ok(batch)
}

/// Whether some note of a folder is an entity.
pub(super) fn is_one(root: &Path) -> bool {
    let mut batch = ImportBatch::default();
    let notes = bounded_read::notes(root, &mut batch).unwrap_or_default();
    notes.iter().take(200).any(|relative| {
        let text = bounded_read::read_note(root, relative, &mut batch).unwrap_or_default();
        is_entity(&text)
    })
}

/// Whether a note is an entity: it has a permalink in its head, or an observation.
fn is_entity(text: &str) -> bool {
    let bytes = text.as_bytes();
    let head = lines::frontmatter_end(bytes).unwrap_or(0);
    let is_permalink = |line: lines::Line<'_>| yaml::entry(line.text).is_some_and(|it| it.key == "permalink");
    lines::lines(&bytes[..head]).into_iter().any(is_permalink)
        || LiveLines::new(bytes).any(|line| observation(&String::from_utf8_lossy(line.text)).is_some())
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
        let found: Vec<_> = text.lines().filter_map(observation).collect();
        assert_eq!(
            found,
            [
                "[method] Pour over #brewing (at home)",
                "[tip] See [[Beans]]",
                "tagged #brewing",
                "[code] no",
                "[nested] yes"
            ]
        );
        assert!(is_entity(text) && is_entity("---\npermalink: a\n---\n") && is_entity("- [a] b\n"));
        assert!(!is_entity("---\ntitle: a\n---\nwords\n") && !is_entity("```\n- [code] no\n```\n"));
    }
}
