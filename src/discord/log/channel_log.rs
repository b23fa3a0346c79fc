//! Indexes one channel's or thread's log: its messages, and the answered questions.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::current_text::CurrentTexts;
use super::message_events::{ANSWERS, BY_COMMAND};
use crate::discord::api::snowflake::{self, BlockEvent};
use crate::format::log::{EventKind, LogEvent, LogPath};
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
    /// The current text of each message.
    pub shown: CurrentTexts,
    /// Messages whose answer is complete.
    pub answered: BTreeSet<u64>,
    /// The bot's messages whose facts name their question.
    pub with_facts: BTreeSet<u64>,
    /// Questions by a slash command, whose ids no message has.
    pub commands: BTreeSet<u64>,
    /// When the bot last spoke or was addressed here.
    pub bound_at: Option<Timestamp>,
}

impl ChannelLog {
    pub(super) fn holds(&self, message: u64, part: BlockEvent) -> bool {
        self.known.contains_key(&(message, part)) || (part == BlockEvent::Message && message <= self.floor)
    }

    /// Adds a logged event to the index.
    pub(super) fn add_event(
        &mut self,
        event: &LogEvent,
        window: usize,
        shown: &mut CurrentTexts,
        mentions: &impl Fn(&str) -> bool,
    ) {
        let Some((message, part)) = event.ulid().and_then(snowflake::message_of) else { return };
        self.known.insert((message, part), window);
        shown.add_event(message, part, event.at, facts::split(&event.content).0);
        self.note_answer(message, &event.content, part);
        if event.kind == EventKind::Agent || (event.kind == EventKind::User && mentions(&event.content)) {
            self.bound_at = self.bound_at.max(Some(event.at));
        }
    }

    /// Records answered questions: those that the facts of an answer's last chunk name and, if a message of
    /// ours has no facts, the one that it replies to.
    pub(super) fn note_answer(&mut self, message: u64, content: &str, part: BlockEvent) {
        if part == BlockEvent::Message
            && let (_, Some(facts)) = facts::split(content)
        {
            self.with_facts.insert(message);
            let questions = facts.with.iter().chain(&facts.turn).filter(|_| !facts.is_partial());
            let ids = questions.filter_map(|id| id.parse().ok()).filter_map(snowflake::message_of);
            self.answered.extend(ids.map(|(message, _)| message));
        }
        if part != BlockEvent::About || self.with_facts.contains(&message) {
            return;
        }
        if content == BY_COMMAND {
            self.commands.insert(message);
            return;
        }
        let target = content.strip_prefix(ANSWERS).and_then(|rest| rest.split("]]").next());
        let block = target.and_then(|target| target.split_once("#^")).and_then(|(_, id)| id.parse().ok());
        self.answered.extend(block.and_then(snowflake::message_of).map(|(message, _)| message));
    }

    pub(super) fn prune(&mut self) {
        if self.known.len() <= KEPT {
            return;
        }
        let Some(middle) = self.known.keys().nth(KEPT / 2).map(|(message, _)| *message) else { return };
        self.known = self.known.split_off(&(middle + 1, BlockEvent::Message));
        self.answered = self.answered.split_off(&(middle + 1));
        self.with_facts = self.with_facts.split_off(&(middle + 1));
        self.commands = self.commands.split_off(&(middle + 1));
        self.shown.forget_before(middle + 1);
        self.floor = middle;
    }
}
