//! Pauses that a place asked for: nothing goes there before they end, whichever pass or process would send it.
//!
//! The pause belongs to the place and not to the message that met it: what was refused keeps its turn before what
//! comes after it.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Journal, JournalError};
use crate::deliver::notifier::Scope;

impl Journal {
    /// Notes that the place of a scope asked at `now` for a pause until `until`.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn pause(&self, scope: Option<Scope>, now: Timestamp, until: Timestamp) -> Result<(), JournalError> {
        self.write(|tx| {
            tx.execute("DELETE FROM pauses WHERE until_ms <= ?1", [now.as_millisecond()])?;
            tx.execute(
                "INSERT INTO pauses (scope, asked_ms, until_ms) VALUES (?1, ?2, ?3)
                 ON CONFLICT (scope) DO UPDATE SET asked_ms = ?2, until_ms = ?3",
                params![text(scope), now.as_millisecond(), until.as_millisecond()],
            )?;
            Ok(())
        })
    }

    /// The pauses that last at `now`. One that was asked for later than now says nothing: the clock was put back.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn pauses(&self, now: Timestamp) -> Result<Vec<(Option<Scope>, Timestamp)>, JournalError> {
        self.read(|tx| {
            tx.prepare_cached("SELECT scope, until_ms FROM pauses WHERE asked_ms <= ?1 AND until_ms > ?1")?
                .query_map([now.as_millisecond()], |row| {
                    let scope: String = row.get(0)?;
                    Ok((scope.parse().ok(), super::instant(row.get(1)?).unwrap_or(now)))
                })?
                .collect()
        })
    }
}

/// The table, which journals of version 1 don't have.
pub(super) fn create(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "CREATE TABLE pauses (
            scope    TEXT PRIMARY KEY,              -- 'channel:ID', …; empty: the notifier's own place
            asked_ms INTEGER NOT NULL,
            until_ms INTEGER NOT NULL
        ) STRICT;",
    )
}

fn text(scope: Option<Scope>) -> String {
    scope.map_or_else(String::new, |scope| scope.to_string())
}
