//! Edits notes: [`Editor`] repeats an attempt until the edit is made on the newest bytes, or a time limit is reached
//! ([`EditError::Busy`]). No other module changes a note. `docs/editing.md` is the protocol.
//!
//! [`Editor::edit`] holds the lock of the [journal](super::edit_journal), so one edit happens at a time. An attempt
//! ([`in_place`](super::in_place), or the swap) reads the note and applies the operations to these bytes. If another
//! program changes the note between reading and writing, the attempt fails, and the editor reads the note again. If
//! another program has the file open, the editor waits, without the lock, and tries again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use jiff::Timestamp;

use super::edit_journal::{EditKind, FOLDER, Journal, JournalEntry, JournalLock};
use super::{EditOptions, EditPlan, EditReport};
use crate::clock::Clock;
use crate::config::EditStrategy;
use crate::vault::guard::{self, FollowUps, KnownLengths};
use crate::vault::plan::operations::FileAfter;
use crate::vault::plan::{FileImages, operations as plan};
use crate::vault::prelude::*;
use crate::vault::{
    ChangeObserver, ChangeReason, EditError, NotePath, ObservedChange, OpOutcome, Operation, Result, Stat,
    Vault,
};

/// The bytes that result from an edit.
pub(super) struct PlannedBytes {
    pub after: FileAfter,
    pub outcomes: Vec<OpOutcome>,
    /// The caller has named the whole content it expects, so the rules about suspicious content
    /// don't apply.
    pub explicit: bool,
}

impl PlannedBytes {
    /// These bytes; no file and an empty one are the same.
    pub(super) fn bytes(before: Option<&[u8]>, bytes: Vec<u8>) -> Self {
        let is_same = before.unwrap_or_default() == bytes && (before.is_some() || bytes.is_empty());
        let after = if is_same { FileAfter::Same } else { FileAfter::Bytes(bytes) };
        Self { after, outcomes: vec![OpOutcome::Done], explicit: false }
    }
}

/// The outcome of one attempt.
pub(super) enum EditAttempt {
    Done(EditReport),
    /// Another program has the file open.
    Busy,
    /// The file was replaced meanwhile.
    Raced,
    /// There is no lease to be had for this file.
    NoLease,
}

/// One edit, as the attempts see it.
pub(super) struct EditTask<'a> {
    pub path: &'a NotePath,
    pub why: &'a ChangeReason,
    pub plan: &'a mut dyn FnMut(Option<&[u8]>) -> PlannedBytes,
    /// When it was first tried.
    pub begun: Instant,
    /// The journal, locked for this attempt.
    pub journal: &'a JournalLock<'a>,
}

impl EditTask<'_> {
    /// Journals a change; afterwards the note may be touched.
    pub(super) fn begin(&self, kind: EditKind, images: FileImages) -> Result<FileImages> {
        let entry = JournalEntry { kind, path: self.path.clone(), why: self.why.clone(), images };
        self.journal.write(&entry)?;
        Ok(entry.images)
    }
}

/// The time for which a known note must be missing before it is created anew.
pub(super) const GONE_FOR: Duration = Duration::from_millis(250);

/// Writes notes.
pub struct Editor {
    pub(in crate::vault) vault: Vault,
    pub(in crate::vault) edits: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(in crate::vault) options: EditOptions,
    observer: RwLock<Option<Arc<dyn ChangeObserver>>>,
    journal: Mutex<Option<Journal>>,
    pub(in crate::vault) known: Mutex<KnownLengths>,
    follow_ups: Mutex<FollowUps>,
    /// Whether a person or a cron job vouches for notes as they stand.
    settled: std::sync::atomic::AtomicBool,
}

impl std::fmt::Debug for Editor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Editor").field("vault", &self.vault).finish_non_exhaustive()
    }
}

/// A lock whose holder panicked still guards plain data.
pub(in crate::vault) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Editor {
    /// An editor of `vault` that keeps its journal in the folder `edits` of `state_dir`. Nothing is
    /// touched before the first edit; call [`Editor::recover`] on start.
    pub fn new(vault: Vault, state_dir: &Path, clock: Arc<dyn Clock>, options: EditOptions) -> Self {
        let edits = state_dir.join(FOLDER);
        Self {
            known: Mutex::new(KnownLengths::load(&edits)),
            vault,
            edits,
            clock,
            options,
            observer: RwLock::new(None),
            journal: Mutex::new(None),
            follow_ups: Mutex::default(),
            settled: std::sync::atomic::AtomicBool::new(false),
        }
    }

    /// Sets whether every note counts as settled, even one that has suddenly become short. Commands that a person types
    /// set it, and so does `tick`, which treats the quiet rules as met. MCP, hooks, and the assistant in its shell or a
    /// turn don't.
    pub fn count_as_settled(&self, settled: bool) {
        self.settled.store(settled, std::sync::atomic::Ordering::Relaxed);
    }

    /// The vault that it writes to.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Sets the observer of all later changes, such as history.
    pub fn set_observer(&self, observer: Arc<dyn ChangeObserver>) {
        *self.observer.write().unwrap_or_else(PoisonError::into_inner) = Some(observer);
    }

    /// Applies `ops` to a note, which is created if it doesn't exist and an operation adds to it.
    ///
    /// # Errors
    /// The file is unchanged: refused until a person has checked it ([`EditError::Refused`]), open elsewhere all the
    /// time ([`EditError::Busy`]), unreadable or unwritable. Operations whose target is gone are no error; see
    /// [`EditReport::outcomes`].
    pub fn edit(&self, path: &NotePath, ops: &[Operation], why: &ChangeReason) -> Result<EditReport> {
        let explicit =
            ops.iter().all(|op| matches!(op, Operation::ReplaceAll { .. } | Operation::RemoveFile { .. }));
        self.run(path, why, &mut |before| {
            let (after, outcomes) = plan::change_to(ops, before);
            PlannedBytes { after, outcomes, explicit }
        })
    }

    /// As [`Editor::edit`], for an edit that has to be worked out from the newest bytes: `plan` is called with them,
    /// again on every attempt. A missing file is passed as no bytes. `plan` must not open the note itself, because the
    /// note is leased at that moment and the open would wait for the lease.
    pub fn edit_with(
        &self,
        path: &NotePath,
        why: &ChangeReason,
        mut plan: impl FnMut(&[u8]) -> EditPlan,
    ) -> Result<EditReport> {
        self.run(path, why, &mut |before| match plan(before.unwrap_or_default()) {
            EditPlan::Operations(ops) => {
                let (after, outcomes) = plan::change_to(&ops, before);
                PlannedBytes { after, outcomes, explicit: false }
            }
            EditPlan::Bytes(bytes) => PlannedBytes::bytes(before, bytes),
        })
    }

    /// As [`Editor::edit_with`], with a result: `plan` also returns a value for the caller. If it fails, nothing is
    /// written.
    ///
    /// # Errors
    /// As [`Editor::edit`], and what `plan` fails with.
    pub fn try_edit_with<T, E: From<EditError>>(
        &self,
        path: &NotePath,
        why: &ChangeReason,
        mut plan: impl FnMut(&[u8]) -> Result<(EditPlan, T), E>,
    ) -> Result<T, E> {
        let mut answer = None;
        self.edit_with(path, why, |bytes| {
            let (edit, made) = match plan(bytes) {
                Ok((edit, made)) => (edit, Ok(made)),
                Err(error) => (EditPlan::NOTHING, Err(error)),
            };
            answer = Some(made);
            edit
        })?;
        answer.expect("an edit is planned before it succeeds")
    }

    /// The newest bytes of a note for a check before an edit: read as an edit reads them, so never from the middle of
    /// another program's save. A missing file has none.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn read_settled(&self, path: &NotePath) -> Result<Vec<u8>> {
        Ok(self.edit(path, &[], &ChangeReason::new(crate::vault::Actor::Cli, "nothing"))?.after)
    }

    /// Makes a note, and the folders above it, where there is none.
    ///
    /// # Errors
    /// [`EditError::Exists`] if anything bears the name, however it came there.
    pub fn create(&self, path: &NotePath, bytes: &[u8], why: &ChangeReason) -> Result<EditReport> {
        if self.vault.stat(path)?.is_some() {
            return Err(EditError::Exists(path.clone()));
        }
        let report = self.run(path, why, &mut |before| {
            let after = if before.is_some() { FileAfter::Same } else { FileAfter::Bytes(bytes.to_vec()) };
            PlannedBytes { after, outcomes: vec![OpOutcome::Done], explicit: true }
        })?;
        if report.changed { Ok(report) } else { Err(EditError::Exists(path.clone())) }
    }

    /// The notes that we wrote 5 s or 60 s ago, to be checked again: an older buffer or a sync may have undone the
    /// edit.
    ///
    /// Also carries over late writes to files that a swap has displaced.
    pub fn follow_ups(&self, now: Timestamp) -> Vec<NotePath> {
        if let Err(error) = self.with_journal(|journal| self.carry_over_late_writes(journal, false)) {
            tracing::warn!(%error, "late writes could not be looked for");
        }
        lock(&self.follow_ups).due(now).into_iter().collect()
    }

    /// The time at which [`Editor::follow_ups`] is next due.
    pub fn next_follow_up(&self) -> Option<Timestamp> {
        lock(&self.follow_ups).next()
    }

    /// Runs `act` with the journal locked, after recovering from an earlier edit.
    pub(super) fn with_journal<T>(&self, act: impl FnOnce(&JournalLock<'_>) -> Result<T>) -> Result<T> {
        let mut journal = lock(&self.journal);
        let journal = match &mut *journal {
            Some(journal) => journal,
            none => none.insert(Journal::open(&self.edits)?),
        };
        act(&journal.lock()?)
    }

    fn run(
        &self,
        path: &NotePath,
        why: &ChangeReason,
        plan: &mut dyn FnMut(Option<&[u8]>) -> PlannedBytes,
    ) -> Result<EditReport> {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(500);
        // Waits for other programs alone count: in the queue for the journal stand writers of our own.
        let mut waited = Duration::ZERO;
        let mut swap = self.options.strategy == EditStrategy::Swap;
        loop {
            let attempt = self.with_journal(|journal| {
                self.recover_before(journal, path)?;
                let mut task = EditTask { path, why, plan: &mut *plan, begun, journal };
                if swap { self.attempt_swap(&mut task) } else { self.attempt_in_place(&mut task) }
            })?;
            match attempt {
                EditAttempt::Done(report) => return Ok(report),
                EditAttempt::NoLease => {
                    if self.options.strategy == EditStrategy::Lease {
                        return Err(EditError::NoLease(path.clone()));
                    }
                    swap = true;
                    continue;
                }
                EditAttempt::Raced | EditAttempt::Busy if waited >= self.options.patience => {
                    return Err(EditError::Busy(path.clone(), begun.elapsed()));
                }
                EditAttempt::Raced => {}
                EditAttempt::Busy => {
                    // A mere reader, such as `tail -f`, may do so for days.
                    let long = waited >= self.options.patience / 2;
                    if long && self.options.strategy == EditStrategy::Auto && self.only_read(path) {
                        swap = true;
                        continue;
                    }
                }
            }
            let step = pause.min(self.options.patience.saturating_sub(waited));
            std::thread::sleep(step);
            waited += step;
            pause = (pause * 2).min(Duration::from_millis(40));
        }
    }

    /// Whether the programs that have the file open only read it.
    fn only_read(&self, path: &NotePath) -> bool {
        let opened = self.vault.open_file(path, rustix::fs::OFlags::RDONLY);
        opened.is_ok_and(|(file, _)| super::lease::no_writers(&file) == Some(true))
    }

    /// Finishes an edit once a note has its new bytes and may be opened again: notifies the observer, schedules the
    /// checks, and records the note's length.
    pub(super) fn finished(&self, change: &ObservedChange<'_>) -> Option<String> {
        let now = self.clock.now();
        match change.after {
            Some(after) => lock(&self.known).accept(change.path, after.len() as u64, now),
            None => lock(&self.known).forget(change.path),
        }
        lock(&self.follow_ups).record_write(change.path, now);
        self.notify_observer(change)
    }

    /// Notifies the observer of a change, and returns its failure.
    pub(super) fn notify_observer(&self, change: &ObservedChange<'_>) -> Option<String> {
        let observer = self.observer.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        let (told, path) = (observer.changed(change), change.path);
        told.err().map(|error| {
            tracing::warn!(note = %path, %error, "a change was made but not recorded in history");
            format!("`{path}` was written, but history could not record it: {error}")
        })
    }

    /// Whether lines that a note lacks may still be on their way: it was cut to less than half its length within the last
    /// minute, or a conflict copy lies beside it. Otherwise its length is recorded.
    pub fn may_lack_lines(&self, path: &NotePath) -> bool {
        let now = self.clock.now();
        let Ok(Some(stat)) = self.vault.stat(path) else { return true };
        let mut known = lock(&self.known);
        if known.check(path, &stat, now).is_err() {
            return true;
        }
        known.accept(path, stat.size, now);
        drop(known);
        self.conflict_copy(path).is_some()
    }

    /// A conflict copy beside the note, which may be missing itself.
    pub fn conflict_copy(&self, path: &NotePath) -> Option<NotePath> {
        match guard::check_copies(path, &self.vault.locate(path).ok()?.dir) {
            Err(crate::vault::EditRefusal::ConflictCopy { copy, .. }) => Some(copy),
            _ => None,
        }
    }

    /// Of a missing note, one beside it whose name differs in the case of letters alone.
    pub fn other_case(&self, path: &NotePath) -> Option<NotePath> {
        let place = self.vault.locate(path).ok().filter(|_| !self.vault.exists(path))?;
        guard::other_case(path, &place.dir)
    }

    /// Fails for the reason for which an edit of the note, as it stands, would be refused. Nothing is written.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn check_writable(&self, path: &NotePath) -> Result<()> {
        let (_, stat) = self.open_to_write(path)?;
        self.check_content(path, &self.vault.read(path)?, &stat)?;
        Ok(guard::check_copies(path, &self.vault.locate(path)?.dir)?)
    }

    /// Refuses a file with these bytes if it is a note that is never written.
    pub(super) fn check_content(&self, path: &NotePath, bytes: &[u8], stat: &Stat) -> Result<()> {
        let stat = Stat { size: bytes.len() as u64, ..*stat };
        let shrunk = lock(&self.known).check(path, &stat, self.clock.now());
        if !self.settled.load(std::sync::atomic::Ordering::Relaxed) {
            shrunk?;
        }
        if let Some(line) = crate::vault::read::conflict::conflict_markers(bytes) {
            return Err(crate::vault::EditRefusal::ConflictMarkers(path.clone(), line).into());
        }
        let refusal = crate::vault::EditRefusal::not_understood(path, bytes);
        refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    /// Refuses a note with a conflicting copy beside it, unless the edit restores the note or merges the copy into it.
    pub(super) fn check_copies(&self, task: &EditTask<'_>, dir: &std::os::fd::OwnedFd) -> Result<()> {
        let is_merge = task.why.trailers.iter().any(|(key, _)| key == crate::vault::MERGES);
        if task.why.actor != crate::vault::Actor::Restore && !is_merge {
            guard::check_copies(task.path, dir)?;
        }
        Ok(())
    }
}
