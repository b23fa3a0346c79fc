//! Lists past deliveries: when, and through which notifiers.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::params;

use super::keys::local_text;
use super::runs::{COLUMNS, run_of};
use super::{Journal, Result, RoutineRun};
use crate::deliver::notifier::Fact;
use crate::sqlite::{instant, json};

/// The state of a past delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastDeliveryState {
    /// It was sent.
    Told,
    /// It is on its way, or waits for another attempt.
    Waiting,
    /// It was refused everywhere, or came back after its time.
    NotTold,
}

/// One past delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastDelivery {
    /// Its key.
    pub key: String,
    /// The sent item.
    pub fact: Fact,
    /// Its state.
    pub state: PastDeliveryState,
    /// When it was last tried.
    pub at: Option<Timestamp>,
    /// The places that took it, the one that counted first.
    pub places: Vec<String>,
    /// The reason why it was not sent.
    pub error: Option<String>,
}

fn past_deliveries(row: &rusqlite::Row<'_>) -> rusqlite::Result<PastDelivery> {
    let state = match row.get::<_, String>(2)?.as_str() {
        "sent" | "done" => PastDeliveryState::Told,
        "failed" => PastDeliveryState::NotTold,
        _ => PastDeliveryState::Waiting,
    };
    let (own, copies): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
    let copies = copies.unwrap_or_default();
    let copies = copies.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(PastDelivery {
        key: row.get(0)?,
        fact: json(row, 1)?,
        state,
        at: instant(row.get(3)?),
        places: own.filter(|_| state == PastDeliveryState::Told).into_iter().chain(copies).collect(),
        error: row.get(6)?,
    })
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
}

/// The columns of a run, without its note and its material.
fn bare_columns() -> String {
    COLUMNS.replace("note, material", "x'', ''")
}
