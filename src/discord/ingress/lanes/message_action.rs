//! Chooses the action for a logged message: accepts an owner's question as a turn, or stops the open turn.
//!
//! The word `stop` stops the open turn; without an open turn, a `stop` that addresses the bot is a question. Once a
//! message in a thread has addressed the bot, the thread is bound: an owner's later messages there are questions
//! without a mention, until the thread has been idle for some days. Also logs and accepts the questions of `/ask`.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{ChannelLane, WRITE};
use crate::discord::api::message::IncomingMessage;
use crate::discord::api::snowflake;
use crate::discord::log::logbook as log;
use crate::discord::log::logbook::Surface;
use crate::discord::shared::access::{self, MessagePolicy};
use crate::discord::shared::{FIRST_PAUSE, lock};
use crate::discord::turns::worker::AWAY;
use crate::format::log::EventKind;
use crate::sqlite::DatabaseError;
use crate::turn::{NewTurn, TurnState};

impl ChannelLane {
    /// Accepts a message as a turn, if it is for the bot. A message that addresses the bot is answered however old it
    /// is; a message in a bound thread that doesn't, only if it is recent.
    pub(super) fn accept_message(&mut self, message: &IncomingMessage) {
        let (bot, policy) = (self.shared.identity(), self.policy(message));
        let (is_addressed, is_starter) = (access::addresses(message, &bot), message.is_starter());
        // A thread that begins with such a message is bound, as it is when its log is read again.
        if is_addressed && (policy == MessagePolicy::Owner || is_starter && policy != MessagePolicy::Own) {
            self.shared.log.bind(self.id, message.at());
        }
        if policy != MessagePolicy::Owner || !message.is_text() || is_starter {
            return;
        }
        let thread = self.place.surface == Surface::Thread;
        let bound = thread && self.is_bound(message.at()) && !self.is_stale(message);
        let text = access::strip(&message.content, &bot);
        let stops = text.eq_ignore_ascii_case("stop");
        let asks = is_addressed || bound || self.place.dm;
        // A `stop` that doesn't address the bot counts only if a question is open.
        if !(asks || stops && self.is_asked_before(message)) {
            return;
        }
        if self.shared.log.is_answered(self.id, message.id) {
            return;
        }
        let block = self.shared.log.link(self.id, message.id).unwrap_or_default();
        let turn = new_turn(message, thread, block, text, self.shared.clock.now());
        // Messages from before the program's start are answered in order, one by one.
        let live = message.at() >= self.shared.started;
        if live {
            lock(&self.shared.channel_lock.live).insert(message.id);
        }
        fail::fail_point!("turn::before-accepted");
        let accepted = if stops {
            self.stop(&turn, live, asks)
        } else {
            self.shared.turns.accept(&turn, self.shared.clock.now()).map(drop)
        };
        if let Err(error) = accepted {
            tracing::error!(channel = self.id, "a question could not be accepted; trying again: {error}");
            self.pending_actions.push(message.clone());
            self.next_read = Some(Instant::now() + FIRST_PAUSE);
        }
        fail::fail_point!("turn::after-accepted");
        let _ = self.asks.send(());
    }

    /// Stops the running turn: on disk first, then in the worker. A stop that was sent while the program was down stops
    /// the questions before it; with nothing to stop, one that addresses the bot (`asks`) is a question like any other.
    fn stop(&self, turn: &NewTurn, live: bool, asks: bool) -> Result<(), DatabaseError> {
        let now = self.shared.clock.now();
        if self.shared.turns.accept_stop(turn, live, now)? {
            fail::fail_point!("turn::before-stopped");
            let before = (!live).then_some(turn.message);
            self.shared.channel_lock.stop(self.id, before, &turn.author);
        } else if !asks {
            // The turn may have ended meanwhile.
            self.shared.turns.advance(turn.message, TurnState::Dropped, "a word to stop", now)?;
        }
        Ok(())
    }

    /// Whether a message before this one is unanswered.
    fn is_asked_before(&self, message: &IncomingMessage) -> bool {
        let open = self.shared.turns.open_turns(Some(self.id)).unwrap_or_default();
        open.iter().any(|turn| turn.question.message < message.id)
    }

    /// Logs and accepts a question of a slash command, with a remark that no message holds it.
    pub(super) async fn ask(&mut self, mut turn: NewTurn) {
        let entry = |part, kind, content: &str| log::LogEntry {
            message: turn.message,
            part,
            kind,
            at: snowflake::time_of(turn.message),
            author: turn.author.clone(),
            content: content.to_owned(),
        };
        let entries = [
            entry(snowflake::BlockEvent::Message, EventKind::User, &turn.text),
            entry(snowflake::BlockEvent::About, EventKind::System, log::BY_COMMAND),
        ];
        self.until_done(WRITE, |lane| lane.shared.log.record(lane.id, &entries)).await;
        turn.thread = self.place.surface == Surface::Thread;
        turn.block = self.shared.log.link(self.id, turn.message).unwrap_or_default();
        self.until_done("accept a question", |lane| lane.shared.turns.accept(&turn, lane.shared.clock.now()))
            .await;
        let _ = self.asks.send(());
    }

    /// Whether a message of this time in this thread is answered without a mention: it came after the first one.
    pub(super) fn is_bound(&self, at: Timestamp) -> bool {
        let idle = SignedDuration::from_hours(24 * i64::from(self.shared.settings.thread_idle_days));
        let bound = self.shared.log.bound(self.id);
        bound.is_some_and(|(first, last)| at >= first && at.duration_since(last) <= idle)
    }

    pub(super) fn is_stale(&self, message: &IncomingMessage) -> bool {
        let within = SignedDuration::from_mins(i64::from(self.shared.settings.act_within_minutes));
        self.shared.clock.now().duration_since(message.at()) > within
    }
}

/// The turn for a message of an owner.
fn new_turn(message: &IncomingMessage, thread: bool, block: String, text: String, now: Timestamp) -> NewTurn {
    NewTurn {
        message: message.id,
        channel: message.channel,
        thread,
        author: message.author.name.clone(),
        block,
        text,
        only: None,
        away: now.duration_since(snowflake::time_of(message.id)) > AWAY,
        reply: true,
        attachments: message.attachments.iter().filter_map(|file| file.media_type.clone()).collect(),
    }
}
