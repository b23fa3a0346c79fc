//! Defines blocks, the unit of the index, and the data of the note that they are in.

use std::sync::Arc;

use bitcode::{Decode, Encode};
use serde::{Deserialize, Deserializer};

use crate::words::words;

words! {
    /// The kind of a block in its note; `as_str` is its name in answers and in `kind:`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
    pub enum Kind, as_str {
        /// One event of a log.
        Turn = "turn",
        /// A bullet of the memory file, its section folded in.
        Memory = "memory",
        /// A bullet of a day's note, its date folded in.
        Daily = "daily",
        /// A pinned memory.
        Pin = "pin",
        /// A heading.
        Heading = "heading",
        /// A paragraph.
        Paragraph = "paragraph",
        /// A list item, without the items nested in it.
        Item = "item",
        /// A row of a table.
        Row = "row",
        /// A code block.
        Code = "code",
        /// An Obsidian callout, whole.
        Callout = "callout",
        /// The frontmatter.
        Properties = "properties",
        /// A card of an Obsidian canvas.
        Canvas = "canvas",
        /// A part of an Obsidian base or of another text file.
        Text = "text",
        /// A comment, which a reader of the note doesn't see.
        Comment = "comment",
    }
}

words! {
    /// The speaker of a turn; `as_str` is its name in answers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
    pub enum Role, as_str {
        /// A person.
        User = "user",
        /// The agent.
        Agent = "agent",
        /// A tool that the agent called.
        Tool = "tool",
    }
}

/// Reads a kind's name back.
pub(in crate::search) fn kind_name<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    Kind::deserialize(from).map(Kind::as_str)
}

/// Reads a role's name back, where there is one.
pub(in crate::search) fn role_name<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<&'static str>, D::Error> {
    Ok(Option::<Role>::deserialize(from)?.map(Role::as_str))
}

/// One block of a note: the unit that is found.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Block {
    /// First line, from 1.
    pub line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// First byte in the decoded note.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// Its kind.
    pub kind: Kind,
    /// The headings above it, outermost first, joined by ` > `.
    pub section: Option<Arc<str>>,
    /// When it was said or is dated: seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// Its speaker.
    pub role: Option<Role>,
    /// The speaker's name.
    pub author: Option<Arc<str>>,
    /// The conversation that it belongs to.
    pub context_id: Option<Arc<str>>,
    /// Its Obsidian block id, without the `^`.
    pub block_id: Option<String>,
    /// Its text: indexed, shown in answers, embedded.
    pub text: String,
    /// Further indexed text that is not shown: link targets, embedded names.
    pub extra: String,
    /// Its inline tags without `#`, as written.
    pub tags: Vec<String>,
    /// The notes that it links to or embeds, as written.
    pub links: Vec<String>,
    /// The dates (`YYYY-MM-DD`) that its text names.
    pub dates: Vec<String>,
}

impl Block {
    /// A block of `kind` over `start..end` with nothing else known yet; lines are set by [`Lines`].
    pub fn new(kind: Kind, start: usize, end: usize, text: String) -> Self {
        Self {
            line: 0,
            end_line: 0,
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
            kind,
            section: None,
            time: None,
            role: None,
            author: None,
            context_id: None,
            block_id: None,
            text,
            extra: String::new(),
            tags: Vec::new(),
            links: Vec::new(),
            dates: Vec::new(),
        }
    }
}

/// A file's content as the index sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedNote {
    /// The frontmatter's title, else the file's name without its extension.
    pub title: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Tags of the whole note.
    pub tags: Vec<String>,
    /// The note's date, seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// Its blocks in the order of the file.
    pub blocks: Vec<Block>,
    /// Faults in the text: line and reason.
    pub findings: Vec<(u32, String)>,
}

impl ParsedNote {
    /// The words that stand above all of its blocks: title and aliases; none without a title.
    pub fn head(&self) -> String {
        if self.title.is_empty() {
            return String::new();
        }
        let names: Vec<&str> =
            std::iter::once(&self.title).chain(&self.aliases).map(String::as_str).collect();
        names.join("\n")
    }
}

/// Line numbers of byte offsets.
#[derive(Debug)]
pub struct Lines(Vec<u32>);

impl Lines {
    /// The line table of `text`.
    pub fn of(text: &str) -> Self {
        Self(
            memchr::memchr_iter(b'\n', text.as_bytes())
                .map(|at| u32::try_from(at).unwrap_or(u32::MAX))
                .collect(),
        )
    }

    /// The line, from 1, that the byte at `offset` stands in.
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.0.partition_point(|newline| *newline < offset)).unwrap_or(u32::MAX - 1) + 1
    }

    /// Sets a block's lines from its bytes.
    pub fn place(&self, block: &mut Block) {
        block.line = self.line(block.start);
        block.end_line = self.line(block.end.saturating_sub(1).max(block.start));
    }
}
