//! Parses notes of memories (`MEMORY.md`): `## Section` headings, and bullets that may begin with a `[timestamp] `.
//! Also writes bullets.
//!
//! A bullet is a live line that starts with `- `, `* ` or `+ ` in the first column. The indented lines below that line,
//! and blank lines between them, belong to the bullet. The grammar is `grammar/memory.abnf`.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::Time;
use regex_lite::Regex;

use super::lines::{self, LiveLines};
use super::{Line, with_line_feeds};

/// A section: a second-level heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySection {
    /// The heading's text.
    pub name: String,
    /// The heading's line, from 1.
    pub line: usize,
    /// Its bytes, from the heading to the next heading of the first or second level, or the end of the file.
    pub range: Range<usize>,
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bullet {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Its bytes, with the newline of its last line.
    pub range: Range<usize>,
    /// The section that it stands in.
    pub section: Option<String>,
    /// The text in the brackets at its start, as written: `2026-11-20`, `2026-11-20T14:02Z`.
    pub timestamp: Option<String>,
    /// The local time of day, of a day's bullet that has one.
    pub time: Option<Time>,
    /// Its text: without marker and timestamp, lines joined by LF, the indentation of two columns taken away.
    pub text: String,
    /// Inline fields, `[key:: value]`, in order; they stand in the text too.
    pub fields: Vec<(String, String)>,
}

/// A text without inline fields and without a block id at its end.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    for (place, _) in inline_fields(text) {
        plain.push_str(text[at..place.start].trim_end_matches(' '));
        at = place.end;
    }
    plain.push_str(&text[at..]);
    let end = split_block_id(&plain).0.trim_end().len();
    plain.truncate(end);
    plain
}

/// A file of memories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryFile {
    /// The sections in order.
    pub sections: Vec<MemorySection>,
    /// The bullets in order.
    pub bullets: Vec<Bullet>,
}

/// Everything in a file that is a section or a bullet.
pub fn parse(bytes: &[u8]) -> MemoryFile {
    let mut reader = Reader::default();
    LiveLines::new(bytes).with_liveness().for_each(|(line, live)| reader.line(&line, live));
    reader.finish(bytes.len())
}

/// A bullet as it is written, ending in a newline: the lines of `text` after the first are indented by two
/// spaces, line ends become LF, and a fence or comment that the text leaves open is closed.
pub fn render_bullet(timestamp: Option<&str>, text: &str) -> String {
    let stamp = timestamp.map(|timestamp| format!("[{timestamp}] ")).unwrap_or_default();
    render_item(&format!("{stamp}{}", text.trim_matches(['\n', '\r', ' '])))
}

/// The same for an item whose text is complete.
pub(crate) fn render_item(text: &str) -> String {
    let text = with_line_feeds(text);
    let mut item = String::from("-");
    for (place, line) in text.split('\n').enumerate() {
        match (place, line.trim_end_matches([' ', '\t'])) {
            (0, _) => item.extend([" ", line]),
            (_, "") => item.push('\n'),
            _ => item.extend(["\n  ", line]),
        }
    }
    if let Some(closer) = lines::closing_line(item.as_bytes()) {
        item.extend(["\n  ", closer.strip_prefix("  ").unwrap_or(&closer)]);
    }
    item.push('\n');
    item
}

#[derive(Default)]
struct Reader {
    file: MemoryFile,
    section: Option<String>,
    /// The blank lines since the last bullet's last line, while more lines may belong to it.
    blanks: Option<usize>,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>, live: bool) {
        let blank = line.text.trim_ascii().is_empty();
        let indented = matches!(line.text.first(), Some(b' ' | b'\t'));
        if blank || indented {
            if let (Some(blanks), Some(bullet)) = (&mut self.blanks, self.file.bullets.last_mut()) {
                if blank {
                    *blanks += 1;
                } else {
                    bullet.add(line, std::mem::take(blanks));
                }
            }
            return;
        }
        self.blanks = None;
        if !live {
            return;
        }
        if let Some((level, name)) = heading(line.text) {
            if level <= 2 {
                self.end_section(line.start);
                self.section = (level == 2).then(|| name.clone());
                if level == 2 {
                    self.file.sections.push(MemorySection { name, line: line.number, range: line.start..0 });
                }
            }
        } else if let Some(body) = bullet(line.text) {
            let (timestamp, body) = timestamp(body).map_or((None, body), |(stamp, rest)| (Some(stamp), rest));
            self.file.bullets.push(Bullet {
                line: line.number,
                end_line: line.number,
                range: line.start..line.end(),
                section: self.section.clone(),
                timestamp,
                time: None,
                text: String::from_utf8_lossy(body.trim_ascii()).into_owned(),
                fields: Vec::new(),
            });
            self.blanks = Some(0);
        }
    }

    fn end_section(&mut self, at: usize) {
        if let Some(last) = self.file.sections.last_mut().filter(|section| section.range.end == 0) {
            last.range.end = at;
        }
    }

    fn finish(mut self, end: usize) -> MemoryFile {
        self.end_section(end);
        for bullet in &mut self.file.bullets {
            bullet.fields = fields(&bullet.text);
        }
        self.file
    }
}

impl Bullet {
    /// Its text, with the timestamp before it.
    pub(crate) fn into_text(self) -> String {
        match self.timestamp {
            Some(timestamp) => format!("[{timestamp}] {}", self.text),
            None => self.text,
        }
    }

    /// Adds a line that stands behind so many blank ones.
    fn add(&mut self, line: &Line<'_>, blanks: usize) {
        self.text.extend(std::iter::repeat_n('\n', blanks + 1));
        self.text.push_str(String::from_utf8_lossy(&line.text[indent(line.text)..]).trim_end());
        self.end_line = line.number;
        self.range.end = line.end();
    }
}

/// The length of the indent of a line that goes on with a bullet: a tab, or at most two spaces.
pub(crate) fn indent(text: &[u8]) -> usize {
    match text {
        [b'\t', ..] => 1,
        text => text.iter().take(2).take_while(|b| **b == b' ').count(),
    }
}

/// The level and text of an ATX heading.
pub(crate) fn heading(text: &[u8]) -> Option<(usize, String)> {
    let level = text.iter().take_while(|b| **b == b'#').count();
    let rest = &text[level..];
    if !(1..=6).contains(&level) || !matches!(rest.first(), None | Some(b' ' | b'\t')) {
        return None;
    }
    let body = String::from_utf8_lossy(rest);
    let body = body.trim();
    // A closing run of `#` is no part of the heading.
    let open = body.trim_end_matches('#');
    let name = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { body };
    Some((level, name.to_owned()))
}

/// The text behind a bullet's marker.
fn bullet(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'-' | b'*' | b'+', b' ' | b'\t', rest @ ..] => Some(rest),
        [b'-' | b'*' | b'+'] => Some(&[]),
        _ => None,
    }
}

/// A date, perhaps with a time of day and an offset: `2026-11-20`, `2026-11-20 14:02`, `2026-11-20T14:02:11+01:00`.
static STAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$").ok()
});

/// The [`STAMP`] in brackets that a bullet's text begins with, and what follows.
fn timestamp(text: &[u8]) -> Option<(String, &[u8])> {
    let blanks = text.iter().take(8).take_while(|byte| **byte == b' ').count();
    let inside = text[blanks..].strip_prefix(b"[")?;
    let (stamp, rest) = inside.split_at(memchr::memchr(b']', inside)?);
    let stamp = std::str::from_utf8(stamp)
        .ok()
        .filter(|stamp| STAMP.as_ref().is_some_and(|it| it.is_match(stamp)))?;
    Some((stamp.to_owned(), rest.strip_prefix(b"] ")?))
}

/// The inline fields of a text, in order.
pub(crate) fn fields(text: &str) -> Vec<(String, String)> {
    inline_fields(text).into_iter().map(|(_, field)| field).collect()
}

/// The places and contents of `[key:: value]` in a text.
fn inline_fields(text: &str) -> Vec<(Range<usize>, (String, String))> {
    let mut fields = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('[').map(|open| at + open) {
        let inside = &text[open + 1..];
        let key =
            inside.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
        let value = inside[key..].strip_prefix("::").filter(|_| key > 0);
        let line = value.map(|value| value.split('\n').next().unwrap_or_default());
        match line.and_then(|line| line.find(']').map(|end| &line[..end])) {
            Some(value) => {
                let end = open + 1 + key + 2 + value.len() + 1;
                fields.push((open..end, (inside[..key].to_owned(), value.trim().to_owned())));
                at = end;
            }
            None => at = open + 1 + key,
        }
    }
    fields
}

/// A text without the block id at its end, and the block id.
pub(crate) fn split_block_id(text: &str) -> (&str, Option<&str>) {
    let trimmed = text.trim_end();
    let found = trimmed.rfind('^').filter(|at| {
        let name = &trimmed[at + 1..];
        let apart = *at == 0 || trimmed[..*at].ends_with(char::is_whitespace);
        apart && super::is_block_id(name)
    });
    match found {
        Some(at) => (trimmed[..at].trim_end(), Some(&trimmed[at + 1..])),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sections_and_bullets() {
        let file = parse(
            b"---\ntags: x\n---\n# Memory\n- top\n## Kyle ##\n\n- [2026-05-08] prefers Rust [key:: lang] ^b1\n  and\n\n    more\n\ntext\n\
              ```\n- code\n```\n* [ ] task\n### deeper\n+ [link](x)\n# Other\n- last",
        );
        let names: Vec<_> = file.sections.iter().map(|s| (s.name.as_str(), s.line)).collect();
        assert_eq!(names, [("Kyle", 6)]);
        let texts: Vec<_> = file
            .bullets
            .iter()
            .map(|b| (b.line, b.end_line, b.section.as_deref(), b.timestamp.as_deref(), b.text.as_str()))
            .collect();
        assert_eq!(
            texts,
            [
                (5, 5, None, None, "top"),
                (8, 11, Some("Kyle"), Some("2026-05-08"), "prefers Rust [key:: lang] ^b1\nand\n\n  more"),
                (17, 17, Some("Kyle"), None, "[ ] task"),
                (19, 19, Some("Kyle"), None, "[link](x)"),
                (21, 21, None, None, "last"),
            ]
        );
    }

    #[test]
    fn what_a_text_leaves_open_is_closed() {
        let text = render_bullet(None, "see\n```\ncode <!--") + &render_bullet(None, "a <!-- b") + "- c\n";
        assert_eq!(parse(text.as_bytes()).bullets.len(), 3, "{text}");
    }

    proptest! {
        #[test]
        fn a_bullet_reads_back(text in "[a-z#*-][a-z \\[\\]:<>^\"é-]{0,20}(\n{1,2}[a-z#-][a-z \\[:*#-]{0,9}){0,3}", stamped: bool) {
            prop_assume!(!text.starts_with("-->"));
            let clean: Vec<&str> = text.split('\n').map(str::trim_end).collect();
            let stamp = stamped.then_some("2026-11-20 14:02");
            let rendered = render_bullet(stamp, &text) + "- next\n";
            let file = parse(rendered.as_bytes());
            prop_assert_eq!(file.bullets.len(), 2);
            prop_assert_eq!(file.bullets[0].timestamp.as_deref(), stamp);
            if !rendered.contains("<!--") {
                let expected = clean.join("\n");
                prop_assert_eq!(file.bullets[0].text.as_str(), expected.trim());
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\n -*[]:^#`".to_vec())], 0..200)) {
            for bullet in parse(&bytes).bullets {
                prop_assert!(bullet.range.end <= bytes.len());
            }
        }
    }
}
