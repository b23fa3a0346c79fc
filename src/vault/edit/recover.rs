//! Recovers an interrupted edit: finishes it or takes it back.
//!
//! Recovery runs on start, and before each edit, because another process of this program may have died meanwhile. The
//! journal's lock is held during a recovery, so the edit of a living process is never touched.

use fail::fail_point;

use super::edit_journal::{EditKind, JournalEntry, JournalLock};
use super::in_place::write_images;
use super::lease::{LeaseGrant, WriteLease};
use super::swap::{exchange, mend_exchange, open_in, read_in, remove, rename_new, sync_folder};
use crate::vault::plan::{FileImages, ImageState};
use crate::vault::prelude::*;
use crate::vault::{Actor, ChangeReason, EditError, Editor, NotePath, ObservedChange, Result, VaultError};

/// The outcome of an interrupted edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecoveryOutcome {
    /// It had been done; its observer was notified.
    Done,
    /// It was finished now.
    Finished,
    /// It had not begun and was not made; its caller will ask again.
    TakenBack,
    /// A person has written since, and that stands.
    PersonWins,
}

/// An interrupted edit, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// Which note.
    pub path: NotePath,
    /// The reason of the edit.
    pub why: ChangeReason,
    /// Its outcome.
    pub outcome: RecoveryOutcome,
}

impl Editor {
    /// Finishes or takes back the edit that was under way when a process of ours was killed or the
    /// power went. To be called on start.
    ///
    /// # Errors
    /// The note can't be read or written now; the journal keeps the edit for the next time.
    pub fn recover(&self) -> Result<Vec<Recovery>> {
        if !self.edits.exists() {
            return Ok(Vec::new());
        }
        self.with_journal(|journal| {
            let mut recovered: Vec<Recovery> = self.recover_open(journal)?.into_iter().collect();
            for entry in journal.set_aside_entries(None) {
                recovered.push(self.recover_stuck(journal, entry)?);
            }
            self.carry_over_late_writes(journal, false)?;
            Ok(recovered)
        })
    }

    /// Recovers an earlier edit before an edit of `path`. If it concerns another note and can't be recovered now, it is
    /// set aside. Displaced files that were kept for their minute are let go.
    pub(super) fn recover_before(&self, journal: &JournalLock<'_>, path: &NotePath) -> Result<()> {
        if let Err(error) = self.recover_open(journal) {
            match journal.entry()? {
                Some(entry) if entry.path != *path => {
                    tracing::warn!(note = %entry.path, %error, "an interrupted edit can't be finished now");
                    journal.set_aside(&entry)?;
                }
                _ => return Err(error),
            }
        }
        for entry in journal.set_aside_entries(Some(path)) {
            self.recover_stuck(journal, entry)?;
        }
        if let Err(error) = self.carry_over_late_writes(journal, true) {
            tracing::warn!(%error, "late writes could not be looked for");
        }
        Ok(())
    }

    fn recover_stuck(&self, journal: &JournalLock<'_>, entry: JournalEntry) -> Result<Recovery> {
        let what = self.recover_entry(&entry)?;
        journal.clear_set_aside(&entry.path);
        Ok(Recovery { path: entry.path, why: entry.why, outcome: what })
    }

    /// Recovers the open journal entry, if there is one.
    pub(super) fn recover_open(&self, journal: &JournalLock<'_>) -> Result<Option<Recovery>> {
        let Some(entry) = journal.entry()? else { return Ok(None) };
        fail_point!("vault::recover::begun");
        let what = self.recover_entry(&entry)?;
        journal.clear()?;
        tracing::info!(note = %entry.path, ?what, subject = entry.why.subject, "an interrupted edit was recovered");
        Ok(Some(Recovery { path: entry.path, why: entry.why, outcome: what }))
    }

    fn recover_entry(&self, entry: &JournalEntry) -> Result<RecoveryOutcome> {
        let recovered = match &entry.kind {
            EditKind::InPlace => self.recover_in_place(entry),
            EditKind::Swap { temp } => self.recover_swap(entry, temp),
            EditKind::Create { temp } => self.recover_create(entry, temp),
            EditKind::Remove { kept } => self.recover_remove(entry, kept),
        };
        match recovered {
            Err(EditError::Vault(error)) if error.is_replaced() && self.vault.is_present() => {
                Ok(self.person_wins(entry, None))
            }
            recovered => recovered,
        }
    }

    /// Handles an entry whose note can't be written now: an error only if it is torn.
    fn recover_read_only(&self, entry: &JournalEntry, error: EditError) -> Result<RecoveryOutcome> {
        let now = self.vault.read(&entry.path)?;
        match entry.images.state_of(&now) {
            ImageState::Pre => Ok(RecoveryOutcome::TakenBack),
            ImageState::Post => Ok(self.report_done(entry)),
            ImageState::Torn => Err(error),
            ImageState::Other => Ok(self.person_wins(entry, Some(&now))),
        }
    }

    fn recover_in_place(&self, entry: &JournalEntry) -> Result<RecoveryOutcome> {
        let begun = Instant::now();
        loop {
            let (file, stat) = match self.open_to_write(&entry.path) {
                Err(error @ EditError::Write { .. }) => return self.recover_read_only(entry, error),
                opened => opened?,
            };
            // Without leases nothing was written in place; the file is checked all the same.
            let lease = match WriteLease::take(&file) {
                LeaseGrant::Granted(lease) => Some(lease),
                LeaseGrant::Unsupported => None,
                LeaseGrant::Busy if begun.elapsed() < self.options.patience => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                LeaseGrant::Busy => None,
            };
            let size = file.metadata().map_err(|error| VaultError::io(&entry.path, error))?.len();
            let now = self.vault.read_open(&entry.path, &file, size)?;
            match entry.images.state_of(&now) {
                ImageState::Post => {
                    drop(lease);
                    return Ok(self.report_done(entry));
                }
                ImageState::Other => {
                    drop(lease);
                    return Ok(self.person_wins(entry, Some(&now)));
                }
                ImageState::Pre if lease.is_none() => return Ok(RecoveryOutcome::TakenBack),
                ImageState::Torn if lease.is_none() => {
                    return Err(EditError::Busy(entry.path.clone(), begun.elapsed()));
                }
                ImageState::Pre | ImageState::Torn => {}
            }
            if !self.is_same_file(&entry.path, &file, &stat)? {
                continue;
            }
            write_images(&file, &entry.images).map_err(EditError::write(&entry.path, "recovering"))?;
            fail_point!("vault::recover::written");
            drop(lease);
            self.report_done(entry);
            return Ok(RecoveryOutcome::Finished);
        }
    }

    /// Ends a recovered edit of a note that stays: it has the new image.
    fn report_done(&self, entry: &JournalEntry) -> RecoveryOutcome {
        self.finished(&entry.change(Some(&entry.images.post)));
        RecoveryOutcome::Done
    }

    fn recover_swap(&self, entry: &JournalEntry, temp: &str) -> Result<RecoveryOutcome> {
        let FileImages { pre, post } = &entry.images;
        let failed = |source| EditError::Write { path: entry.path.clone(), step: "recovering", source };
        let place = self.vault.locate(&entry.path)?;
        mend_exchange(&place.dir, temp, &place.name).map_err(failed)?;
        let now = read_in(&place.dir, &place.name).map_err(failed)?;
        let beside = read_in(&place.dir, temp).map_err(failed)?;
        let (is_pre, is_post) = (now.as_ref() == Some(pre), now.as_ref() == Some(post));
        let is_whole = beside.as_ref() == Some(post) && !is_post;
        // The record is on disk before the exchange, and after the temporary file: without it nothing was exchanged.
        let is_recorded = self.record_file(temp).exists();
        if is_recorded && is_whole && is_pre && exchange(&place.dir, temp, &place.name).map_err(failed)? {
            sync_folder(&place.dir);
            self.report_done(entry);
            return Ok(RecoveryOutcome::Finished);
        }
        // The file beside the note is our own, perhaps unfinished. Else it is the displaced one, and late writes to it
        // still count.
        if !is_recorded || is_whole {
            remove(&place.dir, temp);
            self.forget_displaced(temp);
        }
        if is_post {
            return Ok(self.report_done(entry));
        }
        Ok(if is_pre { RecoveryOutcome::TakenBack } else { self.person_wins(entry, now.as_deref()) })
    }

    fn recover_create(&self, entry: &JournalEntry, temp: &str) -> Result<RecoveryOutcome> {
        let post = &entry.images.post;
        let failed = |source| EditError::Write { path: entry.path.clone(), step: "recovering", source };
        let place = match self.vault.locate(&entry.path) {
            Err(error) if error.is_not_found() => return Ok(RecoveryOutcome::TakenBack),
            place => place?,
        };
        let whole = read_in(&place.dir, temp).map_err(failed)?.as_ref() == Some(post);
        if whole {
            // The process may have died before it did so.
            let synced = open_in(&place.dir, temp, OFlags::empty()).map_err(io::Error::from);
            synced.and_then(|file| file.sync_all()).map_err(failed)?;
        }
        let named = whole && rename_new(&place.dir, temp, &place.name).map_err(failed)?;
        remove(&place.dir, temp);
        sync_folder(&place.dir);
        let now = read_in(&place.dir, &place.name).map_err(failed)?;
        if now.as_ref() == Some(post) {
            let done = self.report_done(entry);
            return Ok(if named { RecoveryOutcome::Finished } else { done });
        }
        Ok(if now.is_none() { RecoveryOutcome::TakenBack } else { self.person_wins(entry, now.as_deref()) })
    }

    fn recover_remove(&self, entry: &JournalEntry, kept: &str) -> Result<RecoveryOutcome> {
        let pre = &entry.images.pre;
        let failed = |source| EditError::Write { path: entry.path.clone(), step: "recovering", source };
        let place = self.vault.locate(&entry.path)?;
        let now = read_in(&place.dir, &place.name).map_err(failed)?;
        if read_in(&place.dir, kept).map_err(failed)?.is_none() {
            self.forget_displaced(kept);
            let is_pre = now.as_ref() == Some(pre);
            return Ok(if is_pre { RecoveryOutcome::TakenBack } else { RecoveryOutcome::PersonWins });
        }
        self.displace(&entry.path, kept, pre, &[])?;
        if now.is_some() {
            return Ok(self.person_wins(entry, now.as_deref()));
        }
        self.finished(&entry.change(None));
        Ok(RecoveryOutcome::Done)
    }

    /// Handles a write of another program since the crash. Its bytes stay; the earlier ones go to history, so that
    /// nothing is lost either way. If it only added to the end of the new image, the edit itself was made.
    fn person_wins(&self, entry: &JournalEntry, now: Option<&[u8]>) -> RecoveryOutcome {
        let FileImages { pre, post } = &entry.images;
        // A new image that the old one begins with proves nothing: something may have been added to that.
        let is_made = !pre.starts_with(post) && now.is_some_and(|now| now.starts_with(post));
        if is_made {
            self.report_done(entry);
        }
        let subject = format!("changed while an edit was cut short: {}", entry.why.subject);
        let why = ChangeReason::new(Actor::Human, subject);
        let before = if is_made { Some(post.as_slice()) } else { entry.before() };
        self.notify_observer(&ObservedChange { path: &entry.path, before, after: now, why: &why });
        if is_made { RecoveryOutcome::Done } else { RecoveryOutcome::PersonWins }
    }
}
