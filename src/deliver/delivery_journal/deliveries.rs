//! Lists deliveries: past ones with their notifiers for the agenda, waiting and refused ones for `status` and `doctor`.
//! Also lists past runs of routines. If several machines share the vault, the module also records the deliveries of
//! other machines, and why a due delivery waits for these machines.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::params;

use super::chunks::to_json;
use super::keys::{LineHash, local_text, parts};
use super::runs::{COLUMNS, run_of};
use super::{DeliveryState, Journal, Result, RoutineRun};
use crate::deliver::notifier::NotifiedItem;
use crate::sqlite::{instant, json, word};

/// One past delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastDelivery {
    /// Its key.
    pub key: String,
    /// The sent item.
    pub fact: NotifiedItem,
    /// Its state.
    pub state: DeliveryState,
    /// When it was last tried.
    pub at: Option<Timestamp>,
    /// The places that took it, the one that counted first.
    pub places: Vec<String>,
    /// The reason why it was not sent.
    pub error: Option<String>,
}

/// A delivery that is not done with: waiting for another attempt, or refused everywhere.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct OpenDelivery {
    /// Its key.
    pub key: String,
    /// `due`, `sending` or `failed`.
    pub state: String,
    /// The item.
    pub fact: NotifiedItem,
    /// How often sending failed.
    pub attempts: u32,
    /// The next attempt is not before this.
    pub retry: Option<Timestamp>,
    /// Why it is not delivered yet.
    pub error: Option<String>,
}

impl Journal {
    /// Deliveries that were due from `from` on and before `to`, in order of their local time; at most `most`.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn past_deliveries(&self, from: Timestamp, to: Timestamp, most: usize) -> Result<Vec<PastDelivery>> {
        // A local time is within a day of its instant's in UTC, in every zone.
        let local = |at: Timestamp, hours| {
            let at = at.saturating_add(jiff::SignedDuration::from_hours(hours)).unwrap_or(at);
            local_text(at.to_zoned(TimeZone::UTC).datetime())
        };
        let rows: Vec<PastDelivery> = self.db.rows(
            "SELECT key, fact, state, attempted_ms, place,
                    (SELECT group_concat(outlet) FROM copies WHERE key = deliveries.key AND delivered IS NOT NULL),
                    error
             FROM deliveries WHERE local BETWEEN ?1 AND ?2 ORDER BY local, number LIMIT ?3",
            params![local(from, -26), local(to, 26), most],
            past_deliveries,
        )?;
        Ok(rows.into_iter().filter(|row| from <= row.fact.due && row.fact.due < to).collect())
    }

    /// Runs that were due from `from` on and before `to`, without their input; at most `most`, the latest.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn runs_between(&self, from: Timestamp, to: Timestamp, most: usize) -> Result<Vec<RoutineRun>> {
        let sql = format!(
            "SELECT {} FROM runs WHERE due_ms >= ?1 AND due_ms < ?2 ORDER BY number DESC LIMIT ?3",
            bare_columns()
        );
        self.db.rows(&sql, params![from.as_millisecond(), to.as_millisecond(), most], run_of)
    }

    /// The latest runs of a routine, newest first, without their input; at most `most`.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn runs_of(&self, routine: &str, most: usize) -> Result<Vec<RoutineRun>> {
        let sql =
            format!("SELECT {} FROM runs WHERE routine = ?1 ORDER BY number DESC LIMIT ?2", bare_columns());
        self.db.rows(&sql, params![routine, most], run_of)
    }

    /// Records a delivery at `place` that this process didn't make: by the machine `by` (none if this machine rewrites
    /// the line), with the message's id if the place was asked for the message.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_other_machine(
        &self,
        (key, line, fact): &(String, LineHash, NotifiedItem),
        place: &str,
        by: Option<&str>,
        at: Timestamp,
        id: Option<&str>,
    ) -> Result<()> {
        let (subject, local) = parts(key);
        let sql = "INSERT INTO deliveries (key, subject, local, state, line, fact, place, teller, attempted_ms, delivered)
            VALUES (?1, ?2, ?3, 'sent', ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (key) DO UPDATE SET state = 'sent', line = ?4, message = NULL, retry_ms = NULL, error = NULL,
            settings = NULL, place = ?6, teller = ?7, attempted_ms = ?8, delivered = ?9
            WHERE state IN ('due', 'sending', 'failed')";
        let (line, fact, at) = (line.bytes(), to_json(fact), at.as_millisecond());
        self.db.execute(sql, params![key, subject, local, line, fact, place, by, at, id]).map(drop)
    }

    /// Notes why a delivery that is due waits for the machines. Says whether that is new.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_wait(&self, key: &str, line: &LineHash, fact: &NotifiedItem, why: &str) -> Result<bool> {
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
    pub fn deliveries_in(&self, message: &str) -> Result<Vec<(String, LineHash, NotifiedItem)>> {
        let sql = "SELECT key, line, fact FROM deliveries WHERE message = ?1
                   OR key IN (SELECT key FROM copies WHERE message = ?1) ORDER BY number";
        self.db.rows(sql, [message], |row| Ok((row.get(0)?, LineHash(row.get(1)?), json(row, 2)?)))
    }

    /// The last deliveries of this machine, newest first: the key, the fact, and the notifier if it was a copy. At most
    /// a thousand.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn sent_here(&self) -> Result<Vec<(String, NotifiedItem, Option<String>)>> {
        let sql = "SELECT key, fact, NULL, number FROM deliveries WHERE state IN ('sent', 'done') AND teller IS NULL
                   UNION ALL
                   SELECT copies.key, fact, outlet, number FROM copies JOIN deliveries ON deliveries.key = copies.key
                   WHERE copies.delivered IS NOT NULL
                   ORDER BY number DESC LIMIT 1000";
        self.db.rows(sql, [], |row| Ok((row.get(0)?, json(row, 1)?, row.get(2)?)))
    }

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

    /// The copies that are on their way: one entry for each item in them.
    pub fn open_copies(&self) -> Result<Vec<OpenDelivery>> {
        let sql =
            "SELECT outlet, facts, attempts, retry_ms, error FROM messages WHERE copy = 1 ORDER BY rowid";
        let rows: Vec<Vec<OpenDelivery>> = self.db.rows(sql, [], |row| {
            let name: String = row.get(0)?;
            let facts: Vec<NotifiedItem> = json(row, 1)?;
            let (attempts, retry, error): (_, _, Option<String>) = (row.get(2)?, row.get(3)?, row.get(4)?);
            let open = facts.into_iter().map(|fact| OpenDelivery {
                key: format!("{} ({name})", fact.id),
                state: "copy".to_owned(),
                fact,
                attempts,
                retry: instant(retry),
                error: error.clone(),
            });
            Ok(open.collect())
        })?;
        Ok(rows.into_iter().flatten().collect())
    }
}

fn past_deliveries(row: &rusqlite::Row<'_>) -> rusqlite::Result<PastDelivery> {
    let state: DeliveryState = word(row, 2)?;
    let is_sent = matches!(state, DeliveryState::Sent | DeliveryState::Done);
    let (own, copies): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
    let copies = copies.unwrap_or_default();
    let copies = copies.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(PastDelivery {
        key: row.get(0)?,
        fact: json(row, 1)?,
        state,
        at: instant(row.get(3)?),
        places: own.filter(|_| is_sent).into_iter().chain(copies).collect(),
        error: row.get(6)?,
    })
}

/// The columns of a run, without its note and its material.
fn bare_columns() -> String {
    COLUMNS.replace("note, material", "x'', ''")
}
