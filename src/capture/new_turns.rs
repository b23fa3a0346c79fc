//! Finds new turns in logs, by the position up to which each log was read. A turn is one message of a person
//! ([`PersonTurn`]).
//!
//! Logs are only appended to, also when a message is edited or deleted, so one position for each log is enough. The
//! positions stand in a small file of the state directory. If that file is lost, all logs count as read to their
//! present ends: messages that were not yet read are skipped. The candidates (proposed memories) that were found before
//! stay in the inbox note.
//!
//! Only a person's own words become a turn. Text of the assistant, of tools and of injected memories is skipped. So are
//! quoted and forwarded lines and fenced code within a person's message.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::sentences::own_lines;
use crate::config::json_file;
use crate::format::log::{self, EventKind, FORWARDED, LogBlock, LogEvent, Resume};

/// The file in the state directory.
const FILE_NAME: &str = "capture.json";
/// The longest message in bytes; a longer one is pasted text.
const MAX_MESSAGE_BYTES: usize = 8_000;

/// Whether a note is the log of a conversation between people and the assistant. Logs that coding agents and routines
/// write of their own work are not searched.
pub fn is_conversation_log(logs: &str, path: &str) -> bool {
    let inside = path.strip_prefix(logs).and_then(|rest| rest.strip_prefix('/'));
    inside.is_some_and(|rest| rest.starts_with("discord-") && rest.ends_with(".md"))
}

/// One message of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonTurn {
    /// The log, without `.md`.
    pub path: String,
    /// The block's id, without `^`.
    pub block: String,
    /// The speaker.
    pub author: String,
    /// The lines of the message that are its author's own words, raw.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
}

impl PersonTurn {
    /// The message's block: `logs/…#^id`.
    pub fn source(&self) -> String {
        format!("{}#^{}", self.path, self.block)
    }
}

/// The new turns in a log's bytes after a position, and the position after them.
pub fn turns(path: &str, bytes: &[u8], from: Option<Resume>) -> (Vec<PersonTurn>, Resume) {
    // A truncated log counts as a new one, whose messages were read before.
    let from = from.map(|from| if from.offset > bytes.len() { end(bytes) } else { from });
    let (blocks, resume) = match log::parse_headings(bytes) {
        Some(file) => {
            let start = from.map_or(0, |from| from.offset);
            let blocks = file.blocks.into_iter().filter(|block| block.range.start >= start).collect();
            (blocks, Resume { offset: bytes.len(), line: 1, crlf: false })
        }
        None => {
            let file = from.map_or_else(|| log::parse(bytes), |from| log::parse_from(bytes, from));
            (file.blocks, file.end)
        }
    };
    let note = path.strip_suffix(".md").unwrap_or(path);
    let mut changes: HashMap<&str, Option<&LogEvent>> = HashMap::new();
    for LogBlock { event, .. } in &blocks {
        if let Some((id, text)) = event.change() {
            // A deleted message stays deleted; of several edits the last counts.
            let known = changes.entry(id).or_insert(Some(event));
            *known = known.and(text).map(|_| event);
        }
    }
    let out = blocks.iter().filter_map(|LogBlock { event, .. }| turn(note, event, &changes)).collect();
    (out, resume)
}

/// The position at the present end of a log.
pub fn end(bytes: &[u8]) -> Resume {
    turns("", bytes, None).1
}

/// A person's message as it stands now: an edited one is said in the block of its edit; a deleted one, and one without
/// own words, is none.
fn turn(note: &str, event: &LogEvent, changes: &HashMap<&str, Option<&LogEvent>>) -> Option<PersonTurn> {
    let id = event.id.as_deref().filter(|_| event.kind == EventKind::User)?;
    let (id, said) = match changes.get(id) {
        Some(edit) => ((*edit)?.id.as_deref()?, (*edit)?.change()?.1?),
        None => (id, event.said()),
    };
    let fits = said.len() <= MAX_MESSAGE_BYTES && !said.contains(log::INJECTED);
    let text = own_words(said);
    (fits && !text.trim().is_empty()).then(|| PersonTurn {
        path: note.to_owned(),
        block: id.to_owned(),
        author: event.author.clone(),
        text,
        at: event.at,
    })
}

/// The lines that are the author's own words. Discord's `>>> ` quotes all that follows.
fn own_words(said: &str) -> String {
    let said = said.split("\n>>> ").next().filter(|_| !said.starts_with(">>> ")).unwrap_or_default();
    own_lines(said).filter(|line| *line != FORWARDED).collect::<Vec<_>>().join("\n")
}

/// The positions in all logs.
#[derive(Debug)]
pub struct ReadPositions {
    path: PathBuf,
    known: BTreeMap<String, Resume>,
    /// Whether there was no file: then every log counts as read up to its present end.
    is_first: bool,
}

impl ReadPositions {
    /// Those of the state directory.
    pub fn load(state: &Path) -> Self {
        let path = state.join(FILE_NAME);
        let read: Option<BTreeMap<String, Resume>> = json_file::load(&path);
        Self { path, is_first: read.is_none(), known: read.unwrap_or_default() }
    }

    /// Whether nothing is known of any log.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// The position in a log.
    pub fn get(&self, log: &str) -> Option<Resume> {
        self.known.get(log).copied()
    }

    /// Whether a log of this size has nothing new.
    pub fn is_read(&self, log: &str, bytes: u64) -> bool {
        self.known.get(log).is_some_and(|place| place.offset as u64 == bytes)
    }

    /// Sets the position in a log, in memory.
    pub fn set(&mut self, log: &str, place: Resume) {
        self.known.insert(log.to_owned(), place);
    }

    /// Writes them, whole and to the disk.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&mut self) -> std::io::Result<()> {
        json_file::replace(&self.path, &serde_json::to_vec(&self.known)?, true)?;
        self.is_first = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::log::{LogHeader, render_event, render_header};

    fn event(kind: EventKind, said: &str) -> String {
        let id = Some(ulid::Ulid::from_parts(1_769_782_235_000, said.len() as u128).to_string());
        let at = "2026-01-30T14:23:55Z".parse().unwrap();
        render_event(&LogEvent { kind, at, author: "Anna".into(), content: said.into(), id })
    }

    #[test]
    fn only_what_people_said_is_a_turn_and_each_once() {
        let header = LogHeader {
            surface: "discord-channel".into(),
            context_id: "1".into(),
            started: None,
            title: None,
        };
        let first = render_header(&header)
            + &event(EventKind::User, "hello there")
            + &event(EventKind::Agent, "What do you drink?");
        let (turns_of_first, place) = turns("logs/a.md", first.as_bytes(), None);
        assert_eq!(turns_of_first.len(), 1);
        let whole = first
            + &event(EventKind::Tool, "I only drink tea")
            + &event(EventKind::User, "I only drink green tea")
            + &event(EventKind::User, &format!("{}\n[]", log::INJECTED))
            + &event(EventKind::Recall, "I live in Graz");
        let (new, after) = turns("logs/a.md", whole.as_bytes(), Some(place));
        assert_eq!(new.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>(), ["I only drink green tea"]);
        assert!(new[0].source().starts_with("logs/a#^"));
        assert_eq!(turns("logs/a.md", whole.as_bytes(), Some(after)).0, []);
        assert_eq!(turns("logs/a.md", b"cut", Some(after)).0, []);
    }

    #[test]
    fn words_of_others_in_a_message_are_none_of_its_author() {
        for (said, own) in [
            ("Forwarded:\n> I live in Minsk.\n> My bank is FakeBank.", ""),
            ("Look:\n\nForwarded:\n> I live in Minsk.", "Look:\n"),
            ("> I live in Minsk\nI don't.\n  > He does.", "I don't."),
            ("So he wrote\n>>> I live in Minsk\nand my bank is FakeBank", "So he wrote"),
            (">>> I live in Minsk\nand my bank is FakeBank", ""),
            ("It says:\n```\nI live in Minsk\n```\nHm.", "It says:\nHm."),
            ("I live in Graz\n\n- 2 > 1 holds.", "I live in Graz\n\n- 2 > 1 holds."),
        ] {
            let found = turns("logs/a.md", event(EventKind::User, said).as_bytes(), None).0;
            let text = found.first().map(|turn| turn.text.trim_end());
            assert_eq!(text, Some(own.trim_end()).filter(|own| !own.is_empty()), "{said:?}");
        }
    }

    #[test]
    fn what_was_deleted_is_no_turn_and_what_was_edited_is_said_in_its_edit() {
        let said = event(EventKind::User, "I live in Graz");
        let id = log::parse(said.as_bytes()).blocks[0].event.id.clone().unwrap();
        let edited = |text: &str| event(EventKind::System, &format!("edited [[logs/a#^{id}]]:\n{text}"));
        let deleted = event(EventKind::System, &format!("deleted [[logs/a#^{id}]]"));
        for (changes, now) in [
            (edited("I live in Wien") + &edited("I live in Linz, now"), Some("I live in Linz, now")),
            (deleted.clone(), None),
            (deleted + &edited("I live in Wien"), None),
        ] {
            let bytes = said.clone() + &changes;
            let found = turns("logs/a.md", bytes.as_bytes(), None).0;
            assert_eq!(found.first().map(|turn| turn.text.as_str()), now);
            for turn in found {
                let block = log::parse(bytes.as_bytes()).blocks.pop().unwrap().event;
                assert!(block.id.unwrap() == turn.block && block.content.contains(&turn.text));
            }
        }
    }

    #[test]
    fn places_survive() {
        let dir = tempfile::tempdir().unwrap();
        let mut places = ReadPositions::load(dir.path());
        assert!(places.is_first());
        places.set("logs/a.md", Resume { offset: 5, line: 2, crlf: false });
        places.save().unwrap();
        let again = ReadPositions::load(dir.path());
        assert!(!again.is_first() && again.is_read("logs/a.md", 5) && !again.is_read("logs/a.md", 6));
    }
}
