//! Lists waiting and refused messages, for `status` and `doctor`.

use jiff::Timestamp;
use rusqlite::params;

use super::{Journal, Result};
use crate::deliver::notifier::Fact;
use crate::sqlite::{instant, json};

/// A delivery that is not done with: waiting for another attempt, or refused everywhere.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct OpenDelivery {
    /// Its key.
    pub key: String,
    /// `due`, `sending` or `failed`.
    pub state: String,
    /// The item.
    pub fact: Fact,
    /// How often sending failed.
    pub attempts: u32,
    /// The next attempt is not before this.
    pub retry: Option<Timestamp>,
    /// Why it is not delivered yet.
    pub error: Option<String>,
}

/// A place that refused a message for good.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NotifierRefusal {
    /// `discord thread:123`, `discord`, `desktop`.
    pub place: String,
    /// When it last did.
    pub at: Timestamp,
    /// Its words.
    pub reason: String,
}

impl Journal {
    /// The deliveries that are due and not delivered.
    pub fn open_deliveries(&self) -> Result<Vec<OpenDelivery>> {
        let sql = "SELECT key, state, fact, attempts, retry_ms, error FROM deliveries
                   WHERE state IN ('due', 'sending', 'failed') ORDER BY number";
        self.db.rows(sql, [], |row| {
            Ok(OpenDelivery {
                key: row.get(0)?,
                state: row.get(1)?,
                fact: json(row, 2)?,
                attempts: row.get(3)?,
                retry: instant(row.get(4)?),
                error: row.get(5)?,
            })
        })
    }

    /// The places that refused a message with the current settings.
    pub fn refusals(&self, settings: &str) -> Result<Vec<NotifierRefusal>> {
        let sql = "SELECT place, at_ms, reason FROM refusals WHERE settings = ?1 ORDER BY at_ms";
        self.db.rows(sql, [settings], |row| {
            let at = instant(row.get(1)?).unwrap_or(Timestamp::UNIX_EPOCH);
            Ok(NotifierRefusal { place: row.get(0)?, at, reason: row.get(2)? })
        })
    }

    /// Notes that a place refused a message.
    pub(crate) fn refused(&self, place: &str, now: Timestamp, reason: &str, settings: &str) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO refusals (place, at_ms, reason, settings) VALUES (?1, ?2, ?3, ?4)";
        self.db.execute(sql, params![place, now.as_millisecond(), reason, settings]).map(drop)
    }

    /// Notes that a place takes messages (again).
    pub(crate) fn accepted(&self, place: &str) -> Result<()> {
        if self.db.value("SELECT EXISTS (SELECT 1 FROM refusals WHERE place = ?1)", [place])? {
            self.db.execute("DELETE FROM refusals WHERE place = ?1", [place])?;
        }
        Ok(())
    }
}
