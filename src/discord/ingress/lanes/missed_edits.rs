//! Finds edits and deletions that no event reported, by comparing the recent history with the log.
//!
//! It compares at most the newest [`REVIEWED_MESSAGES`] messages of the log, none older than [`DAYS`] days. Older
//! changes are not found.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use serenity::http::Route;

use super::ChannelLane;
use crate::discord::api::{ApiError, history, snowflake};

/// The most logged messages that are compared.
const REVIEWED_MESSAGES: usize = 1000;
/// Older messages are not compared.
const DAYS: i64 = 7;
/// The most pages that are read; they also hold messages of others, which aren't logged.
const PAGES: usize = 20;

impl ChannelLane {
    /// Logs the edits and deletions that no event reported.
    pub(super) async fn review(&mut self) -> Result<(), ApiError> {
        let since = self.shared.clock.now().checked_sub(SignedDuration::from_hours(24 * DAYS));
        let mut logged =
            self.shared.log.recent(self.id, since.map_or(0, snowflake::first_at), REVIEWED_MESSAGES);
        // A question by a slash command stands in the log under the command's id: no message has it.
        logged.retain(|id| !self.is_command(*id));
        let Some(first) = logged.first().filter(|_| !self.is_blind()) else { return Ok(()) };
        let bot = self.shared.identity().user;
        let (mut there, mut edits) = (HashSet::new(), vec![]);
        let mut after = first.saturating_sub(1);
        let mut whole = false;
        for _ in 0..PAGES {
            let page = history::page(&self.shared.api, self.id, after).await?;
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
            self.until_written(|lane| lane.change(id, Some(&change))).await;
            self.shared.channel_lock.changed(self.id, id);
        }
        // Without the permission to read history Discord answers an empty page, and no error.
        if there.is_empty() && !self.is_deleted(gone.last().copied()).await? {
            return Ok(());
        }
        for id in gone {
            self.until_written(|lane| lane.change(id, None::<&(String, Timestamp)>)).await;
            self.shared.channel_lock.changed(self.id, id);
        }
        Ok(())
    }

    fn is_command(&self, id: u64) -> bool {
        self.shared.log.is_command(self.id, id)
    }

    /// Whether Discord says that this message doesn't exist.
    async fn is_deleted(&self, message: Option<u64>) -> Result<bool, ApiError> {
        let Some(message) = message else { return Ok(false) };
        let route = Route::ChannelMessage { channel_id: self.id.into(), message_id: message.into() };
        match self.shared.api.get(route, vec![]).await {
            Err(ApiError::Refused { status: 404, code, .. }) => Ok(code == 10008),
            Ok(_) | Err(ApiError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
