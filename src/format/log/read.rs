//! Parses the events of a log.

use jiff::Timestamp;
use nom::bytes::complete::{tag, take_till1, take_while1};
use nom::character::complete::char;
use nom::combinator::{map_opt, opt, rest};
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

use super::{EventKind, LogBlock, LogEvent, LogFile, LogHeader, Resume};
use crate::format::lines::{bom_len, frontmatter_end, lines};
use crate::format::{is_block_id, yaml};

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

/// The callouts of a log that are meant as events but are of no kind that there is: line, column, the kind as it stands.
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
            return match (block_id(id), ahead.ended_with_break()) {
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

pub(super) fn block_id(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end();
    is_block_id(text).then(|| text.to_owned())
}

/// `> [!user]- 2026-01-30T14:23:55Z Alice`
fn title(line: &[u8]) -> Option<(EventKind, Timestamp, String)> {
    fn parser(input: &[u8]) -> IResult<&[u8], (EventKind, Timestamp, &[u8])> {
        let kind = map_opt(take_while1(|byte: u8| byte.is_ascii_alphabetic()), EventKind::from_bytes);
        let marker = delimited(tag("[!"), kind, char(']'));
        let folded = opt(nom::branch::alt((char('-'), char('+'))));
        let instant = map_opt(take_till1(|byte| byte == b' '), |text: &[u8]| {
            std::str::from_utf8(text).ok()?.parse::<Timestamp>().ok()
        });
        let author = opt(preceded(char(' '), rest));
        let (input, (_, _, kind, _, _, at, author)) =
            (char('>'), opt(char(' ')), marker, folded, char(' '), instant, author).parse(input)?;
        Ok((input, (kind, at, author.unwrap_or_default())))
    }
    let (left, (kind, at, author)) = parser(line).ok()?;
    left.is_empty().then(|| (kind, at, String::from_utf8_lossy(author).trim().to_owned()))
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

    /// Whether the line that was read last has its line break.
    fn ended_with_break(&self) -> bool {
        self.at > 0 && self.bytes[self.at - 1] == b'\n'
    }
}
