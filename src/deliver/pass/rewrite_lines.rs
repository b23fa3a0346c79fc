//! Updates the notes after sending. A sent line is deleted or set to its next date, the block of a sent follow-up is
//! marked delivered, and missing ids are added.
//!
//! Each rewrite names a line by its bytes. If the note no longer has these bytes, a person has changed the line, and
//! the rewrite is dropped. The journal keeps the delivery's key, so nothing fires again.

use super::machine_lines::WriteOrder;
use super::notes::{PassNotes, ReminderNote};
use super::plan::text_hash;
use super::planned::{LineRewrite, PassPlan, PendingRewrite};
use super::reminders::meaning;
use super::{Pass, PassMode, PassReport, PassState};
use crate::deliver::delivery_journal::{DeliveryState, LineHash};
use crate::deliver::prelude::*;
use crate::format::commitment::{self, Commitment, CommitmentStatus};
use crate::format::reminder::{self, ReminderLine};
use crate::reminders::{id_of_line, rfc3339};
use crate::sqlite::Result;
use crate::vault::{
    Actor, BOOKKEEPING, ChangeReason, EditError, EditPlan as Change, EditReport, NotePath, OpOutcome,
    Operation,
};

/// A rewritten note is checked again after this, because an old buffer may have been saved over it.
const SECOND_LOOK: SignedDuration = SignedDuration::from_secs(5);

/// The time after which lines that wait for other machines are checked again; a change of the note or of the store is
/// noticed at once.
const TURN_LOOK: SignedDuration = SignedDuration::from_secs(30);

/// Rewrites both notes, as far as they are still.
pub(super) fn rewrite_notes(
    pass: Pass<'_>,
    memory: &mut PassState,
    notes: &PassNotes,
    plan: &PassPlan,
    report: &mut PassReport,
) -> Result<()> {
    forget_deleted_lines(pass, notes, plan)?;
    let order = WriteOrder::new(pass, memory, plan);
    let mut writer = LineRewriter { pass, memory, report };
    if let Some(note) = &notes.reminders {
        writer.observe(&pass.settings.reminders, &note.bytes);
        let ours = ours(&order, &plan.settles, writer.report);
        writer.write_settled(&pass.settings.reminders, &ours)?;
        if order.is_free() {
            writer.give_ids(note, &plan.settles)?;
        } else if note.without_id().next().is_some() {
            writer.report.request_pass(pass.later(TURN_LOOK));
        }
    }
    if let Some(note) = &notes.commitments {
        writer.observe(&pass.settings.commitments, &note.bytes);
        let ours = ours(&order, &plan.delivered, writer.report);
        writer.mark_delivered(&pass.settings.commitments, &ours)?;
    }
    Ok(())
}

/// The sent items of a note whose lines this machine rewrites now.
fn ours<T: Clone>(
    order: &WriteOrder<'_>,
    all: &[PendingRewrite<T>],
    report: &mut PassReport,
) -> Vec<PendingRewrite<T>> {
    let mut ours = Vec::new();
    for settle in all {
        match order.may_write(&settle.key, &settle.row) {
            Some(true) => ours.push(settle.clone()),
            Some(false) => report.request_pass(order.pass.later(TURN_LOOK)),
            None => {}
        }
    }
    ours
}

/// Marks deliveries as done whose line is deleted (by the person, or by an edit whose outcome was never recorded), and
/// deletes those that were never sent.
fn forget_deleted_lines(pass: Pass<'_>, notes: &PassNotes, plan: &PassPlan) -> Result<()> {
    // A reworded line without an id is kept track of while it is being edited.
    let reworded =
        plan.changed.iter().filter(|changed| changed.without_id).map(|changed| changed.key.as_str());
    let lines = plan.settles.iter().map(|settle| settle.key.as_str());
    let blocks = plan.delivered.iter().map(|settle| settle.key.as_str());
    let open: HashSet<&str> = lines.chain(blocks).chain(reworded).collect();
    let unsettled = pass.journal.unsettled()?;
    let was_read = |kind: MessageKind| match kind {
        MessageKind::Commitment => notes.commitments.is_some(),
        MessageKind::Task => notes.tasks.is_some(),
        _ => notes.reminders.is_some(),
    };
    let gone = unsettled.iter().filter(|(key, row)| was_read(row.fact.kind) && !open.contains(key.as_str()));
    let gone: Vec<&str> = gone.map(|(key, _)| key.as_str()).collect();
    if !gone.is_empty() {
        pass.journal.done(gone)?;
    }
    let unsent = pass.journal.open_deliveries()?;
    let gone = unsent.iter().filter(|row| was_read(row.fact.kind) && !plan.open.contains(&row.key));
    pass.journal.forget_unsent(gone.map(|row| row.key.as_str()))
}

struct LineRewriter<'a> {
    pass: Pass<'a>,
    memory: &'a mut PassState,
    report: &'a mut PassReport,
}

impl LineRewriter<'_> {
    fn observe(&mut self, path: &NotePath, bytes: &[u8]) {
        if self.pass.mode == PassMode::Daemon {
            self.memory.notes.observe(path, blake3::hash(bytes), self.pass.now);
        }
    }

    /// Whether the note may be rewritten now; else another pass is asked for. The wait for a note that is never still
    /// begins with the first call.
    fn may_write(&mut self, path: &NotePath) -> bool {
        if self.pass.mode != PassMode::Daemon {
            return true;
        }
        self.memory.notes.start_waiting(path, self.pass.now);
        let later = self.memory.notes.ready_at(path).filter(|at| *at > self.pass.now);
        later.into_iter().for_each(|at| self.report.request_pass(at));
        later.is_none()
    }

    /// Makes an edit; a failure goes into the report.
    fn edit(
        &mut self,
        path: &NotePath,
        operations: &[Operation],
        why: &ChangeReason,
    ) -> Option<Vec<OpOutcome>> {
        let edited = self.pass.editor.edit(path, operations, why);
        self.edited(path, edited)
    }

    fn edited(&mut self, path: &NotePath, edited: Result<EditReport, EditError>) -> Option<Vec<OpOutcome>> {
        match edited {
            Ok(edited) => {
                self.memory.notes.record_own_write(path, blake3::hash(&edited.after));
                self.report.problems.extend(edited.warning);
                if edited.changed && self.pass.mode == PassMode::Daemon {
                    self.report.request_pass(self.pass.later(SECOND_LOOK));
                }
                Some(edited.outcomes)
            }
            Err(error) if error.is_transient() && self.pass.mode == PassMode::Daemon => {
                tracing::info!(%path, %error, "a note is rewritten later");
                self.report.request_pass(self.pass.later(SECOND_LOOK));
                None
            }
            Err(error) => {
                // Several edits of one note fail for one reason.
                let problem = error.to_string();
                if !self.report.problems.contains(&problem) {
                    self.report.problems.push(problem);
                }
                None
            }
        }
    }

    fn write_settled(&mut self, path: &NotePath, settles: &[PendingRewrite<LineRewrite>]) -> Result<()> {
        if settles.is_empty() || !self.may_write(path) {
            return Ok(());
        }
        let mut operations: Vec<Operation> = Vec::with_capacity(settles.len());
        let mut index: HashMap<&[u8], usize> = HashMap::new();
        for LineRewrite { line, with, .. } in settles.iter().map(|settle| &settle.target) {
            index.entry(line).or_insert_with(|| {
                let line = line.clone();
                operations.push(match with.clone() {
                    Some(with) => Operation::ReplaceLine { line, with },
                    None => Operation::DeleteLine { line },
                });
                operations.len() - 1
            });
        }
        fail::fail_point!("deliver::before-rewrite");
        let Some(outcomes) = self.edit(path, &operations, &self.why(settles)) else { return Ok(()) };
        fail::fail_point!("deliver::after-rewrite");
        let outcome =
            |settle: &PendingRewrite<LineRewrite>| outcomes.get(index[settle.target.line.as_slice()]);
        let done: Vec<_> = settles
            .iter()
            .filter(|settle| outcome(settle).is_some_and(|outcome| outcome.is_done()))
            .collect();
        let ids = done.iter().filter_map(|settle| settle.target.id);
        self.report.ids_added.extend(ids.map(|id| id.to_string()));
        self.written_down(&done)
    }

    /// Marks every block with the sent text; one whose words the person has changed since is left alone.
    fn mark_delivered(&mut self, path: &NotePath, settles: &[PendingRewrite<LineHash>]) -> Result<()> {
        if settles.is_empty() || !self.may_write(path) {
            return Ok(());
        }
        let sent: HashSet<LineHash> = settles.iter().map(|settle| settle.target).collect();
        let mut marked = HashSet::new();
        fail::fail_point!("deliver::before-rewrite");
        let edited = self.pass.editor.edit_with(path, &self.why(settles), |bytes| {
            marked.clear();
            let is_meant = |commitment: &Commitment| {
                let hash = text_hash(commitment);
                let is_meant = sent.contains(&hash);
                marked.extend(is_meant.then_some(hash));
                is_meant
            };
            Change::Bytes(commitment::set_each(
                bytes,
                CommitmentStatus::Pending,
                CommitmentStatus::Delivered,
                is_meant,
            ))
        });
        if self.edited(path, edited).is_none() {
            return Ok(());
        }
        fail::fail_point!("deliver::after-rewrite");
        let done: Vec<_> = settles.iter().filter(|settle| marked.contains(&settle.target)).collect();
        self.written_down(&done)
    }

    /// Records that the note now says that these were sent.
    fn written_down<T>(&mut self, done: &[&PendingRewrite<T>]) -> Result<()> {
        for settle in done {
            if settle.row.state == DeliveryState::Done {
                self.report.removed_again.push(settle.row.fact.id.clone());
            }
        }
        self.pass.journal.done(done.iter().map(|settle| settle.key.as_str()))?;
        Ok(())
    }

    fn why<T>(&self, settles: &[PendingRewrite<T>]) -> ChangeReason {
        let again = settles.iter().all(|settle| settle.row.state == DeliveryState::Done);
        let verb = if again { "had fired already" } else { "fired" };
        let mut why = match settles {
            [one] => {
                ChangeReason::new(Actor::Scheduler, format!("{verb}: {}", first_line(&one.row.fact.msg)))
            }
            many => {
                let mut why =
                    ChangeReason::new(Actor::Scheduler, format!("{verb}: {} reminders", many.len()));
                let lines: Vec<&str> = many.iter().map(|settle| first_line(&settle.row.fact.msg)).collect();
                why.body = Some(lines.join("\n"));
                why
            }
        };
        if again {
            // Taken back, it would be done again by the next pass: an `undo` would never get past it.
            why = why.trailer(BOOKKEEPING, "fired");
        }
        for settle in settles {
            let fact = &settle.row.fact;
            let name = if fact.kind == MessageKind::Commitment { "Commitment" } else { "Reminder" };
            why = why.trailer(name, fact.id.clone());
            why = why.trailer("Due", rfc3339(fact.due, self.pass.settings.zone.tz()));
            if let Some(delivered) = &settle.row.delivered {
                why = why.trailer("Delivery", delivered.clone());
            }
        }
        why
    }

    /// Gives an id to each line that has none, was the same five seconds ago and ends in a newline.
    fn give_ids(&mut self, note: &ReminderNote, settled: &[PendingRewrite<LineRewrite>]) -> Result<()> {
        let mut times: HashMap<LineHash, u32> = HashMap::new();
        for line in note.without_id() {
            *times.entry(meaning(&line.reminder)).or_default() += 1;
        }
        let rewritten: HashSet<&[u8]> = settled.iter().map(|settle| settle.target.line.as_slice()).collect();
        // Lines of one meaning without an id can't be told apart; they fire as one.
        let mut lines: Vec<&ReminderLine> = note
            .without_id()
            .filter(|line| line.terminated && times[&meaning(&line.reminder)] == 1)
            .filter(|line| !rewritten.contains(line.text.as_slice()))
            .collect();
        if self.pass.mode == PassMode::Daemon {
            let all = lines.len();
            lines.retain(|line| self.memory.lines.is_steady(&line.text, self.pass.now));
            if lines.len() < all {
                self.report.request_pass(self.pass.later(SECOND_LOOK));
            }
        }
        let path = &self.pass.settings.reminders;
        if lines.is_empty() || !self.may_write(path) {
            return Ok(());
        }
        let ids = self.ids_for(&lines, note)?;
        let operations: Vec<Operation> = lines
            .iter()
            .zip(&ids)
            .map(|(line, id)| Operation::ReplaceLine {
                line: line.text.clone(),
                with: reminder::with_id(&line.text, id),
            })
            .collect();
        let mut why = match ids.as_slice() {
            [_] => ChangeReason::new(Actor::Scheduler, "id given to a reminder"),
            many => ChangeReason::new(Actor::Scheduler, format!("ids given to {} reminders", many.len())),
        };
        why = why.trailer(BOOKKEEPING, "ids");
        why = ids.iter().take(100).fold(why, |why, id| why.trailer("Reminder", id.to_string()));
        fail::fail_point!("deliver::before-ids");
        let Some(outcomes) = self.edit(path, &operations, &why) else { return Ok(()) };
        fail::fail_point!("deliver::after-ids");
        let given = ids.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_done());
        self.report.ids_added.extend(given.map(|(id, _)| id.to_string()));
        Ok(())
    }

    /// An id for each line: the one that this line was given before, else a new one; on disk before
    /// it is written.
    fn ids_for(&self, lines: &[&ReminderLine], note: &ReminderNote) -> Result<Vec<ReminderId>> {
        let mut taken = note.ids();
        let mut new: Vec<(LineHash, ReminderId)> = Vec::new();
        let mut ids = Vec::with_capacity(lines.len());
        for line in lines {
            let meaning = meaning(&line.reminder);
            let id = match self.pass.journal.name(&meaning)?.filter(|id| !taken.contains(id)) {
                Some(id) => id,
                None => {
                    let note = &self.pass.settings.reminders;
                    let id = id_of_line(note, &line.reminder, |id| taken.contains(id));
                    new.push((meaning, id));
                    id
                }
            };
            taken.insert(id);
            ids.push(id);
        }
        self.pass.journal.set_names(&new)?;
        Ok(ids)
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
