//! Recognises text that this program wrote into a new vault (template and help), so that search leaves it out.
//!
//! The text is recognised by its words, block by block, and line by line in comments. So a person's own lines in such a
//! note are searched, and a moved note is recognised, too.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::search::Options;
use crate::search::read::{Block, Kind, Lines, note};
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

/// Removes the template's blocks from those of the note at `path`. Of a comment that a person changed, the person's
/// lines stay.
pub(super) fn take_out(path: &str, text: &str, blocks: &mut Vec<Block>) {
    let is_own_place = template::notes().any(|(own, _)| own == path);
    let is_shipped = |block: &Block| {
        (is_own_place || block.text.split_whitespace().nth(TELLING - 1).is_some()) && is_shipped(&block.text)
    };
    blocks.retain(|block| !is_shipped(block));
    if is_own_place && blocks.iter().any(|block| block.kind == Kind::Comment) {
        let lines = Lines::of(text);
        let own = std::mem::take(blocks).into_iter().flat_map(|block| changed(block, text, &lines));
        *blocks = own.collect();
    }
}

/// A comment as blocks of those of its lines that are not the template's; any other block as it is.
fn changed(block: Block, text: &str, lines: &Lines) -> Vec<Block> {
    let (from, to) = (block.start as usize, block.end as usize);
    let Some(own) = text.get(from..to).filter(|_| block.kind == Kind::Comment) else { return vec![block] };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (mut at, mut goes_on, mut has_shipped) = (from, false, false);
    for line in own.split_inclusive('\n') {
        let end = at + line.len();
        let is_ours = is_shipped_line(line);
        has_shipped |= is_ours && !line.trim().is_empty();
        match runs.last_mut() {
            Some(run) if goes_on && !is_ours => run.end = end,
            _ if !is_ours => runs.push(at..end),
            _ => {}
        }
        (at, goes_on) = (end, !is_ours);
    }
    if !has_shipped {
        return vec![block];
    }
    let piece = |run: Range<usize>| {
        let said = text[run.clone()].trim_end();
        let mut piece = Block { start: 0, end: 0, text: said.trim_start().to_owned(), ..block.clone() };
        piece.start = u32::try_from(run.start).unwrap_or(u32::MAX);
        piece.end = u32::try_from(run.start + said.len()).unwrap_or(u32::MAX);
        lines.place(&mut piece);
        piece
    };
    runs.into_iter().map(piece).collect()
}

/// Whether a line is empty or stands in one of the template's notes.
fn is_shipped_line(line: &str) -> bool {
    static LINES: OnceLock<HashSet<String>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let all = template::notes().flat_map(|(_, text)| text.lines());
        std::iter::once(String::new()).chain(all.map(constant)).collect()
    });
    lines.contains(&constant(line))
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
        take_out(path, text, &mut blocks);
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
    fn what_a_person_changed_is_found_and_the_rest_of_it_is_not() {
        let texts = |path: &str, text: &str| -> Vec<String> {
            let blocks = without_shipped(path, text);
            blocks.into_iter().map(|block| block.text).collect()
        };
        let (path, text) = template::notes().find(|(path, _)| *path == "Reminders.md").unwrap();
        let mine =
            text.replace("The fields may stand in any order.", "Ask Zora about the order. The fields may");
        let [own] = &texts(path, &mine)[..] else { panic!("{:?}", texts(path, &mine)) };
        assert!(own.starts_with("Ask Zora about the order.") && !own.contains("time zone"), "{own}");
        assert_eq!(texts("user/profile.md", "# Profile\n\n- Name: Anna\n- Prefers:\n"), ["Name: Anna"]);
        assert_eq!(texts("People.md", "# Profile\n\n- Prefers:\n"), ["Profile", "Prefers:"]);
    }
}
