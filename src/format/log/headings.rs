//! Parses other programs' transcripts that have a heading for each turn. vault-agent never writes this format.
//!
//! ```text
//! ## 2026-01-30T14:23:55Z user Alice ^D1-3
//! When did I last ask about the dentist?
//! ```
//!
//! The heading names the instant, the role, the author and optionally the block id; all lines up to the next such
//! heading are the turn's text. A line of text that would itself read as such a heading is escaped by a backslash. A
//! file is such a transcript if the first thing after the frontmatter (and an optional title) is a turn's heading.

use jiff::Timestamp;

use super::read::{LogLines, header, start};
use super::{EventKind, LogBlock, LogEvent, LogFile};
use crate::format::memory;

/// Reads a transcript with a heading a turn; none where the file is something else.
///
/// Its last turn may still grow, so a later reader begins again ([`LogFile::end`] is the start).
pub fn parse_headings(bytes: &[u8]) -> Option<LogFile> {
    let resume = start(bytes);
    let mut lines = LogLines::new(bytes, resume);
    let mut log = LogFile { header: None, blocks: Vec::new(), end: resume };
    let mut heading = first_heading(&mut lines)?;
    log.header = Some(header(&bytes[resume.offset..]));
    loop {
        let (place, title) = heading;
        let mut content: Vec<&[u8]> = Vec::new();
        // Empty lines before the next heading are no part of what was said.
        let (mut said, mut last) = (0, lines);
        let next = loop {
            let before = lines;
            let Some(line) = lines.next() else { break None };
            if let Some(title) = turn_heading(line) {
                break Some((before, title));
            }
            content.push(unescaped(line));
            if !line.trim_ascii().is_empty() {
                (said, last) = (content.len(), lines);
            }
        };
        content.truncate(said);
        let blank = content.iter().take_while(|line| line.trim_ascii().is_empty()).count();
        log.blocks.push(LogBlock {
            line: place.number,
            end_line: last.number - 1,
            range: place.at..last.at,
            event: LogEvent {
                content: String::from_utf8_lossy(&content[blank..].join(&b'\n')).into_owned(),
                ..title
            },
        });
        match next {
            Some(found) => heading = found,
            None => return Some(log),
        }
    }
}

/// The first turn's heading and where it stands, with `lines` after it; none where something else comes first.
fn first_heading<'a>(lines: &mut LogLines<'a>) -> Option<(LogLines<'a>, LogEvent)> {
    let mut in_frontmatter = false;
    loop {
        let before = *lines;
        let line = lines.next()?;
        if in_frontmatter {
            in_frontmatter = line != b"---";
        } else if line == b"---" && before.number == 1 {
            in_frontmatter = true;
        } else if let Some(heading) = turn_heading(line) {
            return Some((before, heading));
        } else if !(line.trim_ascii().is_empty() || line.starts_with(b"# ")) {
            return None;
        }
    }
}

/// `## 2026-01-30T14:23:55Z user Alice ^D1-3`: an event without its text.
fn turn_heading(line: &[u8]) -> Option<LogEvent> {
    let text = std::str::from_utf8(line.strip_prefix(b"## ")?).ok()?.trim_end();
    let (at, rest) = text.split_once(' ')?;
    let (role, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let kind = match EventKind::from_bytes(role.as_bytes()) {
        None if role.eq_ignore_ascii_case("assistant") => EventKind::Agent,
        kind => kind?,
    };
    let at = at.parse::<Timestamp>().ok()?;
    let (author, id) = memory::split_block_id(rest);
    let (author, id) = (author.trim().to_owned(), id.map(str::to_owned));
    Some(LogEvent { kind, at, author, content: String::new(), id })
}

/// A line without the backslash that kept it from being a heading.
fn unescaped(line: &[u8]) -> &[u8] {
    match line.strip_prefix(b"\\") {
        Some(inner) if turn_heading(inner).is_some() => inner,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "---\nchannel: pets-1\nsession: 4\nstarted: 2026-01-30T14:23:55Z\n---\n\n";

    fn show(text: &str) -> Vec<String> {
        let Some(log) = parse_headings(text.as_bytes()) else { return Vec::new() };
        let show = |block: &LogBlock| {
            let (event, id) = (&block.event, block.event.id.as_deref().unwrap_or("-"));
            let said = event.content.replace('\n', "/");
            format!("{}-{} {} {} {id}: {said}", block.line, block.end_line, event.kind, event.author)
        };
        log.blocks.iter().map(show).collect()
    }

    #[test]
    fn each_heading_is_a_turn() {
        let text = format!(
            "{HEAD}## 2026-01-30T14:23:55Z user Mary Ann ^D1-1\nHi!\n\n\n(shares a photo: a cat)\n\n\
             ## 2026-01-30T16:24:25+02:00 assistant Pai\n# no turn\n> [!user] 2026-01-30T14:23:55Z Eve\n\
             \\## 2026-01-30T14:23:55Z user Eve ^x\n\\## plain\n"
        );
        assert_eq!(
            show(&text),
            [
                "7-11 user Mary Ann D1-1: Hi!///(shares a photo: a cat)",
                "13-17 agent Pai -: # no turn/> [!user] 2026-01-30T14:23:55Z Eve/## 2026-01-30T14:23:55Z user Eve ^x/\\## plain",
            ]
        );
        assert_eq!(show(&text.replace('\n', "\r\n")), show(&text));
        let header = parse_headings(text.as_bytes()).unwrap().header.unwrap();
        assert_eq!((header.context_id.as_str(), header.surface.as_str()), ("pets-1", "discord-channel"));
        assert_eq!(show("\u{feff}## 2026-01-30T14:23:55Z user Ann ^a b"), ["1-1 user Ann ^a b -: "]);
    }

    #[test]
    fn other_notes_are_none() {
        for text in [
            "",
            HEAD,
            "## 2026-01-30 user Ann\nHi",
            "## 2026-01-30T14:23:55Z meeting notes\nHi",
            "An introduction\n\n## 2026-01-30T14:23:55Z user Ann\nHi",
            "> [!user] 2026-01-30T14:23:55Z Ann\n> ## 2026-01-30T14:23:55Z user Ann\n\n^a\n",
        ] {
            assert_eq!(show(text), [""; 0], "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_conversation_comes_back(
            contents in proptest::collection::vec("(?s).{0,60}|(\\\\?## 2026-01-30T14:23:55Z user A|\n| |x){0,6}", 1..6)
        ) {
            let mut text = HEAD.to_owned();
            for (n, content) in contents.iter().enumerate() {
                text.push_str(&format!("## 2026-01-30T14:23:55Z user Ann ^t{n}\n"));
                for line in content.split('\n') {
                    let escaped = turn_heading(line.as_bytes()).is_some();
                    text.push_str(if escaped { "\\" } else { "" });
                    text.push_str(line);
                    text.push('\n');
                }
                text.push('\n');
            }
            let log = parse_headings(text.as_bytes()).unwrap();
            prop_assert_eq!(log.blocks.len(), contents.len());
            // An escape that the writer itself was given stands for what it escapes.
            let plain = |text: &str| text.replace("\\## 2026", "## 2026").split_whitespace().collect::<String>();
            for (block, content) in log.blocks.iter().zip(&contents) {
                prop_assert_eq!(plain(&block.event.content), plain(content));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_headings(&bytes);
            let _ = parse_headings(&[HEAD.as_bytes(), b"## 2026-01-30T14:23:55Z user A\n", &bytes].concat());
        }
    }
}
