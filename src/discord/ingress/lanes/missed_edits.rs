//! What was edited or deleted while nobody looked: the recent history against the log.
//!
//! Bounded: at most the newest [`REVIEWED_MESSAGES`] messages of the log, none older than [`DAYS`] days. What was changed further
//! back stays as it was logged.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use serenity::http::Route;

use super::{Lane, LaneError};
use crate::discord::api::ApiError;
use crate::discord::api::{history, snowflake};

/// So many logged messages are compared.
const REVIEWED_MESSAGES: usize = 1000;
/// None older than so many days is.
const DAYS: i64 = 7;
/// So many pages are read; others' messages, which aren't logged, stand on them too.
const PAGES: usize = 20;

impl Lane {
    /// Shows the edits and deletions that no event told of.
    pub(super) async fn review(&mut self) -> Result<(), LaneError> {
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
            self.shared.turnstile.changed(self.id, id);
        }
        // Without the permission to read history Discord answers an empty page, and no error.
        if there.is_empty() && !self.is_surely_gone(gone.last().copied()).await? {
            return Ok(());
        }
        for id in gone {
            self.until_written(|lane| lane.change(id, None::<&(String, Timestamp)>)).await;
            self.shared.turnstile.changed(self.id, id);
        }
        Ok(())
    }

    fn is_command(&self, id: u64) -> bool {
        self.shared.log.is_command(self.id, id)
    }

    /// Whether Discord says of this very message that there is none.
    async fn is_surely_gone(&self, message: Option<u64>) -> Result<bool, ApiError> {
        let Some(message) = message else { return Ok(false) };
        let route = Route::ChannelMessage { channel_id: self.id.into(), message_id: message.into() };
        match self.shared.api.get(route, vec![]).await {
            Err(ApiError::Refused { status: 404, code, .. }) => Ok(code == 10008),
            Ok(_) | Err(ApiError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
