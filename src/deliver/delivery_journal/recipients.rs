//! Records the state of each notifier: copies of messages for it, pauses that it asked for, and its refusals.
//!
//! A delivery has one primary message, whose outcome decides whether the note is changed. A copy is a message of the
//! same delivery to a further notifier. The primary message and its copies are claimed in one transaction and are
//! independent from then on. A copy's row names the delivery and the notifier, and stays after the message is gone. So
//! a failure of one notifier repeats nothing at another notifier. If the settings later make a further notifier the
//! primary notifier, each delivery counts as sent if the notifier has sent its copy.
//!
//! A pause (such as `Retry-After`) belongs to the destination, not to the message: no pass of any process sends
//! anything there before the pause ends. Messages keep their order: after the pause the oldest is sent first.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Journal, Result};
use crate::deliver::notifier::MessageScope;
use crate::sqlite::instant;

/// The notifier that a message is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Recipient {
    /// The primary notifier, by the settings at the time of sending.
    #[default]
    Primary,
    /// The notifier with this name; the primary one if the settings no longer name it.
    Named(String),
    /// A further notifier, besides the one that counts; no notifier if the settings no longer name it.
    Copy(String),
}

/// The state of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyState {
    /// It is on its way.
    Underway,
    /// Its notifier took it.
    Delivered,
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

impl Recipient {
    /// The notifier's name, where one is named.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Primary => None,
            Self::Named(name) | Self::Copy(name) => Some(name),
        }
    }

    /// Whether another notifier counts.
    pub fn is_copy(&self) -> bool {
        matches!(self, Self::Copy(_))
    }

    pub(super) fn read(name: Option<String>, copy: bool) -> Self {
        match name {
            None => Self::Primary,
            Some(name) if copy => Self::Copy(name),
            Some(name) => Self::Named(name),
        }
    }
}

impl Journal {
    /// The state of a delivery's copy for the notifier with this name; `None` if there is none, or if it was refused or
    /// dropped.
    pub fn copy(&self, key: &str, name: &str) -> Result<Option<CopyState>> {
        let sql = "SELECT message, delivered FROM copies WHERE key = ?1 AND outlet = ?2";
        let state = self.db.row(sql, [key, name], |row| {
            Ok(match (row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?) {
                (Some(_), _) => Some(CopyState::Underway),
                (None, Some(_)) => Some(CopyState::Delivered),
                (None, None) => None,
            })
        })?;
        Ok(state.flatten())
    }

    /// Whether the notifier with this name already got a copy of a delivery, or is not to get one.
    pub fn is_copied(&self, key: &str, name: &str) -> Result<bool> {
        self.db.value("SELECT EXISTS (SELECT 1 FROM copies WHERE key = ?1 AND outlet = ?2)", [key, name])
    }

    /// Notes that a recipient, or a scope in it, asked at `now` for a pause until `until`.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn pause(
        &self,
        to: &Recipient,
        scope: Option<MessageScope>,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<()> {
        self.db.write(|tx| {
            tx.execute("DELETE FROM pauses WHERE until_ms <= ?1", [now.as_millisecond()])?;
            let sql = "INSERT INTO pauses (scope, asked_ms, until_ms) VALUES (?1, ?2, ?3)
                       ON CONFLICT (scope) DO UPDATE SET asked_ms = ?2, until_ms = ?3";
            tx.execute(sql, params![text(to, scope), now.as_millisecond(), until.as_millisecond()])?;
            Ok(())
        })
    }

    /// The pauses that hold at `now`. A pause that was asked for later than `now` is ignored: the clock was put back.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn pauses(&self, now: Timestamp) -> Result<Vec<(Recipient, Option<MessageScope>, Timestamp)>> {
        let sql = "SELECT scope, until_ms FROM pauses WHERE asked_ms <= ?1 AND until_ms > ?1";
        self.db.rows(sql, [now.as_millisecond()], |row| {
            let (to, scope) = parts(&row.get::<_, String>(0)?);
            Ok((to, scope, instant(row.get(1)?).unwrap_or(now)))
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

/// Notes that copies of these deliveries are made; false where one was made before.
pub(super) fn claim<'k>(
    tx: &Transaction<'_>,
    message: &str,
    name: &str,
    keys: impl IntoIterator<Item = &'k str>,
) -> rusqlite::Result<bool> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO copies (key, outlet, message) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for key in keys {
        if insert.execute(params![key, name, message])? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Forgets copies of deliveries that are known no more.
pub(super) fn prune(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "DELETE FROM copies WHERE message IS NULL AND key NOT IN (SELECT key FROM deliveries)";
    tx.execute(sql, []).map(drop)
}

/// How a recipient and a scope stand in the table; the primary notifier is its scope alone.
fn text(to: &Recipient, scope: Option<MessageScope>) -> String {
    let scope = scope.map_or_else(String::new, |scope| scope.to_string());
    match to {
        Recipient::Primary => scope,
        Recipient::Named(name) => format!("{name} {scope}"),
        Recipient::Copy(name) => format!("copy {name} {scope}"),
    }
}

fn parts(text: &str) -> (Recipient, Option<MessageScope>) {
    match text.split(' ').collect::<Vec<_>>().as_slice() {
        ["copy", name, scope] => (Recipient::Copy((*name).to_owned()), scope.parse().ok()),
        [name, scope] => (Recipient::Named((*name).to_owned()), scope.parse().ok()),
        _ => (Recipient::Primary, text.parse().ok()),
    }
}
