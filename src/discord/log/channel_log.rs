//! Makes log events from the messages, edits and deletions of a Discord channel or thread, and keeps an index of its
//! log. Pure: the callers read and write the log's files.
//!
//! The index holds the ids of the logged messages, a hash of each message's current text, and the ids of the messages
//! that the bot has answered.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::discord::api::message::{Attachment, IncomingMessage};
use crate::discord::api::snowflake::{self, BlockEvent};
use crate::format::log::{self, ANSWERS, EventKind, LogEvent, LogPath};
use crate::turn::facts;
use crate::words::words;

words! {
    /// The kind of a conversation's place.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Surface, as_str {
        /// A channel, or a person's direct messages.
        #[default]
        Channel = "discord-channel",
        /// A thread.
        Thread = "discord-thread",
    }
}

/// The most ids in memory for a context; beyond that the older half is forgotten.
const KEPT: usize = 20_000;

/// The index of one channel's or thread's log.
#[derive(Debug, Default)]
pub(super) struct ChannelLog {
    pub surface: Surface,
    pub title: Option<String>,
    /// Its windows, oldest first; the last is being written.
    pub windows: Vec<LogPath>,
    /// The logged parts with their window, from `floor` on.
    pub known: BTreeMap<(u64, BlockEvent), usize>,
    /// Messages up to this one count as logged.
    pub floor: u64,
    /// The current text of each message, as its hash, with its time.
    pub shown: BTreeMap<u64, (Timestamp, blake3::Hash)>,
    /// Messages whose answer is complete.
    pub answered: BTreeSet<u64>,
    /// The bot's messages without facts: the links of these alone name an answered question.
    pub without_facts: BTreeSet<u64>,
    /// Questions by a slash command, whose ids no message has.
    pub commands: BTreeSet<u64>,
    /// When the bot first and last spoke or was addressed here.
    pub bound: Option<(Timestamp, Timestamp)>,
}

impl ChannelLog {
    pub(super) fn holds(&self, message: u64, part: BlockEvent) -> bool {
        self.known.contains_key(&(message, part)) || (part == BlockEvent::Message && message <= self.floor)
    }

    /// Adds an entry that stands in a window's file to the index. The questions that it answers are those that the facts
    /// of an answer's last chunk name and, if a message of ours has no facts, the one that it replies to. Other people's
    /// facts and replies answer nothing.
    pub(super) fn add(&mut self, entry: &LogEntry, window: usize) {
        let LogEntry { message, part, kind, at, content, .. } = entry;
        let message_of = |id: &str| Some(snowflake::message_of(id.parse().ok()?)?.0);
        self.known.insert((*message, *part), window);
        if *kind == EventKind::Agent {
            // The log's own times are whole seconds.
            self.bind(snowflake::time_of(*message));
        }
        let (text, facts) = facts::split(content);
        match part {
            BlockEvent::Message => {
                self.shown.insert(*message, (*at, blake3::hash(text.as_bytes())));
                match facts {
                    _ if *kind != EventKind::Agent => {}
                    Some(facts) if facts.is_partial() => {}
                    Some(facts) => {
                        let questions = facts.with.iter().chain(&facts.turn);
                        self.answered.extend(questions.filter_map(|id| message_of(id)));
                    }
                    None => drop(self.without_facts.insert(*message)),
                }
            }
            BlockEvent::Edit(_) => {
                let after = text.strip_prefix(EDITED).and_then(|rest| rest.split_once("]]:\n"));
                let text = after.map_or(text, |(_, text)| text);
                self.shown.insert(*message, (*at, blake3::hash(text.as_bytes())));
            }
            BlockEvent::About if content == BY_COMMAND => drop(self.commands.insert(*message)),
            BlockEvent::About if self.without_facts.contains(message) => {
                let target = content.strip_prefix(ANSWERS).and_then(|rest| rest.split("]]").next());
                let question = target.and_then(|target| target.split_once("#^"));
                self.answered.extend(question.and_then(|(_, id)| message_of(id)));
            }
            _ => {}
        }
    }

    /// Whether the text of `at` differs from the current one and is newer. An edit that came late, after a newer one
    /// was logged, doesn't count; neither does one without a text.
    pub(super) fn differs(&self, message: u64, at: Timestamp, text: &str) -> bool {
        let is_other = |(shown_at, shown): &(Timestamp, blake3::Hash)| {
            *shown != blake3::hash(text.as_bytes()) && at >= *shown_at
        };
        !text.is_empty() && self.shown.get(&message).is_none_or(is_other)
    }

    /// Records that the bot spoke or was addressed.
    pub(super) fn bind(&mut self, at: Timestamp) {
        let (first, last) = self.bound.unwrap_or((at, at));
        self.bound = Some((first.min(at), last.max(at)));
    }

    pub(super) fn prune(&mut self) {
        if self.known.len() <= KEPT {
            return;
        }
        let Some(middle) = self.known.keys().nth(KEPT / 2).map(|(message, _)| *message) else { return };
        self.known = self.known.split_off(&(middle + 1, BlockEvent::Message));
        self.answered = self.answered.split_off(&(middle + 1));
        self.without_facts = self.without_facts.split_off(&(middle + 1));
        self.commands = self.commands.split_off(&(middle + 1));
        self.shown = self.shown.split_off(&(middle + 1));
        self.floor = middle;
    }
}

/// One entry for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The message that it is about.
    pub message: u64,
    /// The kind of event.
    pub part: BlockEvent,
    /// The kind of block.
    pub kind: EventKind,
    /// When it happened.
    pub at: Timestamp,
    /// The author's name.
    pub author: String,
    /// The raw text.
    pub content: String,
}

impl LogEntry {
    /// The entry that a block of a log records; none for a block that is about no message.
    pub(super) fn of(event: LogEvent) -> Option<Self> {
        let (message, part) = event.ulid().and_then(snowflake::message_of)?;
        let LogEvent { kind, at, author, content, .. } = event;
        Some(Self { message, part, kind, at, author, content })
    }

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

/// The beginning of an edit's event.
pub(super) const EDITED: &str = "edited [[";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_ours_answer() {
        let question = snowflake::block_id(7, BlockEvent::Message);
        let (facts, link) =
            (format!("hm\n%% brain=x turn={question} %%"), format!("{ANSWERS}x#^{question}]]"));
        for (kind, is_ours) in [(EventKind::User, false), (EventKind::Agent, true)] {
            for (text, about) in [(facts.as_str(), ""), ("hm", link.as_str())] {
                let mut log = ChannelLog::default();
                let entry =
                    |part, content: &str| LogEntry::remark(8, part, Timestamp::MIN, content.to_owned());
                log.add(&LogEntry { kind, ..entry(BlockEvent::Message, text) }, 0);
                log.add(&entry(BlockEvent::About, about), 0);
                assert_eq!(log.answered.contains(&7), is_ours, "{kind:?}: {text} {about}");
            }
        }
    }

    #[test]
    fn only_another_and_newer_text_is_news() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut shown = ChannelLog::default();
        let entry = |part, at, content: &str| LogEntry::remark(1, part, at, content.to_owned());
        assert!(shown.differs(1, at(9), "a"), "what isn't known is looked up in the log");
        shown.add(&entry(BlockEvent::Message, at(10), "a"), 0);
        assert!(
            !shown.differs(1, at(11), "a") && shown.differs(1, at(11), "b") && !shown.differs(1, at(11), "")
        );
        shown.add(&entry(BlockEvent::edit(at(20), "b"), at(20), "edited [[logs/x#^1]]:\nb"), 0);
        assert!(!shown.differs(1, at(21), "b") && shown.differs(1, at(21), "a"));
        assert!(!shown.differs(1, at(15), "c"), "an older edit that came late");
        shown.add(&entry(BlockEvent::About, at(30), "answers [[x]]"), 0);
        assert!(!shown.differs(1, at(31), "b"));
    }
}
