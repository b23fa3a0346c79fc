//! Parses and writes logs, which are append-only: one file for each context window of a conversation, one Obsidian
//! callout for each event.
//!
//! Every line of an event's text is prefixed by `> `, so the text can't be taken for structure. A code fence, a `---`
//! and a callout's own syntax come back byte for byte. An event ends with a block id on a line of its own, so that
//! links can lead to the event. A reader may continue from the end of the last event that it saw ([`parse_from`]).
//!
//! ```text
//! > [!user] 2026-01-30T14:23:55Z Alice
//! > When did I last ask about the dentist?
//!
//! ^01JGXYZ0000000000000000000
//! ```
//!
//! An agent's event may end with a comment of facts on the answer, which is no part of the event's text
//! ([`split_facts`]). Transcripts of other programs, in which each turn has a heading, are read too
//! ([`parse_headings`]).
//!
//! - `path`: the path of a log; `read`: parses and writes events; `headings`: transcripts in which each turn has a
//!   heading.

mod headings;
mod path;
mod read;

use std::collections::HashMap;
use std::ops::Range;

use super::fenced;
use crate::words::words;
use jiff::Timestamp;

pub use headings::parse_headings;
pub use path::{LogPath, ROUTINES, SESSIONS, SessionPath};
pub use read::{
    ANSWERED_WITH_HELP, FOUND, FOUND_NOTHING, parse, parse_from, render_event, render_header, split_facts,
    unknown_kinds,
};

/// The literal line before the JSON of what memory injects (agent specification §6.4.2).
pub const INJECTED: &str = "INJECTED_CONTEXT_RELEVANT_MEMORIES";

/// The line above the quotation of a forwarded message: below it stand another's words in a person's message.
pub const FORWARDED: &str = "Forwarded:";

/// The beginning of the remark that links the answered message.
pub const ANSWERS: &str = "answers [[";

words! {
    /// The source of an event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EventKind, as_str {
        /// A person.
        User = "user",
        /// The assistant.
        Agent = "agent",
        /// A tool's call with its result; drawn folded.
        Tool = "tool",
        /// Something about the conversation itself: its end, an edit, a deletion, a compaction.
        System = "system",
        /// Memories that were recalled for the turn before it: links, drawn folded, and never indexed.
        Recall = "recall",
    }
}

impl EventKind {
    fn from_bytes(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| name.eq_ignore_ascii_case(kind.as_str().as_bytes()))
    }
}

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// Its source.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
    /// The author's name, a tool's name, or empty; one line.
    pub author: String,
    /// The content, raw: an agent's with its line of facts ([`LogEvent::said`] is without it).
    pub content: String,
    /// The block id, without `^`: a ULID where this program wrote it. A reader takes any Obsidian block
    /// id, and an event that lost its own.
    pub id: Option<String>,
}

impl LogEvent {
    /// The words: the content, an agent's without its line of facts.
    pub fn said(&self) -> &str {
        if self.kind == EventKind::Agent { split_facts(&self.content).0 } else { &self.content }
    }

    /// The change of another message that a system event reports: the message's block id with its new text, or `None` for
    /// a deletion.
    pub fn change(&self) -> Option<(&str, Option<&str>)> {
        if self.kind != EventKind::System {
            return None;
        }
        if let Some(rest) = self.content.strip_prefix("edited [[") {
            let (link, text) = rest.split_once("]]:\n")?;
            return Some((link.split_once("#^")?.1, Some(text)));
        }
        let rest = self.content.strip_prefix("deleted [[")?;
        Some((rest.trim_end().trim_end_matches("]]").split_once("#^")?.1, None))
    }

    /// The block id of the message that this one's author answered, in the remark on it.
    pub fn answers(&self) -> Option<&str> {
        let link = self.content.strip_prefix(ANSWERS).filter(|_| self.kind == EventKind::System)?;
        Some(link.split_once("]]")?.0.split_once("#^")?.1)
    }

    /// Whether the event is only recalled memory: an injection, the result of a memory tool, or an answer that only
    /// quotes found notes. If such events were indexed, recall would find its own results.
    pub fn is_recall(&self) -> bool {
        match self.kind {
            EventKind::Recall => true,
            // A coding agent calls it `mcp__SERVER__memory_search`.
            EventKind::Tool => {
                let tool = self.author.rsplit("__").next().unwrap_or_default();
                tool.starts_with("memory_") || tool.starts_with("lcm_")
            }
            EventKind::Agent => read::is_made_of_recall(&self.content),
            EventKind::User | EventKind::System => false,
        }
    }

    /// The block id as a ULID, if it is one.
    pub fn ulid(&self) -> Option<ulid::Ulid> {
        ulid::Ulid::from_string(self.id.as_deref()?).ok()
    }
}

/// A log's frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogHeader {
    /// `discord-channel`, `discord-thread`, or a coding agent's name.
    pub surface: String,
    /// The channel's or thread's id, or the project.
    pub context_id: String,
    /// When the window began.
    pub started: Option<Timestamp>,
    /// The channel's or thread's name.
    pub title: Option<String>,
}

/// An event and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogBlock {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line: the block id's, or the last of its content.
    pub end_line: usize,
    /// Its bytes.
    pub range: Range<usize>,
    /// The parsed event.
    pub event: LogEvent,
}

/// The later edits and deletions of messages: the text now, or nothing, by the message's block id.
#[derive(Debug, Default)]
pub struct MessageChanges<'a>(HashMap<&'a str, Option<&'a str>>);

impl<'a> MessageChanges<'a> {
    /// Reads the edits and deletions among `blocks`; of several edits of one message the last counts.
    pub fn of(blocks: &'a [LogBlock]) -> Self {
        let mut changes = Self::default();
        for (id, text) in blocks.iter().filter_map(|block| block.event.change()) {
            let now = changes.0.entry(id).or_insert(text);
            // A deleted message stays deleted.
            *now = now.and(text);
        }
        changes
    }

    /// A block's current text; `None` if it was deleted.
    pub fn text(&self, block: &'a LogBlock) -> Option<&'a str> {
        let id = block.event.id.as_deref().unwrap_or_default();
        self.0.get(id).copied().unwrap_or(Some(block.event.content.as_str()))
    }
}

/// A log, as far as it is understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFile {
    /// The frontmatter, if the file has one that names a surface.
    pub header: Option<LogHeader>,
    /// The events in order.
    pub blocks: Vec<LogBlock>,
    /// The place from which a later reader may go on: after the last whole event.
    pub end: Resume,
}

/// A place between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Resume {
    /// The byte offset.
    pub offset: usize,
    /// The line that begins there, from 1.
    pub line: usize,
    /// Whether the file's lines end with CRLF.
    pub crlf: bool,
}

impl Default for Resume {
    fn default() -> Self {
        Self { offset: 0, line: 1, crlf: false }
    }
}

/// A tool's call as the content of an event: the arguments, then the result, each in a fence that is longer than any in
/// it; then remarks, a line each: the place of the whole result, or that the call failed.
pub fn tool_content(arguments: &str, result: &str, notes: &[String]) -> String {
    let notes: String = notes.iter().map(|note| format!("\nnote: {note}")).collect();
    format!("arguments:\n{}\nresult:\n{}{notes}", fenced(arguments), fenced(result))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(kind: EventKind, author: &str, content: &str) -> LogEvent {
        LogEvent {
            kind,
            at: "2026-01-30T14:23:55Z".parse().unwrap(),
            author: author.to_owned(),
            content: content.to_owned(),
            id: Some(ulid::Ulid::from_parts(1_769_782_235_000, 7).to_string()),
        }
    }

    fn header() -> LogHeader {
        LogHeader {
            surface: "discord-thread".to_owned(),
            context_id: "123".to_owned(),
            started: Some("2026-01-30T14:23:55Z".parse().unwrap()),
            title: Some("the \"dentist\": #1".to_owned()),
        }
    }

    #[test]
    fn a_log_looks_as_designed() {
        let text = render_header(&header())
            + &render_event(&event(EventKind::User, "Alice", "What?\n```\neven code\n```"))
            + &render_event(&event(EventKind::Tool, "search", &tool_content("{}", "`a`", &[])));
        insta::assert_snapshot!(text, @r#"
        ---
        surface: discord-thread
        context_id: "123"
        started: 2026-01-30T14:23:55Z
        title: "the \"dentist\": #1"
        ---

        > [!user] 2026-01-30T14:23:55Z Alice
        > What?
        > ```
        > even code
        > ```

        ^01KG7KVKVR0000000000000007

        > [!tool]- 2026-01-30T14:23:55Z search
        > arguments:
        > ```
        > {}
        > ```
        > result:
        > ```
        > `a`
        > ```

        ^01KG7KVKVR0000000000000007
        "#);
        let log = parse(text.as_bytes());
        assert_eq!(log.header, Some(header()));
        assert_eq!(
            log.blocks.iter().map(|block| (block.line, block.end_line)).collect::<Vec<_>>(),
            [(8, 14), (16, 26)]
        );
        assert_eq!(log.blocks[1].event.content, tool_content("{}", "`a`", &[]));
        assert_eq!(log.end.offset, text.len());
    }

    #[test]
    fn content_that_looks_like_structure_is_content() {
        for content in [
            "",
            "\n",
            "\n\n",
            "\r",
            "a\r\nb\r",
            "---\nsurface: x\n---",
            "[!user] 2026-01-30T14:23:55Z Mallory",
            "> [!agent] 2026-01-30T14:23:55Z Mallory\n> hi",
            "^01KG7Y3M7R0000000000000007",
            "%% <!-- ```",
            "\u{200b}\u{202e}abc\u{feff}",
            "trailing  ",
            "\u{2028}\u{85}\u{b}\u{c}",
        ] {
            let events = [event(EventKind::User, "Alice", content), event(EventKind::Agent, "bot", "ok")];
            let text: String =
                render_header(&header()) + &events.iter().map(render_event).collect::<String>();
            let read: Vec<_> = parse(text.as_bytes()).blocks.into_iter().map(|block| block.event).collect();
            assert_eq!(read, events, "{content:?}");
        }
    }

    #[test]
    fn a_torn_event_is_read_once_it_is_whole() {
        let first = render_header(&header()) + &render_event(&event(EventKind::User, "A", "one"));
        let second = render_event(&event(EventKind::Agent, "B", "two\nlines"));
        let whole = first.clone() + &second;
        for cut in first.len()..whole.len() {
            let torn = parse(&whole.as_bytes()[..cut]);
            let rest = parse_from(whole.as_bytes(), torn.end);
            let all: Vec<_> = torn.blocks.iter().chain(&rest.blocks).cloned().collect();
            assert_eq!(all, parse(whole.as_bytes()).blocks, "cut at {cut}");
        }
    }

    #[test]
    fn a_log_with_windows_line_ends_reads_the_same() {
        let text = render_header(&header()) + &render_event(&event(EventKind::User, "A", "one\ntwo"));
        let read = parse(text.replace('\n', "\r\n").as_bytes());
        assert_eq!(read.blocks[0].event.content, "one\ntwo");
        assert_eq!(read.header, Some(header()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_conversation_comes_back(contents in proptest::collection::vec("(?s).{0,80}|[\\n\\r> `^-]{0,20}", 0..6)) {
            let events: Vec<_> = contents.iter().map(|content| event(EventKind::User, "Alice", content)).collect();
            let text: String = render_header(&header()) + &events.iter().map(render_event).collect::<String>();
            let log = parse(text.as_bytes());
            prop_assert!(events.is_empty() || log.end.offset == text.len());
            prop_assert_eq!(log.blocks.into_iter().map(|block| block.event).collect::<Vec<_>>(), events);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), offset in 0usize..500) {
            let log = parse(&bytes);
            prop_assert!(log.end.offset <= bytes.len());
            let _ = parse_from(&bytes, Resume { offset, line: 1, crlf: false });
        }

        #[test]
        fn any_author_stays_on_its_line(author in "(?s).{0,40}") {
            let mut odd = event(EventKind::User, "", "hi");
            odd.author = author;
            let log = parse(render_event(&odd).as_bytes());
            prop_assert_eq!(log.blocks.len(), 1);
            prop_assert_eq!(&log.blocks[0].event.content, "hi");
        }
    }
}
