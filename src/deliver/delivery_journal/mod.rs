//! Records deliveries in `deliveries.sqlite` of the state directory.
//!
//! A delivery goes `due → sending → sent → done`. An attempt that surely failed returns it to `due`. If every
//! destination refuses it, it is `failed`. Each step is on disk before the next begins (write-ahead log, `synchronous =
//! FULL`). So after a crash at any instruction the journal shows which messages may have been sent. The journal only
//! records; `pass::send` decides.
//!
//! - `due`: surely not sent;
//! - `sending`: a message with a fixed text and fixed nonces may have been sent;
//! - `sent`: sent, and never sent again, whatever the note contains;
//! - `done`: sent, and the note is updated;
//! - `failed`: every destination refused it with the present settings.
//!
//! Files:
//!
//! - [`keys`]: the key of a delivery; [`message`], [`chunks`]: messages and answers with their chunks, and their
//!   states;
//! - [`runs`]: runs of routines;
//! - [`lines`]: ids assigned to lines, reported problems, phrases of a brain, task lines, presses of buttons;
//! - [`recipients`]: copies to further notifiers, and the pauses and refusals of destinations;
//! - [`deliveries`]: past and open deliveries, and those of other machines;
//! - `migrations/`: the tables, one file for each version of the schema.
//!
//! Two processes may have the file open. Each step is one `BEGIN IMMEDIATE` transaction. A claim takes only free
//! deliveries, so a message has one sender. [`Journal::lock`] lets one process at a time make a pass or continue a run.
//!
//! Deleting the file loses nothing of the vault. Deliveries that were sent and not yet written into their note may come
//! twice; queued confirmations, notices and texts of routines are lost.

mod chunks;
mod deliveries;
mod keys;
mod lines;
mod message;
mod recipients;
mod runs;
#[cfg(test)]
mod tests;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use jiff::{Timestamp, civil};

pub use deliveries::{OpenDelivery, PastDelivery};
pub use keys::{
    LineHash, answer_key, approval_key, asked_in, claimed_turn, key, run_claim, subject, turn_claim,
};
pub(super) use keys::{local_text, voice_claim};
pub use lines::NotifiedTask;
pub use message::{ChunkState, JournalMessage, MessageChunk, NewMessage, PostedChunk};
pub use recipients::{CopyState, NotifierRefusal, Recipient};
pub use runs::{RoutineProgress, RoutineRun, RunState, run_key, run_message_key};

use super::notifier::NotifiedItem;
pub(crate) use crate::sqlite::Result;
use crate::sqlite::{Database, DatabaseError, StateFileKind, instant, json, word};
use crate::words::words;

/// The value in the place of a delivery's settings, if its line was restored after its time and isn't to fire.
pub const RESTORED: &str = "restored";

/// The file's name in the state directory.
pub const FILE_NAME: &str = "deliveries.sqlite";

/// The name of the lock with which one pass sends at a time.
pub(super) const PASS_LOCK: &str = "deliver.lock";

/// The file and its versions.
static KIND: StateFileKind = StateFileKind {
    name: "the delivery journal",
    hint: Some("nothing is sent without the delivery journal; look at its folder"),
    versions: &[
        include_str!("migrations/1_deliveries.sql"),
        include_str!("migrations/2_pauses.sql"),
        include_str!("migrations/3_runs.sql"),
        include_str!("migrations/4_phrases.sql"),
        include_str!("migrations/5_task_scopes.sql"),
        include_str!("migrations/6_copies.sql"),
        include_str!("migrations/7_places.sql"),
        include_str!("migrations/8_tellers.sql"),
        include_str!("migrations/9_waits.sql"),
    ],
    // A program of an earlier version doesn't miss it.
    each_time: |db| {
        db.execute_batch(
            "CREATE TABLE IF NOT EXISTS presses (button TEXT PRIMARY KEY, words TEXT NOT NULL, at_ms INTEGER NOT NULL)",
        )
    },
};

/// The columns that [`row_of`] reads.
const ROW: &str = "state, line, attempts, attempted_ms, retry_ms, settings, fact, delivered, teller";

/// When this many rows are done, the older half goes: far more than a stale buffer can bring back.
const KEEP_DONE: i64 = 100_000;

words! {
    /// How far a delivery came.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DeliveryState, as_str {
        /// Surely not sent yet.
        Due = "due",
        /// May have been sent.
        Sending = "sending",
        /// Sent; the note doesn't say so yet.
        Sent = "sent",
        /// Sent, and the note says so.
        Done = "done",
        /// Refused everywhere, with these settings.
        Failed = "failed",
    }
}

/// The journal's row of one delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// How far it came.
    pub state: DeliveryState,
    /// The line that it was claimed for.
    pub line: LineHash,
    /// How often sending surely failed.
    pub attempts: u32,
    /// When it was last tried.
    pub attempted: Option<Timestamp>,
    /// Not before this instant.
    pub retry: Option<Timestamp>,
    /// A failed one: the settings that it failed with.
    pub settings: Option<String>,
    /// The item.
    pub fact: NotifiedItem,
    /// A sent one: the message's id, else its nonce.
    pub delivered: Option<String>,
    /// The other machine that sent it, if one did.
    pub sender_machine: Option<String>,
}

/// The delivery journal of one vault.
#[derive(Debug)]
pub struct Journal {
    pub(super) db: Database,
}

/// A lock that is held until it is dropped, or the process ends.
#[derive(Debug)]
pub struct JournalLock {
    /// Its file.
    pub path: PathBuf,
    file: File,
}

impl Drop for JournalLock {
    /// Unlocks even where a child that is just being started still holds a copy of the descriptor.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Journal {
    /// Opens the journal in `state_dir`, making or migrating it. A file that is no database is put
    /// aside under another name, with a warning, so that reminders go on firing.
    ///
    /// # Errors
    /// The directory can't be written, or a newer program wrote the file.
    pub fn open(state_dir: &Path) -> Result<Self> {
        Ok(Self { db: Database::open_or_renew(&KIND, state_dir.join(FILE_NAME), |_| false)? })
    }

    /// Takes the lock with this file name in the state directory, without waiting: `None` while another process (or
    /// task) has it.
    ///
    /// # Errors
    /// The lock file can't be made.
    pub fn lock(&self, name: &str) -> Result<Option<JournalLock>> {
        let path = self.db.path().with_file_name(name);
        let wrap = |source| DatabaseError::File { path: path.clone(), source };
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(wrap)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(JournalLock { path, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(wrap(error)),
        }
    }

    /// The row of a key.
    pub fn row(&self, key: &str) -> Result<Option<DeliveryRow>> {
        self.db.row(&format!("SELECT {ROW} FROM deliveries WHERE key = ?1"), [key], row_of)
    }

    /// The latest local time between `from` and `to`, both included, at which something with this
    /// subject was sent.
    pub fn latest_sent(
        &self,
        subject: &str,
        from: civil::DateTime,
        to: civil::DateTime,
    ) -> Result<Option<civil::DateTime>> {
        let sql = "SELECT max(local) FROM deliveries
                   WHERE subject = ?1 AND local BETWEEN ?2 AND ?3 AND state IN ('sent', 'done')";
        let text: Option<String> = self.db.value(sql, [subject, &local_text(from), &local_text(to)])?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Whether an occurrence of this id (or of several lines that share it) at a local time was sent, or may have been.
    pub fn possibly_sent(&self, id: &str, local: civil::DateTime) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM deliveries
                   WHERE (subject = ?1 OR subject > ?1 || '#' AND subject < ?1 || '$') AND local = ?2
                   AND state IN ('sending', 'sent', 'done'))";
        self.db.value(sql, [id, &local_text(local)])
    }

    /// All deliveries that are sent but not done: key and row, in the order of their claims.
    pub fn unsettled(&self) -> Result<Vec<(String, DeliveryRow)>> {
        let sql = format!("SELECT {ROW}, key FROM deliveries WHERE state = 'sent' ORDER BY number");
        self.db.rows(&sql, [], |row| Ok((row.get(9)?, row_of(row)?)))
    }

    /// Marks deliveries as written down in their notes, and deletes old ones.
    pub fn done<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> Result<()> {
        let sql = "UPDATE deliveries SET state = 'done' WHERE key = ?1 AND state = 'sent'";
        self.db.execute_each(sql, keys.into_iter().map(|key| [key]))?;
        let span = "SELECT coalesce(max(number) - min(number), 0) FROM deliveries";
        if self.db.value::<i64>(span, [])? <= 2 * KEEP_DONE {
            return Ok(());
        }
        self.db.write(|tx| {
            let sql = "DELETE FROM deliveries WHERE state = 'done' AND subject NOT GLOB 'task_*'
                       AND number < (SELECT max(number) FROM deliveries) - ?1";
            tx.execute(sql, [KEEP_DONE])?;
            recipients::prune(tx)
        })
    }

    /// Marks what was sent under an id as written down, since its line was taken out.
    pub fn line_removed(&self, id: &str) -> Result<()> {
        let sql = "UPDATE deliveries SET state = 'done' WHERE subject = ?1 AND state = 'sent'";
        self.db.execute_each(sql, [[id]])
    }

    /// Deletes deliveries that are not on their way and whose line is deleted; not those of a copy on its way, whose
    /// claim has to be known. A restored one is done: its line may not be written yet, or come back.
    pub fn forget_unsent<'k>(&self, keys: impl Iterator<Item = &'k str> + Clone) -> Result<()> {
        let sql =
            "UPDATE deliveries SET state = 'done' WHERE key = ?1 AND state = 'failed' AND settings = ?2";
        self.db.execute_each(sql, keys.clone().map(|key| [key, RESTORED]))?;
        let sql = "DELETE FROM deliveries WHERE key = ?1 AND state IN ('due', 'failed') AND message IS NULL
                   AND NOT EXISTS (SELECT 1 FROM copies WHERE copies.key = ?1 AND copies.message IS NOT NULL)";
        self.db.execute_each(sql, keys.map(|key| [key]))
    }

    /// Whether a message of the place was counted for a delivery already. A lookup by text may find
    /// the message of another reminder that says the same.
    pub fn belongs_to_delivery(&self, message_id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM deliveries WHERE delivered = ?1)
                   OR EXISTS (SELECT 1 FROM chunks WHERE message_id = ?1)
                   OR EXISTS (SELECT 1 FROM copies WHERE delivered = ?1)";
        self.db.value(sql, [message_id])
    }
}

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<DeliveryRow> {
    Ok(DeliveryRow {
        state: word(row, 0)?,
        line: LineHash(row.get(1)?),
        attempts: row.get(2)?,
        attempted: instant(row.get(3)?),
        retry: instant(row.get(4)?),
        settings: row.get(5)?,
        fact: json(row, 6)?,
        delivered: row.get(7)?,
        sender_machine: row.get(8)?,
    })
}
