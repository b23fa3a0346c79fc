//! Finds the sections of a note: a heading with all below it, up to the next heading of its level or above. Pure.
//!
//! Headings are those of Markdown with `#`. A line with `#` in frontmatter, code or a comment is no heading.

use std::ops::Range;

use crate::format::lines::LiveLines;
use crate::format::memory;

/// A section, by its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSection {
    /// The heading's words.
    pub heading: String,
    /// How many `#`, 1 to 6.
    pub level: usize,
    /// The lines of it, from 0, the heading's first.
    pub lines: Range<usize>,
}

/// The sections of a text, in the order of their headings; one holds those below it.
pub fn sections(text: &[u8]) -> Vec<NoteSection> {
    let mut out: Vec<NoteSection> = Vec::new();
    let (mut live, mut count) = (LiveLines::new(text), 0);
    while let Some((line, is_live)) = live.next_any() {
        count = line.number;
        let Some((level, heading)) = is_live.then(|| memory::heading(line.text)).flatten() else { continue };
        let at = line.number - 1;
        close(&mut out, level, at);
        out.push(NoteSection { heading, level, lines: at..usize::MAX });
    }
    close(&mut out, 1, count);
    out
}

/// Open sections of this level and below end here.
fn close(sections: &mut [NoteSection], level: usize, at: usize) {
    for open in sections.iter_mut().filter(|one| one.lines.end == usize::MAX && one.level >= level) {
        open.lines.end = at;
    }
}

/// The one section with a heading; none where there is none, or more than one.
pub fn section(text: &[u8], heading: &str) -> Option<NoteSection> {
    let mut found = sections(text).into_iter().filter(|one| one.heading == heading.trim());
    let one = found.next()?;
    found.next().is_none().then_some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let text = b"---\n# no\n---\nintro\n# A\none\n## B ##\ntwo\n```\n# code\n```\n# C\n#tag\n";
        let found = sections(text);
        let shown: Vec<_> =
            found.iter().map(|one| (one.heading.as_str(), one.level, one.lines.clone())).collect();
        assert_eq!(shown, [("A", 1, 4..11), ("B", 2, 6..11), ("C", 1, 11..13)]);
        assert!(section(b"# A\n# A\n", "A").is_none() && section(text, "a").is_none());
    }
}
