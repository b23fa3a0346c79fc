//! Taking back the agent's last writes, and only those.
//!
//! Each write is taken back from the note as it is now: a three-way merge first, and where that finds
//! lines side by side that it can't tell apart, line by line by content (what the agent added goes if it
//! still stands there exactly once, what it removed comes back beside its old neighbour). If neither is
//! certain, it is a conflict: it is shown and nothing is written. Lines of people never change.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use serde::Serialize;
use similar::DiffTag;

use crate::format::changes::changes;
use crate::format::summary;
use crate::history::error::Result;
use crate::history::read::{DiffStyle, FileDiff, render};
use crate::history::read::{Filter, Record};
use crate::history::store::Mode;
use crate::history::store::{TEMPLATE, TRANSCRIPT, UNDOES};
use crate::history::take::History;
use crate::vault::{Actor, BOOKKEEPING, Editor, NotePath, OPERATION, Operation, VaultError, Why};

/// An operation's first write is looked for among so many that came before its last.
const OPERATION_REACH: usize = 64;

/// A write that can't be taken back without a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The commit's short id.
    pub commit: String,
    /// What it did.
    pub subject: String,
    /// The note.
    pub path: String,
    /// Why, in words.
    pub reason: String,
    /// What the agent had changed, as a diff.
    pub diff: String,
}

/// What an undo is going to do.
#[derive(Debug, Clone, Default)]
pub struct UndoPlan {
    /// The writes that are taken back, newest first.
    pub writes: Vec<Record>,
    /// Each note now and afterwards.
    pub notes: BTreeMap<String, NoteUndo>,
    /// Where it can't be done; these writes stay as they are.
    pub conflicts: Vec<Conflict>,
}

/// A note before and after an undo; `None` for no such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteUndo {
    /// As it stands.
    pub now: Option<Vec<u8>>,
    /// As it will stand.
    pub after: Option<Vec<u8>>,
}

/// What an undo did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UndoReport {
    /// The commits that were taken back, newest first.
    pub undone: Vec<String>,
    /// The notes that were written.
    pub notes: Vec<String>,
    /// Notes that changed under the pen; their writes stand as they were.
    pub skipped: Vec<String>,
}

/// `current` without what turned `before` into `after`; `None` where that isn't certain.
pub fn take_back(before: &[u8], after: &[u8], current: &[u8]) -> Option<Vec<u8>> {
    if current == after {
        return Some(before.to_vec());
    }
    if let Ok(merged) = diffy::merge_bytes(after, current, before)
        && keeps_lines(after, current, &merged)
    {
        return Some(merged);
    }
    by_content(before, after, current)
}

/// Whether every line that people added to `base` is still in `merged`.
fn keeps_lines(base: &[u8], current: &[u8], merged: &[u8]) -> bool {
    let mut left = counts(merged);
    added(base, current).iter().all(|line| {
        let count = left.entry(line.as_slice()).or_default();
        *count -= 1;
        *count >= 0
    })
}

fn counts(bytes: &[u8]) -> BTreeMap<&[u8], i64> {
    let mut out = BTreeMap::new();
    for line in lines(bytes) {
        *out.entry(body(line)).or_default() += 1;
    }
    out
}

fn added(old: &[u8], new: &[u8]) -> Vec<Vec<u8>> {
    let (old, new) = (lines(old), lines(new));
    let changes = changes(&old, &new);
    let inserted = changes.iter().filter(|op| op.tag() != DiffTag::Equal).flat_map(|op| &new[op.new_range()]);
    inserted.map(|line| body(line).to_vec()).collect()
}

/// Line by line: what was added goes, what was removed comes back next to a neighbour.
fn by_content(before: &[u8], after: &[u8], current: &[u8]) -> Option<Vec<u8>> {
    let (old, new) = (lines(before), lines(after));
    let mut text: Vec<Vec<u8>> = lines(current).into_iter().map(<[u8]>::to_vec).collect();
    for op in changes(&old, &new) {
        let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
        if op.tag() == DiffTag::Equal {
            continue;
        }
        if come.is_empty() {
            // Only removed: it goes back after the line that stood before it, or before the next.
            let previous = op.new_range().start.checked_sub(1).map(|at| new[at]);
            let next = new.get(op.new_range().end).copied();
            let at = match (previous.map(|line| find(&text, &[line])), next.map(|line| find(&text, &[line])))
            {
                (Some(Some(at)), _) => at + 1,
                (None, _) => 0,
                (_, Some(Some(at))) => at,
                (_, None) => text.len(),
                _ => return None,
            };
            splice(&mut text, at, 0, gone);
        } else {
            let at = find(&text, come)?;
            splice(&mut text, at, come.len(), gone);
        }
    }
    Some(text.concat())
}

/// Where `run` stands in `text`, if it does so exactly once; line ends don't count.
fn find(text: &[Vec<u8>], run: &[&[u8]]) -> Option<usize> {
    let is_at = |at: usize| run.iter().zip(&text[at..]).all(|(a, b)| body(a) == body(b));
    let last = text.len().checked_sub(run.len())?;
    let mut places = (0..=last).filter(|at| is_at(*at));
    let at = places.next()?;
    places.next().is_none().then_some(at)
}

/// Replaces lines, and keeps every line but the last ended.
fn splice(text: &mut Vec<Vec<u8>>, at: usize, remove: usize, with: &[&[u8]]) {
    let ended = text.last().is_none_or(|line| line.ends_with(b"\n"));
    text.splice(at..at + remove, with.iter().map(|line| line.to_vec()));
    let end: &[u8] = if text.iter().any(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
    let count = text.len();
    for (index, line) in text.iter_mut().enumerate() {
        let is_last = index + 1 == count;
        if !line.ends_with(b"\n") && (!is_last || ended && at + with.len() == count && !with.is_empty()) {
            line.extend(end);
        }
    }
}

pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A line without its terminator.
pub(crate) fn body(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl History {
    /// Works out how to take back the agent's last `count` writes; those that share an [`OPERATION`] are one. Undone
    /// writes, undos, transcripts, summaries, the template and bookkeeping don't count.
    ///
    /// # Errors
    /// The history or a note can't be read.
    pub fn plan_undo(&self, count: usize) -> Result<UndoPlan> {
        let mut undone: HashSet<String> = HashSet::new();
        let mut plan = UndoPlan::default();
        let agent = Filter { actor: Some("agent".into()), ..Filter::default() };
        if count == 0 {
            return Ok(plan);
        }
        // What an operation wrote stands close together, but others may have written in between.
        let (mut operations, mut begun, mut beyond) = (HashSet::new(), 0, 0);
        self.log(&agent, |record| {
            let message = &record.commit.message;
            let undoes: Vec<&str> = message.all(UNDOES).collect();
            let operation = message.trailer(OPERATION).map(str::to_owned);
            if [TRANSCRIPT, TEMPLATE, BOOKKEEPING, summary::TRAILER]
                .iter()
                .any(|key| message.trailer(key).is_some())
            {
                // What was said can't be unsaid, a vault isn't unmade, and a summary comes back by itself.
            } else if !undoes.is_empty() {
                undone.extend(undoes.into_iter().map(str::to_owned));
            } else if !undone.contains(&record.commit.id.to_string()) {
                if operation.as_ref().is_some_and(|operation| operations.contains(operation)) {
                    plan.writes.push(record);
                } else if begun < count {
                    begun += 1;
                    operations.extend(operation);
                    plan.writes.push(record);
                }
            }
            beyond += usize::from(begun >= count);
            let done = begun >= count && (operations.is_empty() || beyond > OPERATION_REACH);
            Ok(if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        for record in std::mem::take(&mut plan.writes) {
            let (notes, conflicts) = (plan.notes.clone(), plan.conflicts.len());
            self.plan_write(&record, &mut plan)?;
            if plan.conflicts.len() > conflicts {
                plan.notes = notes;
            } else {
                plan.writes.push(record);
            }
        }
        plan.notes.retain(|_, note| note.now != note.after);
        Ok(plan)
    }

    fn plan_write(&self, record: &Record, plan: &mut UndoPlan) -> Result<()> {
        for change in &record.changes {
            let diff = self.file_diff(change)?;
            let now = match plan.notes.get(&change.path) {
                Some(note) => note.after.clone(),
                None => self.read_now(&change.path)?,
            };
            let link = [&diff.old, &diff.new].into_iter().flatten().any(|(mode, _)| *mode == Mode::Link);
            let bytes = |side: &Option<(Mode, Vec<u8>)>| side.as_ref().map(|(_, bytes)| bytes.clone());
            let (before, after) = (bytes(&diff.old), bytes(&diff.new));
            let result = match (&before, &after, &now) {
                _ if link => Err("it is a symbolic link"),
                _ if now == after => Ok(before.clone()),
                _ if now == before => Ok(before.clone()),
                // Created by the agent and changed since: what people wrote in it stays.
                (None, Some(after), Some(now)) => match take_back(b"", after, now) {
                    Some(left) => Ok(Some(left)),
                    None => Err("it has been changed where the agent wrote"),
                },
                (_, Some(_), None) => Err("the note has been removed since"),
                (Some(_), None, Some(_)) => Err("there is a new note of that name"),
                (Some(before), Some(after), Some(now)) => {
                    take_back(before, after, now).map(Some).ok_or("it has been changed where the agent wrote")
                }
                (None | Some(_), None, None) => Ok(before.clone()),
                (None, None, Some(_)) => Ok(now.clone()),
            };
            match result {
                Ok(after) => {
                    let first = plan.notes.get(&change.path).map_or(now, |note| note.now.clone());
                    plan.notes.insert(change.path.clone(), NoteUndo { now: first, after });
                }
                Err(reason) => plan.conflicts.push(conflict(record, &diff, reason)),
            }
        }
        Ok(())
    }

    fn read_now(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let Ok(path) = NotePath::new(path) else { return Ok(None) };
        match self.vault().read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(VaultError::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what `plan` says, a commit a note. A note that changed meanwhile is left alone and named.
    ///
    /// # Errors
    /// A note can't be written; those before it have been.
    pub fn undo(&self, editor: &Editor, plan: &UndoPlan) -> Result<UndoReport> {
        let mut report = UndoReport::default();
        for (path, note) in &plan.notes {
            let Ok(path) = NotePath::new(path) else { continue };
            let writes =
                plan.writes.iter().filter(|write| write.changes.iter().any(|c| c.path == path.as_str()));
            let why = undo_reason(writes);
            let operation = match (&note.now, &note.after) {
                (Some(now), None) => Operation::RemoveFile { expect: now.clone() },
                (now, Some(after)) => Operation::ReplaceAll { expect: now.clone(), with: after.clone() },
                (None, None) => continue,
            };
            let edit = editor.edit(&path, &[operation], &why).map_err(|error| {
                crate::history::error::HistoryError::Edit {
                    path: path.to_string(),
                    reason: error.to_string(),
                }
            })?;
            if edit.all_done() { &mut report.notes } else { &mut report.skipped }.push(path.to_string());
        }
        let whole =
            |write: &&Record| !write.changes.iter().any(|change| report.skipped.contains(&change.path));
        report.undone = plan.writes.iter().filter(whole).map(|write| write.commit.id.to_string()).collect();
        Ok(report)
    }
}

fn undo_reason<'a>(writes: impl Iterator<Item = &'a Record>) -> Why {
    let (mut subjects, mut trailers) = (Vec::new(), Vec::new());
    for write in writes {
        subjects.push(write.commit.message.subject.clone());
        trailers.push((UNDOES.to_owned(), write.commit.id.to_string()));
    }
    let subject = match subjects.as_slice() {
        [one] => format!("undid: {one}"),
        many => format!("undid {} writes", many.len()),
    };
    let body = (subjects.len() > 1).then(|| subjects.join("\n"));
    Why { actor: Actor::Restore, subject, body, trailers }
}

fn conflict(record: &Record, diff: &FileDiff, reason: &str) -> Conflict {
    Conflict {
        commit: crate::history::store::short_id(record.commit.id),
        subject: record.commit.message.subject.clone(),
        path: diff.path.clone(),
        reason: reason.to_owned(),
        diff: render(diff, DiffStyle::Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(before: &str, after: &str, now: &str) -> Option<String> {
        take_back(before.as_bytes(), after.as_bytes(), now.as_bytes()).map(|b| String::from_utf8(b).unwrap())
    }

    #[test]
    fn what_people_changed_since_stays() {
        assert_eq!(back("a\n", "a\nagent\n", "a\nagent\nmine\n").as_deref(), Some("a\nmine\n"));
        assert_eq!(back("a\nb\nc\n", "a\nc\n", "a\nmine\nc\n").as_deref(), Some("a\nb\nmine\nc\n"));
        assert_eq!(back("a\nb\n", "a\nB\n", "top\na\nB\n").as_deref(), Some("top\na\nb\n"));
        assert_eq!(back("a\nb", "a\n", "a\n").as_deref(), Some("a\nb"));
        assert_eq!(back("", "agent\n", "agent\nmine").as_deref(), Some("mine"));
    }

    #[test]
    fn a_line_that_people_rewrote_is_a_conflict() {
        assert_eq!(back("a\nb\n", "a\nB\n", "a\nB!\n"), None);
        assert_eq!(back("a\n", "a\nx\n", "x\na\nx\nx\n"), None);
    }

    proptest! {
        #[test]
        fn no_line_of_a_person_is_lost(
            base in proptest::collection::vec("[a-d]", 0..6),
            agent in proptest::collection::vec((0usize..6, proptest::option::of("agent[0-3]")), 1..3),
            human in proptest::collection::vec((0usize..8, "human[0-9]"), 0..4),
        ) {
            let text = |lines: &[String]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
            let mut after = base.clone();
            for (at, line) in agent {
                match line {
                    Some(line) => after.insert(at.min(after.len()), line),
                    None if at < after.len() => drop(after.remove(at)),
                    None => {}
                }
            }
            let mut now = after.clone();
            for (at, line) in &human {
                now.insert((*at).min(now.len()), line.clone());
            }
            if let Some(result) = back(&text(&base), &text(&after), &text(&now)) {
                for (_, line) in &human {
                    prop_assert!(result.contains(line.as_str()), "{result}");
                }
                // Without the person's lines it is what it was before the agent wrote.
                let rest: String = result.lines().filter(|l| !l.starts_with("human")).map(|l| format!("{l}\n")).collect();
                let mut sorted: Vec<_> = rest.lines().map(str::to_owned).collect();
                let mut wanted = base.clone();
                sorted.sort();
                wanted.sort();
                prop_assert_eq!(sorted, wanted);
            }
        }
    }
}
