//! Recognises text that this program wrote into a new vault (template and help), so that search leaves it out.
//!
//! A block is recognised by its words, whatever its note; a block of less than six words only in a note with a path of
//! the template. So a person's own lines in such a note are searched.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::search::Options;
use crate::search::read::{Block, note};
use crate::template;

/// A text of so many words is the template's wherever it stands; a shorter one only in the template's notes.
const TELLING: usize = 6;

/// Whether a block with this text is one of the template's.
pub fn is_shipped(text: &str) -> bool {
    static TEXTS: OnceLock<HashSet<String>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        let options = Options::default();
        let parsed =
            template::notes().filter_map(|(path, text)| note::read(path, text.as_bytes(), &options).ok());
        parsed.flat_map(|note| note.blocks).map(|block| constant(&block.text)).collect()
    });
    texts.contains(&constant(text))
}

/// Removes the template's blocks from those of the note at `path`.
pub(super) fn take_out(path: &str, blocks: &mut Vec<Block>) {
    let is_own_place = template::notes().any(|(own, _)| own == path);
    let is_shipped = |block: &Block| {
        (is_own_place || block.text.split_whitespace().nth(TELLING - 1).is_some()) && is_shipped(&block.text)
    };
    blocks.retain(|block| !is_shipped(block));
}

/// A text without what differs from vault to vault: when the sample reminder is, and its id.
fn constant(text: &str) -> String {
    let differs = |word: &&str| ["date=", "time=", "id="].iter().any(|key| word.starts_with(key));
    text.split_whitespace().filter(|word| !differs(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_shipped(path: &str, text: &str) -> Vec<Block> {
        let mut blocks = note::read(path, text.as_bytes(), &Options::default()).unwrap().blocks;
        take_out(path, &mut blocks);
        blocks
    }

    #[test]
    fn the_template_is_known_whole_and_a_person_s_lines_are_not() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("vault-template");
        let mut notes = Vec::new();
        for folder in [
            "",
            "daily",
            "routines",
            "skills/brave-search",
            "skills/memory-search",
            "skills/reminders",
            "user",
        ] {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "md") {
                    notes.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        notes.sort();
        assert_eq!(
            notes,
            template::notes().map(|(path, _)| path).collect::<Vec<_>>(),
            "all of the template's notes"
        );
        for (path, text) in template::notes() {
            for block in note::read(path, text.as_bytes(), &Options::default()).unwrap().blocks {
                assert!(is_shipped(&block.text), "{path}: {}", block.text);
            }
            assert_eq!(without_shipped(path, text), [], "{path}");
        }
        let sample = "[ ] date=2026-11-22 time=15:30 recur=none msg=\"Your vault is alive. This line is gone now: look at Reminders.md\" id=rid_ABCDEFGHIJKL";
        assert!(is_shipped(sample) || is_shipped(sample.trim_start_matches("[ ] ")));
        for own in ["Name: Anna", "Anna: likes green tea", "Welcome to the zoo", ""] {
            assert!(!is_shipped(own), "{own}");
        }
    }

    #[test]
    fn what_a_person_changed_is_found() {
        let texts = |path: &str, text: &str| -> Vec<String> {
            let blocks = without_shipped(path, text);
            blocks.into_iter().map(|block| block.text).collect()
        };
        let (path, text) = template::notes().find(|(path, _)| *path == "Reminders.md").unwrap();
        let mine =
            text.replace("The fields may stand in any order.", "Ask Zora about the order. The fields may");
        assert!(texts(path, &mine).iter().any(|own| own.contains("Ask Zora about the order.")));
        assert_eq!(texts("user/profile.md", "# Profile\n\n- Name: Anna\n- Prefers:\n"), ["Name: Anna"]);
        assert_eq!(texts("People.md", "# Profile\n\n- Prefers:\n"), ["Profile", "Prefers:"]);
    }
}
