//! Records, where several machines share a vault, the deliveries of another machine, those that wait for a claim, and
//! the deliveries that a message carries.

use jiff::Timestamp;
use rusqlite::params;

use super::chunks::to_json;
use super::keys::{LineHash, parts};
use super::{Journal, Result};
use crate::deliver::notifier::Fact;
use crate::sqlite::json;

/// A delivery that was made, and not by this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherMachineDelivery {
    /// Its key.
    pub key: String,
    /// Its line in this copy of the vault.
    pub line: LineHash,
    /// The sent item.
    pub fact: Fact,
    /// The notifier that took it.
    pub notifier: String,
    /// The machine that sent it; `None` if this machine rewrites the line.
    pub sender_machine: Option<String>,
    /// The time at which it was sent, by the sender's clock.
    pub at: Timestamp,
    /// The message's id, where the place was asked.
    pub delivered: Option<String>,
}

impl Journal {
    /// Records a delivery that another machine made, or that was found at its place.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_other_machine(&self, told: &OtherMachineDelivery) -> Result<()> {
        let (subject, local) = parts(&told.key);
        let sql = "INSERT INTO deliveries (key, subject, local, state, line, fact, place, teller, attempted_ms, delivered)
            VALUES (?1, ?2, ?3, 'sent', ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (key) DO UPDATE SET state = 'sent', message = NULL, retry_ms = NULL, error = NULL,
            settings = NULL, place = ?6, teller = ?7, attempted_ms = ?8, delivered = ?9
            WHERE state IN ('due', 'sending', 'failed')";
        let (line, fact, at) = (told.line.bytes(), to_json(&told.fact), told.at.as_millisecond());
        let sender = &told.sender_machine;
        let values = params![told.key, subject, local, line, fact, told.notifier, sender, at, told.delivered];
        self.db.execute(sql, values).map(drop)
    }

    /// Notes why a delivery that is due waits for the machines. Says whether that is new.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_wait(&self, key: &str, line: &LineHash, fact: &Fact, why: &str) -> Result<bool> {
        let (subject, local) = parts(key);
        let sql = "INSERT INTO deliveries (key, subject, local, state, line, fact, error)
            VALUES (?1, ?2, ?3, 'due', ?4, ?5, ?6)
            ON CONFLICT (key) DO UPDATE SET error = ?6
            WHERE state = 'due' AND message IS NULL AND error IS NOT ?6";
        let changed = self.db.execute(sql, params![key, subject, local, line.bytes(), to_json(fact), why])?;
        Ok(changed > 0)
    }

    /// The deliveries in a message: key, hash of the line, fact.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn deliveries_in(&self, message: &str) -> Result<Vec<(String, LineHash, Fact)>> {
        self.db.rows(
            "SELECT key, line, fact FROM deliveries WHERE message = ?1
             OR key IN (SELECT key FROM copies WHERE message = ?1) ORDER BY number",
            [message],
            |row| Ok((row.get(0)?, LineHash(row.get(1)?), json(row, 2)?)),
        )
    }

    /// The last deliveries of this machine, newest first: the key, the fact, and the notifier if it was a copy. At most
    /// a thousand.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn sent_here(&self) -> Result<Vec<(String, Fact, Option<String>)>> {
        self.db.rows(
            "SELECT key, fact, NULL, number FROM deliveries WHERE state IN ('sent', 'done') AND teller IS NULL
             UNION ALL
             SELECT copies.key, fact, outlet, number FROM copies JOIN deliveries ON deliveries.key = copies.key
             WHERE copies.delivered IS NOT NULL
             ORDER BY number DESC LIMIT 1000",
            [],
            |row| Ok((row.get(0)?, json(row, 1)?, row.get(2)?)),
        )
    }
}
