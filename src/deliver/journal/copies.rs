//! Records copies: the messages of a delivery to further notifiers, each with a state of its own.
//!
//! A delivery has one message that counts; its outcome decides about the note. A copy is a message to another notifier.
//! It is claimed in the same transaction and is independent from then on. Its row names the delivery and the notifier
//! and stays after the message is gone, so a failure of one notifier repeats nothing at another. If the copy's notifier
//! becomes the one that counts, messages that it took count as sent.

use std::collections::HashSet;

use rusqlite::{Transaction, params};

use super::problems::OpenDelivery;
use super::{Journal, Result};
use crate::deliver::notifier::Fact;
use crate::sqlite::{instant, json};

/// Which notifier a message is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Recipient {
    /// The one that counts, by the settings of the day on which it is sent.
    #[default]
    Primary,
    /// One that is named; the primary one, should the settings name it no more.
    Named(String),
    /// A further notifier, besides the one that counts; none, if the settings don't name it any more.
    Copy(String),
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

/// The state of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyState {
    /// It is on its way.
    Underway,
    /// Its notifier took it.
    Delivered,
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

    /// Of these deliveries, those of which the notifier with this name was given a copy already.
    pub fn copied_deliveries<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k str>,
        name: &str,
    ) -> Result<HashSet<String>> {
        self.db.read(|tx| {
            let mut known =
                tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM copies WHERE key = ?1 AND outlet = ?2)")?;
            let mut found = HashSet::new();
            for key in keys {
                if known.query_row(params![key, name], |row| row.get(0))? {
                    found.insert(key.to_owned());
                }
            }
            Ok(found)
        })
    }

    /// The copies that are on their way: one entry for each item in them.
    pub fn open_copies(&self) -> Result<Vec<OpenDelivery>> {
        let sql =
            "SELECT outlet, facts, attempts, retry_ms, error FROM messages WHERE copy = 1 ORDER BY rowid";
        let rows: Vec<Vec<OpenDelivery>> = self.db.rows(sql, [], |row| {
            let name: String = row.get(0)?;
            let facts: Vec<Fact> = json(row, 1)?;
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
