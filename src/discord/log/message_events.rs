//! Converts messages, edits and deletions to events of a log. Pure.

use jiff::Timestamp;

use crate::discord::api::message::{Attachment, IncomingMessage};
use crate::discord::api::snowflake::{self, BlockEvent};
use crate::format::log::{self, EventKind, LogEvent};

/// One entry for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The message that it is about.
    pub message: u64,
    /// The kind of event.
    pub part: BlockEvent,
    /// The kind of block.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
    /// The author's name.
    pub author: String,
    /// The raw text.
    pub content: String,
}

impl LogEntry {
    /// A remark of the program's about a message.
    pub fn remark(message: u64, part: BlockEvent, at: Timestamp, content: String) -> Self {
        Self { message, part, kind: EventKind::System, at, author: String::new(), content }
    }
}

/// The entries for a message: its text, and its reply and files. `answered` links the block that it answers; `is_late`
/// says that later messages stand before it.
pub fn entries(message: &IncomingMessage, bot: u64, answered: Option<&str>, is_late: bool) -> Vec<LogEntry> {
    let kind = if message.author.id == bot { EventKind::Agent } else { EventKind::User };
    let entry = |part, kind, content| LogEntry {
        message: message.id,
        part,
        kind,
        at: message.at(),
        author: message.author.name.clone(),
        content,
    };
    let mut found = vec![entry(BlockEvent::Message, kind, message.words(bot))];
    let mut about = Vec::new();
    about.extend(answered.map(|link| format!("{ANSWERS}{link}]]")));
    about.extend(message.attachments.iter().map(attached));
    about.extend(is_late.then(|| LATE.to_owned()));
    if !about.is_empty() {
        found.push(entry(BlockEvent::About, EventKind::System, about.join("\n")));
    }
    found
}

/// The entry for an edit.
pub fn edit(message: u64, content: &str, at: Timestamp, link: Option<&str>) -> LogEntry {
    let of = link.map(|link| format!("{EDITED}{link}]]:\n")).unwrap_or_default();
    LogEntry::remark(message, BlockEvent::edit(at, content), at, format!("{of}{content}"))
}

/// The entry for a deletion.
pub fn deletion(message: u64, at: Timestamp, link: Option<&str>) -> LogEntry {
    let content = link.map_or_else(|| "deleted".to_owned(), |link| format!("deleted [[{link}]]"));
    LogEntry::remark(message, BlockEvent::Deletion, at, content)
}

pub(super) fn render(entry: &LogEntry) -> String {
    log::render_event(&LogEvent {
        kind: entry.kind,
        at: floor(entry.at),
        author: entry.author.clone(),
        content: entry.content.clone(),
        id: Some(snowflake::block_id(entry.message, entry.part).to_string()),
    })
}

pub(super) fn system(at: Timestamp, who: &str, content: &str) -> LogEvent {
    let id = ulid::Ulid::from_parts(at.as_millisecond().unsigned_abs(), ulid::Ulid::generate().random());
    LogEvent {
        kind: EventKind::System,
        at: floor(at),
        author: who.to_owned(),
        content: content.to_owned(),
        id: Some(id.to_string()),
    }
}

pub(super) fn floor(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// A file as a link, into the vault where it is kept there, with its type and size.
pub(super) fn attached(file: &Attachment) -> String {
    let name: String = file.name.chars().map(|c| if "[]|\\\n\r`".contains(c) { '_' } else { c }).collect();
    let url: String = file.url.chars().filter(|c| !c.is_whitespace() && !"<>()".contains(*c)).collect();
    let link = match &file.kept_path {
        Some(path) => format!("[[{path}|{name}]]"),
        None => format!("[{name}](<{url}>)"),
    };
    let kind = file.media_type.as_deref().unwrap_or("unknown type");
    let kind: String = kind.chars().filter(|c| !c.is_control()).collect();
    format!("attached {link} ({kind}, {})", size(file.bytes))
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The remark on a question that no message holds.
pub const BY_COMMAND: &str = "asked by `/ask`";

/// The remark on a message that is logged after later ones.
const LATE: &str = "logged late: later messages stand before it";

/// The beginning of the event that links the answered message.
pub(super) const ANSWERS: &str = "answers [[";
/// The beginning of an edit's event.
pub(super) const EDITED: &str = "edited [[";
