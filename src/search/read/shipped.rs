//! What this program itself wrote into a new vault: template and help. It is nobody's memory.
//!
//! Told by its words, block by block: a note that a person wrote on in keeps that person's lines as memories, and a
//! moved note is known, too.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::search::Options;
use crate::search::read::note;
use crate::template;

/// Whether a block with this text is one of the template's.
pub fn is_shipped(text: &str) -> bool {
    static TEXTS: OnceLock<HashSet<String>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        let options = Options::default();
        let parsed =
            template::notes().filter_map(|(path, text)| note::parse(path, text.as_bytes(), &options).ok());
        parsed.flat_map(|parsed| parsed.note.blocks).map(|block| constant(&block.text)).collect()
    });
    texts.contains(&constant(text))
}

/// A text without what differs from vault to vault: when the sample reminder is, and its id.
fn constant(text: &str) -> String {
    let differs = |word: &&str| ["date=", "time=", "id="].iter().any(|key| word.starts_with(key));
    text.split_whitespace().filter(|word| !differs(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
            for block in note::parse(path, text.as_bytes(), &Options::default()).unwrap().note.blocks {
                assert!(is_shipped(&block.text), "{path}: {}", block.text);
            }
        }
        let sample = "[ ] date=2026-11-22 time=15:30 recur=none msg=\"Your vault is alive. This line is gone now: look at Reminders.md\" id=rid_ABCDEFGHIJKL";
        assert!(is_shipped(sample) || is_shipped(sample.trim_start_matches("[ ] ")));
        for own in ["Name: Anna", "Anna: likes green tea", "Welcome to the zoo", ""] {
            assert!(!is_shipped(own), "{own}");
        }
    }
}
