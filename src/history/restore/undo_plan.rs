//! Plans an undo without writing anything, so that the undo can be shown first.
//!
//! Snapshots are read from the newest back; writes with the same [`OPERATION`] are one operation. Each write is
//! reverted in the note's present text ([`revert`](super::revert)). An operation is undone as a whole or not at all. It
//! stays if a person has changed the same lines since, or if one of its notes is in no snapshot.

use super::merge_check::{MergeCheck, markers, note_of_copy};
use super::revert::revert_change;
use crate::history::error::{HistoryError, Result};
use crate::history::prelude::*;
use crate::history::read::{CommitRecord, DiffStyle, FileDiff, LogFilter, render};
use crate::history::store::{ASKED_TURN_PREFIX, CONVERSATION, Commit, FileMode, LEFT_OUT, UNDOES, turn_of};
use crate::history::take::{History, is_skipped_by_undo, mode_of};
use crate::vault::{MERGES, NotePath, OPERATION};

/// The number of earlier writes among which further writes of an operation are searched.
const OPERATION_REACH: usize = 64;

/// The writes to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoSelection {
    /// The agent's last operations, so many.
    Last(usize),
    /// The operation that made a snapshot: its id or the beginning of it, `HEAD`, `HEAD~2`.
    Snapshot(String),
    /// All that one turn of the assistant changed, and the brains that it asked, by the turn's id.
    Turn(String),
}

impl From<usize> for UndoSelection {
    fn from(count: usize) -> Self {
        Self::Last(count)
    }
}

/// An operation that can't be taken back without a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The commit's short id.
    pub commit: String,
    /// Its changes.
    pub subject: String,
    /// The note.
    pub path: String,
    /// Why, in words.
    pub reason: String,
    /// The agent's change as a diff; empty where no snapshot holds it.
    pub diff: String,
}

/// The plan of an undo.
#[derive(Debug, Clone, Default)]
pub struct UndoPlan {
    /// The writes that are taken back, newest first.
    pub writes: Vec<CommitRecord>,
    /// Each note now and afterwards.
    pub notes: BTreeMap<String, FileDiff>,
    /// Conflicts; these operations stay as they are.
    pub conflicts: Vec<Conflict>,
}

/// One operation of an [`UndoPlan`], for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperationUndo {
    /// Its subject.
    pub subject: String,
    /// Its writer.
    pub actor: String,
    /// When it was done: the time of its last write.
    pub at: jiff::Timestamp,
    /// The snapshots that it made, newest first, by their whole ids.
    pub snapshots: Vec<String>,
    /// The notes that it changed.
    pub notes: Vec<String>,
}

impl Conflict {
    fn of(record: &CommitRecord, path: &str, reason: impl Into<String>, diff: String) -> Self {
        let (commit, subject) = (record.commit.short(), record.commit.message.subject.clone());
        Self { commit, subject, path: path.to_owned(), reason: reason.into(), diff }
    }
}

impl OperationUndo {
    /// Of an operation's writes, newest first; there is one at least.
    fn of(writes: &[&CommitRecord]) -> Self {
        let newest = &writes[0].commit;
        let subjects: BTreeSet<&str> = writes.iter().map(|it| it.commit.message.subject.as_str()).collect();
        let subject = &newest.message.subject;
        let notes: BTreeSet<&str> =
            writes.iter().flat_map(|it| &it.changes).map(|change| change.path.as_str()).collect();
        Self {
            subject: match subjects.len() {
                1 => subject.clone(),
                count => format!("{subject}, and {} more", count - 1),
            },
            actor: newest.message.actor().to_owned(),
            at: newest.time,
            snapshots: writes.iter().map(|write| write.commit.id.to_string()).collect(),
            notes: notes.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl UndoPlan {
    /// The operations that are taken back, newest first.
    pub fn operations(&self) -> Vec<OperationUndo> {
        let mut units: Vec<(String, Vec<&CommitRecord>)> = Vec::new();
        for write in &self.writes {
            let name = unit(write);
            match units.iter_mut().find(|(known, _)| *known == name) {
                Some((_, writes)) => writes.push(write),
                None => units.push((name, vec![write])),
            }
        }
        units.iter().map(|(_, writes)| OperationUndo::of(writes)).collect()
    }
}

/// The operations: each is taken back as a whole, or not at all.
fn unit(record: &CommitRecord) -> String {
    record.commit.message.trailer(OPERATION).map_or_else(|| record.commit.id.to_string(), str::to_owned)
}

impl History {
    /// Plans the undo of the agent's last operations, of one operation, or of a turn. Undone writes,
    /// undos, transcripts, summaries, the template and bookkeeping don't count among the last; an undo that is named by
    /// its snapshot is taken back like any other write.
    ///
    /// # Errors
    /// The history or a note can't be read; the snapshot that is named isn't there, isn't the agent's or was undone.
    pub fn plan_undo(&self, what: impl Into<UndoSelection>) -> Result<UndoPlan> {
        let writes = match what.into() {
            UndoSelection::Last(count) => {
                let is_meant = |it: &Commit, begun| begun < count && it.message.trailer(UNDOES).is_none();
                self.writes_where(is_meant, count, OPERATION_REACH)?
            }
            UndoSelection::Snapshot(id) => self.writes_with(&id)?,
            UndoSelection::Turn(turn) => {
                let is_meant = |it: &Commit, _| {
                    let made = it.message.trailer(CONVERSATION).and_then(turn_of);
                    let asked = made.and_then(|made| made.strip_prefix(ASKED_TURN_PREFIX));
                    [made, asked].contains(&Some(turn.trim()))
                };
                let writes = self.writes_where(is_meant, 1, usize::MAX)?;
                if writes.is_empty() {
                    let words = format!("the turn `{turn}` has changed nothing that could be undone");
                    return Err(HistoryError::NotUndoable(words));
                }
                writes
            }
        };
        self.plan_of(writes)
    }

    /// The writes of the operation that made a snapshot.
    fn writes_with(&self, id: &str) -> Result<Vec<CommitRecord>> {
        let commit = self.point(id)?;
        let message = &commit.message;
        let refused = |why: &str| {
            Err(HistoryError::NotUndoable(format!("`{}` ({}) {why}", commit.short(), message.subject)))
        };
        if message.actor() == "human" || is_skipped_by_undo(message) {
            return refused("is no write of the agent that could be undone");
        }
        let operation = message.trailer(OPERATION);
        let is_same = |other: &Commit| operation.is_some() && other.message.trailer(OPERATION) == operation;
        let is_meant = |other: &Commit, _| other.id == commit.id || is_same(other);
        let writes = self.writes_where(is_meant, 1, OPERATION_REACH)?;
        if writes.iter().any(|write| write.commit.id == commit.id) {
            return Ok(writes);
        }
        refused("was undone already")
    }

    /// The writes that weren't undone, newest first: those for which `is_meant` is true (it also gets the number of
    /// operations before them), and all other writes of their operations. An operation's writes are close together, so
    /// the search ends when at least `least` operations were found and `reach` other writes follow the last one taken.
    pub(super) fn writes_where(
        &self,
        is_meant: impl Fn(&Commit, usize) -> bool,
        least: usize,
        reach: usize,
    ) -> Result<Vec<CommitRecord>> {
        let (mut undone, mut operations) = (HashSet::new(), HashSet::new());
        let (mut writes, mut begun, mut beyond) = (Vec::new(), 0, 0);
        let agent = LogFilter { actor: Some("agent".into()), ..LogFilter::default() };
        self.log(&agent, |record| {
            let message = &record.commit.message;
            if is_skipped_by_undo(message) || undone.contains(&record.commit.id.to_string()) {
                return Ok(ControlFlow::Continue(()));
            }
            undone.extend(message.all(UNDOES).map(str::to_owned));
            let operation = message.trailer(OPERATION).map(str::to_owned);
            let known = operation.as_ref().is_some_and(|operation| operations.contains(operation));
            if known || is_meant(&record.commit, begun) {
                begun += usize::from(!known);
                operations.extend(operation);
                beyond = 0;
                writes.push(record);
            } else {
                beyond += usize::from(begun >= least);
            }
            Ok(if beyond > reach { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(writes)
    }

    /// The plan that reverts these writes, newest first: an operation as a whole or not at all.
    pub(super) fn plan_of(&self, mut writes: Vec<CommitRecord>) -> Result<UndoPlan> {
        let mut conflicts = Vec::new();
        let mut check = MergeCheck::new(&self.vault);
        loop {
            let mut plan = UndoPlan::default();
            let mut refused = None;
            for write in &writes {
                // Later writes rest on a refused one: the plan is made anew without it.
                if refused.as_ref().is_none_or(|refused| *refused == unit(write)) {
                    let known = plan.conflicts.len();
                    self.plan_write(write, &mut plan)?;
                    let unmerged = unmerged(write, &plan, &mut check);
                    plan.conflicts.extend(unmerged);
                    if plan.conflicts.len() > known {
                        refused = Some(unit(write));
                    }
                }
            }
            conflicts.append(&mut plan.conflicts);
            match refused {
                Some(refused) => writes.retain(|write| unit(write) != refused),
                None => {
                    plan.notes.retain(|_, note| note.old != note.new);
                    return Ok(UndoPlan { writes, conflicts, ..plan });
                }
            }
        }
    }

    fn plan_write(&self, record: &CommitRecord, plan: &mut UndoPlan) -> Result<()> {
        for path in record.commit.message.all(LEFT_OUT) {
            let reason = "no snapshot holds it (`[history] max_file_bytes`, `exclude`), so it can't be put back; \
                          what was written with it stays, too";
            plan.conflicts.push(Conflict::of(record, path, reason, String::new()));
        }
        type Side = Option<(FileMode, Vec<u8>)>;
        let bytes = |side: &Side| side.as_ref().map(|(_, bytes)| bytes.clone());
        let is_link = |side: &Side| matches!(side, Some((FileMode::Link, _)));
        for change in &record.changes {
            let diff = self.file_diff(change)?;
            let known = plan.notes.get(&change.path);
            let link = is_link(&diff.old) || is_link(&diff.new);
            let path = NotePath::new(&change.path).ok();
            let target = path.as_ref().filter(|_| link).and_then(|path| self.present_link(path));
            let now_side = match (known, target, path) {
                (Some(note), ..) => note.new.clone(),
                (None, Some(target), _) => Some((FileMode::Link, target)),
                (.., Some(path)) => {
                    let mode = self.vault.stat(&path)?.map_or(FileMode::File, |stat| mode_of(&stat));
                    self.vault.read_if_there(&path)?.map(|bytes| (mode, bytes))
                }
                (.., None) => None,
            };
            // The right to execute is as it was before the write, or as a person has set it since.
            let [old, new, now] =
                [&diff.old, &diff.new, &now_side].map(|it| it.as_ref().map(|(mode, _)| *mode));
            let mode = if old == new || old.is_none() { now.or(old) } else { old }.unwrap_or(FileMode::File);
            let stands = |side: &Side| is_link(side) == is_link(&now_side) && bytes(side) == bytes(&now_side);
            let (before, after, now) = (bytes(&diff.old), bytes(&diff.new), bytes(&now_side));
            let result = match (&before, &after, &now) {
                _ if stands(&diff.new) || stands(&diff.old) => Ok(before.clone()),
                _ if link => Err("a symbolic link has come, gone or changed there since"),
                (before, Some(after), Some(now)) => {
                    revert_change(before.as_deref().unwrap_or_default(), after, now)
                        .map(Some)
                        .ok_or("it has been changed where the agent wrote")
                }
                (_, Some(_), None) => Err("the note has been removed since"),
                (Some(_), None, Some(_)) => Err("there is a new note of that name"),
                (None | Some(_), None, None) => Ok(before.clone()),
                (None, None, Some(_)) => Ok(now.clone()),
            };
            match result {
                Ok(after) => {
                    let old = known.map_or(now_side, |note| note.old.clone());
                    let note = FileDiff { path: diff.path, old, new: after.map(|bytes| (mode, bytes)) };
                    plan.notes.insert(change.path.clone(), note);
                }
                Err(reason) => {
                    let shown = render(&diff, DiffStyle::Plain);
                    plan.conflicts.push(Conflict::of(record, &diff.path, reason, shown));
                }
            }
        }
        Ok(())
    }
}

/// The conflicts of a planned write with notes that a person has to merge first. A merge can be undone beside other
/// copies, and what left markers in a note with these markers.
fn unmerged(record: &CommitRecord, plan: &UndoPlan, check: &mut MergeCheck<'_>) -> Vec<Conflict> {
    let message = &record.commit.message;
    let is_merge = |path: &str| {
        let mut others = record.changes.iter();
        message.trailer(MERGES).is_some() || others.any(|it| note_of_copy(&it.path).as_deref() == Some(path))
    };
    let mut found = Vec::new();
    for change in &record.changes {
        let Some(FileDiff { path, old: Some((mode, now)), .. }) =
            plan.notes.get(&change.path).filter(|note| note.old != note.new)
        else {
            continue;
        };
        let Some(note) = NotePath::new(path).ok().filter(|_| *mode != FileMode::Link) else { continue };
        let is_left_by_it = |id: Oid| Oid::hash_object(ObjectType::Blob, now).is_ok_and(|own| own == id);
        let is_own = change.new.is_some_and(|new| is_left_by_it(new.id));
        let markers = if is_own { None } else { markers(&note, now) };
        let copy = if is_merge(path) { None } else { check.copy(&note, now) };
        let reason = markers.or(copy).map(|refusal| refusal.to_string());
        found.extend(reason.map(|reason| Conflict::of(record, path, reason, String::new())));
    }
    found
}
