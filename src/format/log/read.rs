//! Parses and writes the events of a log, one callout each. Also recognises an agent's answer that consists only of
//! recalled memories or of help, and says nothing new.
//!
//! The last line of an agent's event may be a comment, which Obsidian doesn't show, with facts about the answer:
//! `%% brain=claude model=claude-opus-5 in=5210 out=212 usd=0.004 ms=2100 %%`.

use jiff::Timestamp;

use super::{EventKind, LogBlock, LogEvent, LogFile, LogHeader, Resume};
use crate::format::is_block_id;
use crate::format::lines::{bom_len, frontmatter_end, lines};
use crate::format::yaml::{self, to_scalar};

/// Reads a log from its start. Text outside of events is passed over.
pub fn parse(bytes: &[u8]) -> LogFile {
    let resume = start(bytes);
    let mut log = parse_from(bytes, resume);
    log.header = Some(header(&bytes[resume.offset..])).filter(|header| !header.surface.is_empty());
    log
}

/// The beginning of a file's first line, and the kind of its line ends.
pub(super) fn start(bytes: &[u8]) -> Resume {
    let start = bom_len(bytes);
    let first = bytes[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Resume { offset: start, line: 1, crlf: first.ends_with(b"\r") }
}

/// Reads the events after a place that an earlier reading left off at; the header is not read again.
pub fn parse_from(bytes: &[u8], resume: Resume) -> LogFile {
    let mut lines = LogLines::new(bytes, resume);
    let mut log = LogFile { header: None, blocks: Vec::new(), end: resume };
    let mut quoted_before = false;
    loop {
        let before = lines;
        let Some(line) = lines.next() else { break };
        let quoted = line.starts_with(b">");
        // Lines behind `>` belong to the callout above them, whatever they look like.
        let begins = quoted && !quoted_before;
        quoted_before = quoted;
        let Some((kind, at, author)) = (if begins { title(line) } else { None }) else { continue };
        let Some((event, after)) = body(lines, kind, at, &author) else { break };
        log.blocks.push(LogBlock {
            line: before.number,
            end_line: after.number - 1,
            range: before.at..after.at,
            event,
        });
        log.end = Resume { offset: after.at, line: after.number, crlf: resume.crlf };
        lines = after;
        quoted_before = false;
    }
    log
}

/// The callouts of a log that look like events but have an unknown kind: line, column, and the kind as written.
pub fn unknown_kinds(bytes: &[u8]) -> Vec<(usize, usize, String)> {
    let known = parse(bytes).blocks;
    let mut lines = LogLines::new(bytes, start(bytes));
    let (mut found, mut quoted_before) = (Vec::new(), false);
    loop {
        let before = lines;
        let Some(line) = lines.next() else { return found };
        let begins = line.starts_with(b">") && !quoted_before;
        quoted_before = line.starts_with(b">");
        let inside = known.partition_point(|block| block.range.end <= before.at);
        if !begins || known.get(inside).is_some_and(|block| block.range.contains(&before.at)) {
            continue;
        }
        found.extend(unknown_kind(line).map(|(column, kind)| (before.number, column, kind)));
    }
}

/// The kind of `> [!kind] 2026-01-30T14:23:55Z Alice`, where there is no such kind, with its column from 1.
fn unknown_kind(line: &[u8]) -> Option<(usize, String)> {
    let text = std::str::from_utf8(line).ok()?;
    let (mark, rest) = text.split_once("[!")?;
    let (kind, rest) = rest.split_once(']')?;
    let at = rest.trim_start_matches(['-', '+']).split_whitespace().next()?;
    let is_meant = mark.trim() == ">" && at.parse::<Timestamp>().is_ok();
    (is_meant && EventKind::from_bytes(kind.as_bytes()).is_none())
        .then(|| (mark.chars().count() + 3, kind.to_owned()))
}

/// The rest of an event after its title; none where the file ends before it is whole.
fn body<'a>(
    mut lines: LogLines<'a>,
    kind: EventKind,
    at: Timestamp,
    author: &str,
) -> Option<(LogEvent, LogLines<'a>)> {
    let mut content: Vec<&[u8]> = Vec::new();
    let mut ahead = lines;
    while let Some(text) = ahead.next().and_then(|line| line.strip_prefix(b">")) {
        content.push(text.strip_prefix(b" ").unwrap_or(text));
        lines = ahead;
    }
    let event = |id| LogEvent {
        kind,
        at,
        author: author.to_owned(),
        content: String::from_utf8_lossy(&content.join(&b'\n')).into_owned(),
        id,
    };
    let mut ahead = lines;
    loop {
        let line = ahead.next()?;
        if let Some(id) = line.strip_prefix(b"^") {
            // An id without its line break may be cut short.
            return match (block_id(id), ahead.bytes[..ahead.at].ends_with(b"\n")) {
                (Some(id), true) => Some((event(Some(id)), ahead)),
                (_, false) => None,
                (None, true) => Some((event(None), lines)),
            };
        }
        if !line.is_empty() {
            return Some((event(None), lines));
        }
    }
}

fn block_id(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end();
    is_block_id(text).then(|| text.to_owned())
}

/// `> [!user]- 2026-01-30T14:23:55Z Alice`
fn title(line: &[u8]) -> Option<(EventKind, Timestamp, String)> {
    let rest = line.strip_prefix(b">")?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"[!")?;
    let (kind, rest) = rest.split_at(memchr::memchr(b']', rest)?);
    let kind = EventKind::from_bytes(kind)?;
    let rest = &rest[1..];
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let rest = rest.strip_prefix(b" ")?;
    let (at, author) = rest.split_at(memchr::memchr(b' ', rest).unwrap_or(rest.len()));
    let at = std::str::from_utf8(at).ok()?.parse().ok()?;
    Some((kind, at, String::from_utf8_lossy(author).trim().to_owned()))
}

/// A log's facts from its frontmatter, in our own form or in the one with headings.
pub(super) fn header(bytes: &[u8]) -> LogHeader {
    let mut header = LogHeader::default();
    let head = frontmatter_end(bytes).map_or(0, |end| end.min(8192));
    for entry in lines(&bytes[..head]).filter_map(|line| yaml::entry(line.text)) {
        match entry.key {
            "surface" => header.surface = entry.value,
            "context_id" => header.context_id = entry.value,
            key @ ("channel" | "thread") if header.context_id.is_empty() => {
                header.surface = format!("discord-{key}");
                header.context_id = entry.value;
            }
            "started" => header.started = entry.value.parse().ok(),
            "title" => header.title = Some(entry.value),
            _ => {}
        }
    }
    header
}

/// Lines split at LF alone, so that a CR at the end of a raw line stays, unless the whole file has CRLF.
#[derive(Clone, Copy)]
pub(super) struct LogLines<'a> {
    bytes: &'a [u8],
    /// The byte at which the next line begins.
    pub(super) at: usize,
    /// That line's number, from 1.
    pub(super) number: usize,
    crlf: bool,
}

impl<'a> LogLines<'a> {
    /// From a place between two lines.
    pub(super) fn new(bytes: &'a [u8], from: Resume) -> Self {
        Self { bytes, at: from.offset.min(bytes.len()), number: from.line, crlf: from.crlf }
    }

    /// The next line, without its end.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest);
        let line = &rest[..length.unwrap_or(rest.len())];
        self.at += length.map_or(rest.len(), |length| length + 1);
        self.number += 1;
        Some(if self.crlf { line.strip_suffix(b"\r").unwrap_or(line) } else { line })
    }
}

/// The frontmatter of a new log, with the line break after it.
pub fn render_header(header: &LogHeader) -> String {
    let mut out = format!(
        "---\nsurface: {}\ncontext_id: {}\n",
        to_scalar(&header.surface),
        to_scalar(&header.context_id)
    );
    out.extend(header.started.map(|started| format!("started: {started}\n")));
    out.extend(header.title.as_ref().map(|title| format!("title: {}\n", to_scalar(title))));
    out.push_str("---\n");
    out
}

/// An event as it is appended to a log: an empty line, the callout, an empty line, the block id.
pub fn render_event(event: &LogEvent) -> String {
    let fold = if matches!(event.kind, EventKind::Tool | EventKind::Recall) { "-" } else { "" };
    let author = one_line(&event.author);
    let mut out = format!("\n> [!{}]{fold} {}", event.kind, event.at);
    if !author.is_empty() {
        out.extend([" ", &author]);
    }
    out.push('\n');
    if !event.content.is_empty() {
        event.content.split('\n').for_each(|line| out.extend(["> ", line, "\n"]));
    }
    out.extend(event.id.as_ref().map(|id| format!("\n^{id}\n")));
    out
}

/// A name on one line: what breaks or hides a line becomes a space, runs of spaces one.
fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    crate::format::one_line(&spaced)
}

/// An answer that begins so consists of excerpts from notes.
pub const FOUND: &str = "From your notes (excerpts, found by search):";
/// The answer where nothing was found.
pub const FOUND_NOTHING: &str = "I found nothing about that in your notes.";
/// An answer that begins so says how to ask.
pub const ANSWERED_WITH_HELP: &str = "Ask me about your notes, or use ";

/// The event's text, and the facts behind it as keys and values; no facts if the last line is no line of facts, whose
/// first is `brain`.
pub fn split_facts(content: &str) -> (&str, Vec<(&str, &str)>) {
    let (said, line) = content.rsplit_once('\n').unwrap_or(("", content));
    match facts(line) {
        Some(facts) => (said, facts),
        None => (content, Vec::new()),
    }
}

fn facts(line: &str) -> Option<Vec<(&str, &str)>> {
    fn fact(word: &str) -> Option<(&str, &str)> {
        let (key, value) = word.split_once('=')?;
        let is_plain = key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        (is_plain && !key.is_empty() && !word.contains('%')).then_some((key, value))
    }
    let inner = line.trim_end().strip_prefix("%% ")?.strip_suffix(" %%")?;
    let facts: Option<Vec<(&str, &str)>> = inner.split_ascii_whitespace().map(fact).collect();
    facts.filter(|facts| facts.first().is_some_and(|(key, _)| *key == "brain"))
}

/// Whether an agent's content is made of memory alone, or of help.
pub(super) fn is_made_of_recall(content: &str) -> bool {
    let (said, facts) = split_facts(content);
    let said = said.trim();
    facts.contains(&("brain", "memory"))
        || said.starts_with(FOUND)
        || said.starts_with(ANSWERED_WITH_HELP)
        || said == FOUND_NOTHING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_no_part_of_what_was_said() {
        let whole = "Green tea.\n50%% off\n%% brain=claude usd=0.004 ctx= %%";
        let facts = vec![("brain", "claude"), ("usd", "0.004"), ("ctx", "")];
        assert_eq!(split_facts(whole), ("Green tea.\n50%% off", facts));
        assert_eq!(split_facts("%% brain=x %%"), ("", vec![("brain", "x")]));
        for none in [
            "Green tea.",
            "a\n%% model=x brain=y %%",
            "a\n%% brain=x",
            "a %% brain=x %%",
            "a\n%% brain=x y %%",
        ] {
            assert_eq!(split_facts(none), (none, Vec::new()));
        }
    }

    #[test]
    fn answers_from_memory_are_known() {
        for made in [
            "From your notes (excerpts, found by search):\n- tea",
            "I found nothing about that in your notes.",
            "Green tea.\n%% brain=memory ms=3 %%",
        ] {
            assert!(is_made_of_recall(made), "{made}");
        }
        for own in [
            "I found nothing about that in your notes. But",
            "Green tea.\n%% brain=claude %%",
            "brain=memory",
        ] {
            assert!(!is_made_of_recall(own), "{own}");
        }
    }
}
