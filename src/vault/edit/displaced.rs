//! Keeps the old file of a note for a minute after a swap, and merges late writes to that file into the note.
//!
//! A program that had the note open during the swap goes on writing into the old file, which now has a hidden name
//! beside the note. A record in `edits/displaced` of the state directory, made before the swap, holds the note's path,
//! the bytes that were read and those that were written.
//!
//! While the record exists, [`Editor::follow_ups`](crate::vault::Editor::follow_ups) of any of this program's processes
//! checks the old file, and merges its changes into the note (`plan::three_way`). After the minute, the next edit of
//! any note does the same. The file and its record are removed once the file has been unchanged for a minute.

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{AtFlags, OFlags};

use super::edit_journal::JournalLock;
use super::editor::{EditAttempt, EditTask, Editor, GONE_FOR, PlannedBytes};
use super::lease;
use super::swap::{open_in, read_in};
use crate::config::{EditStrategy, json_file};
use crate::vault::plan::carry_over;
use crate::vault::prelude::*;
use crate::vault::{Actor, ChangeReason, EditError, NotePath, Result};

/// How long a displaced file is kept after its last change.
const KEPT: SignedDuration = SignedDuration::from_secs(60);

/// The record of a displaced file. Its two images stand behind the first line of the record's file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    path: NotePath,
    name: String,
    since: Timestamp,
    base_len: usize,
    /// The file's bytes when it was displaced or last carried over.
    #[serde(skip)]
    base: Vec<u8>,
    /// The bytes that we had put in its place.
    #[serde(skip)]
    ours: Vec<u8>,
}

impl Record {
    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.base);
        bytes.extend_from_slice(&self.ours);
        Ok(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let end = memchr::memchr(b'\n', bytes)?;
        let head: Self = serde_json::from_slice(&bytes[..end]).ok()?;
        let (base, ours) = bytes[end + 1..].split_at_checked(head.base_len)?;
        Some(Self { base: base.to_vec(), ours: ours.to_vec(), ..head })
    }

    /// Whether its minute is over.
    fn is_over(&self, now: Timestamp) -> bool {
        now.duration_since(self.since).abs() >= KEPT
    }
}

impl Editor {
    pub(super) fn record_file(&self, name: &str) -> PathBuf {
        self.edits.join("displaced").join(format!("{}.record", name.trim_start_matches('.')))
    }

    /// Records durably that the file `name` beside the note is about to become the displaced file.
    pub(super) fn displace(&self, path: &NotePath, name: &str, base: &[u8], ours: &[u8]) -> Result<()> {
        self.save_record(&Record {
            path: path.clone(),
            name: name.to_owned(),
            since: self.clock.now(),
            base_len: base.len(),
            base: base.to_vec(),
            ours: ours.to_vec(),
        })
    }

    fn save_record(&self, record: &Record) -> Result<()> {
        let file = self.record_file(&record.name);
        let save = || -> io::Result<()> {
            json_file::replace(&file, &record.encode()?, true)?;
            File::open(self.edits.join("displaced"))?.sync_all()?;
            File::open(&self.edits)?.sync_all()
        };
        save().map_err(|source| EditError::Journal(file.clone(), source))
    }

    pub(super) fn forget_displaced(&self, name: &str) {
        drop(std::fs::remove_file(self.record_file(name)));
    }

    /// Deletes the kept files of notes whose removal was requested, if the kernel says that no program has them open
    /// for writing. Other files are kept for their minute.
    pub fn delete_removed(&self) {
        let records = std::fs::read_dir(self.edits.join("displaced")).into_iter().flatten().flatten();
        let records = records.filter_map(|file| Record::decode(&std::fs::read(file.path()).ok()?));
        let removed: Vec<Record> = records.filter(|record| record.ours.is_empty()).collect();
        if removed.is_empty() {
            return;
        }
        let done = self.with_journal(|_| {
            for record in &removed {
                self.let_go(record);
            }
            Ok(())
        });
        if let Err(error) = done {
            tracing::debug!(%error, "what was removed is kept for a minute");
        }
    }

    fn let_go(&self, record: &Record) {
        let Ok(place) = self.vault.locate(&record.path) else { return };
        let Ok(file) = open_in(&place.dir, &*record.name, OFlags::NONBLOCK) else { return };
        let unwritten = self.options.ask_for_writers && lease::no_writers(&file) == Some(true);
        let same = read_in(&place.dir, &*record.name).is_ok_and(|now| now.as_ref() == Some(&record.base));
        if unwritten && same && rustix::fs::unlinkat(&place.dir, &*record.name, AtFlags::empty()).is_ok() {
            self.forget_displaced(&record.name);
        }
    }

    /// Checks the displaced files, perhaps only the `old` ones, whose minute is over: merges late writes to them, and
    /// deletes those that have been unchanged for a minute.
    pub(super) fn carry_over_late_writes(&self, journal: &JournalLock<'_>, old: bool) -> Result<()> {
        let Ok(items) = std::fs::read_dir(self.edits.join("displaced")) else { return Ok(()) };
        // One that can't be looked at now doesn't stop the others.
        let mut looked = Ok(());
        for file in items.flatten().map(|item| item.path()) {
            looked = looked.and(self.carry_over_record(journal, &file, old));
        }
        looked
    }

    /// The same for the displaced file of one record.
    pub(super) fn carry_over_record(&self, journal: &JournalLock<'_>, file: &Path, old: bool) -> Result<()> {
        // Under the lock nobody else writes a record: another ending is what a killed process left.
        let is_record = file.extension().is_some_and(|extension| extension == "record");
        let bytes = std::fs::read(file).ok().filter(|_| is_record);
        match bytes.and_then(|bytes| Record::decode(&bytes)) {
            Some(record) if old && !record.is_over(self.clock.now()) => {}
            Some(record) => return self.carry_over_one(journal, record),
            None => drop(std::fs::remove_file(file)),
        }
        Ok(())
    }

    fn carry_over_one(&self, journal: &JournalLock<'_>, record: Record) -> Result<()> {
        let place = match self.vault.locate(&record.path) {
            Ok(place) => place,
            // A link to nothing, or out of the vault, stands in the note's place by now: the file lies beside it.
            Err(error) => {
                let hidden = record.path.beside(&record.name).filter(|hidden| self.vault.exists(hidden));
                match hidden.and_then(|hidden| self.vault.locate(&hidden).ok()) {
                    Some(place) => place,
                    // Its folder is deleted or replaced, and the displaced file with it.
                    None if error.is_replaced() && self.vault.is_present() => {
                        self.forget_displaced(&record.name);
                        return Ok(());
                    }
                    None => return Err(error.into()),
                }
            }
        };
        let opened = match open_in(&place.dir, &*record.name, OFlags::NONBLOCK) {
            Ok(file) if self.options.ask_for_writers => lease::no_writers(&file),
            Ok(_) => None,
            Err(Errno::NOENT) => {
                self.forget_displaced(&record.name);
                return Ok(());
            }
            Err(_) => Some(false),
        };
        let now = self.clock.now();
        let over = record.is_over(now);
        // In the middle of a save the file may be empty or half there.
        if opened == Some(false) && !over {
            return Ok(());
        }
        let failed = EditError::write(&record.path, "looking at what was displaced");
        let Some(theirs) = read_in(&place.dir, &*record.name).map_err(failed)? else { return Ok(()) };
        // Our own bytes are no late write: the edit was cut short before the exchange.
        if theirs != record.base && theirs != record.ours {
            if is_half_saved(&record.base, &theirs) && !over {
                return Ok(());
            }
            let late = ChangeReason::new(Actor::Human, format!("late edit of {}", record.path));
            match self.merge_late(journal, &record, &theirs, &late, over) {
                Ok(EditAttempt::Done(_)) => {}
                // The note itself is being saved at this moment, or a person is to look at it first.
                Ok(_) | Err(EditError::Refused(_)) => return Ok(()),
                Err(error) => return Err(error),
            }
            return self.save_record(&Record { base_len: theirs.len(), base: theirs, since: now, ..record });
        }
        if over {
            match rustix::fs::unlinkat(&place.dir, &*record.name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => self.forget_displaced(&record.name),
                Err(error) => {
                    tracing::warn!(note = %record.path, %error, "an old version could not be removed");
                }
            }
        }
        Ok(())
    }

    /// Merges a late version into the note. A note that is suddenly empty or much shorter is refused as for any edit,
    /// until the late version has waited for a minute.
    fn merge_late(
        &self,
        journal: &JournalLock<'_>,
        record: &Record,
        theirs: &[u8],
        why: &ChangeReason,
        is_over: bool,
    ) -> Result<EditAttempt> {
        let mut plan = |before: Option<&[u8]>| {
            let merged = match before {
                Some(now) => carry_over(&record.base, theirs, &record.ours, now),
                // Removed, and yet a program writes to it: then it is wanted, with those bytes.
                None => theirs.to_vec(),
            };
            PlannedBytes { explicit: is_over, ..PlannedBytes::bytes(before, merged) }
        };
        // A note that is missing may be about to be made anew, but not for a whole minute.
        let begun = Instant::now();
        let begun = if is_over { begun.checked_sub(GONE_FOR).unwrap_or(begun) } else { begun };
        let mut task = EditTask { path: &record.path, why, plan: &mut plan, begun, journal };
        for _ in 0..5 {
            let attempt = match self.options.strategy {
                EditStrategy::Swap => self.attempt_swap(&mut task)?,
                _ => match self.attempt_in_place(&mut task)? {
                    EditAttempt::NoLease | EditAttempt::Busy => self.attempt_swap(&mut task)?,
                    attempt => attempt,
                },
            };
            if !matches!(attempt, EditAttempt::Raced) {
                return Ok(attempt);
            }
        }
        Ok(EditAttempt::Raced)
    }
}

/// Whether `theirs` looks like `base` in the middle of a save: emptied, or rewritten and not complete yet. If the
/// kernel can't say that a program has it open, treating that as a deletion would bring every line back a second time
/// with the rest of the save.
fn is_half_saved(base: &[u8], theirs: &[u8]) -> bool {
    theirs.len() < base.len() && (theirs.len() < base.len().div_ceil(2) || base.starts_with(theirs))
}
