//! Records phrases that a brain wrote for reminders that are soon due, and notices that are sent once.
//!
//! A phrase belongs to one occurrence (its key) and to the line that it was made from (its hash); a changed line has
//! none. The row is written before the brain is asked, so after a crash no brain is asked a second time.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Journal, LineHash, NewMessage, Result};

/// So many days a phrase and the name of a notice are kept.
const KEEP_DAYS: i64 = 3;

impl Journal {
    /// Records, in advance, that a brain is asked for a phrase for this occurrence; `plain` is the text without it.
    /// Returns false if it was asked before, and the line is the same.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn begin_phrase(&self, key: &str, line: &LineHash, plain: &str, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| {
            forget(tx, "phrases", now)?;
            let changed = tx.execute(
                "INSERT INTO phrases (key, line, plain, at_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (key) DO UPDATE SET line = ?2, plain = ?3, phrase = NULL, at_ms = ?4 WHERE line <> ?2",
                params![key, line.bytes(), plain, now.as_millisecond()],
            )?;
            Ok(changed > 0)
        })
    }

    /// Keeps the words that were found, unless the line was changed in the meantime.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set_phrase(&self, key: &str, line: &LineHash, phrase: &str) -> Result<()> {
        let sql = "UPDATE phrases SET phrase = ?3 WHERE key = ?1 AND line = ?2";
        self.db.execute(sql, params![key, line.bytes(), phrase]).map(drop)
    }

    /// The words for this occurrence of this line, if they were found.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn phrase(&self, key: &str, line: &LineHash) -> Result<Option<String>> {
        let sql = "SELECT phrase FROM phrases WHERE key = ?1 AND line = ?2";
        Ok(self.db.row(sql, params![key, line.bytes()], |row| row.get(0))?.flatten())
    }

    /// Queues a message unless one of this name was queued before, whatever became of it; says whether it was.
    ///
    /// # Errors
    /// The journal can't be written.
    pub(in crate::deliver) fn queue_once(
        &self,
        name: &str,
        message: &NewMessage,
        limit: usize,
        now: Timestamp,
    ) -> Result<bool> {
        self.db.write(|tx| {
            forget(tx, "said", now)?;
            let new = tx.execute(
                "INSERT INTO said (name, at_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![name, now.as_millisecond()],
            )? > 0;
            Ok(new && super::chunks::claim_one(tx, message, limit)?)
        })
    }
}

fn forget(tx: &Transaction<'_>, table: &str, now: Timestamp) -> rusqlite::Result<()> {
    let before = now.as_millisecond() - KEEP_DAYS * 24 * 60 * 60 * 1000;
    tx.execute(&format!("DELETE FROM {table} WHERE at_ms < ?1"), [before]).map(drop)
}
