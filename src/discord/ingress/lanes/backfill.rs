//! Reads a channel's missed messages from its history, before the channel's lane (its queue) acts on new ones. Also
//! logs edits and deletions that no event reported.

use std::collections::HashSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serenity::http::Route;
use tokio::time::Instant;

use super::{ChannelLane, WRITE};
use crate::discord::api::message::IncomingMessage;
use crate::discord::api::{ApiError, snowflake};
use crate::discord::shared::{FIRST_PAUSE, LONGEST_PAUSE};

impl ChannelLane {
    /// Reads missed messages. After a failure it is retried later, and new messages wait until then.
    pub(super) async fn read_history(&mut self) {
        let read = self.catch_up().await;
        self.settle(read, |lane| {
            lane.held = false;
            let read = std::mem::take(&mut lane.pending_actions);
            read.iter().for_each(|message| lane.accept_message(message));
            // Set only after all questions are accepted, so that a crash before that loses none.
            if lane.pending_actions.is_empty() {
                lane.shared.cursors.set(lane.id, lane.reached);
            }
        });
        // The worker waits for this once, even if the read failed.
        let _ = self.asks.send(());
    }

    /// Calls `then` if an attempt to read history has ended, else sets the time of the next attempt.
    pub(super) fn settle(&mut self, read: Result<(), ApiError>, then: impl FnOnce(&mut Self)) {
        if let Err(error @ ApiError::Refused { .. }) = &read {
            // A retry can't help: a deleted thread, a channel that the bot was removed from.
            tracing::warn!(channel = self.id, %error, "history is refused");
        }
        let error = match read {
            Ok(()) | Err(ApiError::Refused { .. }) => {
                (self.next_read, self.pause) = (None, FIRST_PAUSE);
                return then(self);
            }
            Err(error) => error,
        };
        let asked_for = match &error {
            ApiError::RateLimited { after: Some(after) } => *after,
            _ => Duration::ZERO,
        };
        let wait = self.pause.max(asked_for);
        tracing::warn!(
            channel = self.id, %error, again_in_s = wait.as_secs(),
            "history could not be read to its end; it will be again, and what is said now is logged after it"
        );
        self.next_read = Some(Instant::now() + wait);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// The lane's part of a round of [`catchup`](crate::discord::ingress::catchup): reads the history from where it is
    /// known to be whole, oldest first, until a short page.
    pub(super) async fn catch_up(&mut self) -> Result<(), ApiError> {
        let cursor = self.cursor();
        if self.is_blind() {
            // Messages have no text now; they are read once the intent is granted.
            self.reached = cursor;
            return Ok(());
        }
        let mut after = cursor;
        if !self.caught_up && self.shared.log.newest(self.id).is_some() {
            // After a restart, logged messages that were perhaps not answered are checked again.
            let within = SignedDuration::from_mins(i64::from(self.shared.settings.act_within_minutes));
            let lately = self.shared.clock.now().checked_sub(within);
            after = after.min(lately.map_or(0, snowflake::first_at));
        }
        after = after.max(self.last_read);
        let mut is_first = true;
        loop {
            let page = self.shared.api.history(self.id, after).await;
            // More history is left: new messages come after it.
            self.held |= !is_first && page.is_err();
            is_first = false;
            let page = page?;
            // A message before the cursor is in the log, or was left out on purpose.
            let messages = page.messages.into_iter().map(|message| self.named(message));
            let (again, mut missed): (Vec<_>, Vec<_>) = messages.partition(|m| m.id <= cursor);
            let again =
                again.into_iter().filter(|m| self.shared.log.holds(self.id, m.id) && !self.is_stale(m));
            let again: Vec<IncomingMessage> = again.collect();
            self.pending_actions.extend(again);
            if !missed.is_empty() {
                self.keep_files(&mut missed).await;
                let new = self.until_done(WRITE, |lane| lane.store(&missed)).await;
                let first = !self.caught_up;
                let pairs = missed.into_iter().zip(new);
                let fresh = pairs.filter(|(_, new)| *new || first).map(|(m, _)| m);
                let fresh: Vec<IncomingMessage> = fresh.collect();
                self.pending_actions.extend(fresh);
            }
            if let Some(last) = page.ids.into_iter().max() {
                after = after.max(last);
                self.last_read = after;
                if self.pending_actions.is_empty() {
                    self.shared.cursors.set(self.id, after.max(cursor));
                }
            }
            if page.next.is_none() {
                break;
            }
        }
        self.reached = after.max(cursor);
        self.caught_up = true;
        Ok(())
    }

    /// The place up to which the history was read.
    pub(super) fn cursor(&self) -> u64 {
        self.shared.cursors.get(self.id).unwrap_or_else(|| self.begin())
    }

    /// The start of the history of a channel without a cursor: a day before the newest message in its log, because the
    /// log alone can't tell whether one before that was missed; without a log, now, or a thread's own beginning.
    fn begin(&self) -> u64 {
        match self.shared.log.newest(self.id) {
            Some(newest) => {
                let day_before = snowflake::time_of(newest).checked_sub(SignedDuration::from_hours(24));
                day_before.map_or(0, snowflake::first_at)
            }
            None => self.shared.history_start(self.id),
        }
    }

    /// Logs the edits and deletions that no event reported.
    pub(super) async fn review(&mut self) -> Result<(), ApiError> {
        let since = self.shared.clock.now().checked_sub(SignedDuration::from_hours(24 * DAYS));
        let mut logged =
            self.shared.log.recent(self.id, since.map_or(0, snowflake::first_at), REVIEWED_MESSAGES);
        // A question by a slash command stands in the log under the command's id: no message has it.
        logged.retain(|id| !self.shared.log.is_command(self.id, *id));
        let Some(first) = logged.first().filter(|_| !self.is_blind()) else { return Ok(()) };
        let bot = self.shared.identity().user;
        let (mut there, mut edits) = (HashSet::new(), vec![]);
        let mut after = first.saturating_sub(1);
        let mut whole = false;
        for _ in 0..PAGES {
            let page = self.shared.api.history(self.id, after).await?;
            there.extend(page.ids);
            let known = page.messages.iter().filter(|m| logged.binary_search(&m.id).is_ok());
            edits.extend(known.filter_map(|m| Some((m.id, (m.words(bot), m.edited?)))));
            let Some(next) = page.next else {
                whole = true;
                break;
            };
            after = next;
        }
        let gone: Vec<u64> =
            logged.into_iter().filter(|id| !there.contains(id) && (whole || *id <= after)).collect();
        for (id, change) in edits {
            self.until_done(WRITE, |lane| lane.change(id, Some(&change))).await;
            self.shared.channel_lock.changed(self.id, id);
        }
        // Without the permission to read history Discord answers an empty page, and no error.
        if there.is_empty() && !self.is_deleted(gone.last().copied()).await? {
            return Ok(());
        }
        for id in gone {
            self.until_done(WRITE, |lane| lane.change(id, None::<&(String, Timestamp)>)).await;
            self.shared.channel_lock.changed(self.id, id);
        }
        Ok(())
    }

    /// Whether Discord says that this message doesn't exist.
    async fn is_deleted(&self, message: Option<u64>) -> Result<bool, ApiError> {
        let Some(message) = message else { return Ok(false) };
        let route = Route::ChannelMessage { channel_id: self.id.into(), message_id: message.into() };
        match self.shared.api.get(route).await {
            Err(ApiError::Refused { status: 404, code, .. }) => Ok(code == 10008),
            Ok(_) | Err(ApiError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The most logged messages that are compared.
const REVIEWED_MESSAGES: usize = 1000;
/// Older messages are not compared.
const DAYS: i64 = 7;
/// The most pages that are read; they also hold messages of others, which aren't logged.
const PAGES: usize = 20;
