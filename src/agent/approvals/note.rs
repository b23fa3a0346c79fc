//! Reads and changes the note of approvals: adds a question, reads a person's decision from its checkbox, and closes a
//! decided question. A question without a decision expires after half an hour, its deadline.
//!
//! Every change is made to the newest bytes under the note's lock. So an approval is used once, even if several
//! programs check the note at the same time. A question's line stays in the note for a day after the deadline, whether
//! the question was decided or not. Then it is removed when the next question is added or closed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::agent::tools::ApprovalSubject;
use crate::format::approval::{self, Approval, ApprovalLine, ApprovalState, CheckboxMark};
use crate::format::lines::terminator_of;
use crate::turn::turn_journal::OpenApproval;
use crate::vault::{
    Actor, BOOKKEEPING, ChangeReason, EditError, EditPlan, EditReport, Editor, NotePath, Operation,
};

/// The text above the note's lines.
const HEADER: &str = "# Approvals

Actions of the assistant that need your approval. Tick a line to allow just that, once. Put `-` into its box, or delete the line, to decline. A line without an answer in time says `state=expired`: that is no \"no\", and it can be asked again. Settled lines are removed after a day.
";

/// How long a question waits for its answer.
pub(super) const ANSWER_TIME: SignedDuration = SignedDuration::from_mins(30);
/// How long an ended line is kept.
const KEEP_ENDED: SignedDuration = SignedDuration::from_hours(24);

/// The note.
#[derive(Clone)]
pub(super) struct ApprovalsNote {
    pub editor: Arc<Editor>,
    pub path: NotePath,
}

impl ApprovalsNote {
    pub fn read(&self) -> Result<Vec<u8>, String> {
        self.editor.vault().read_or_empty(&self.path).map_err(|error| error.to_string())
    }

    /// The line for exactly this question, added if missing. It is on disk when this returns. It
    /// waits for a decision, or holds a reusable one.
    pub fn add_or_find(
        &self,
        subject: &ApprovalSubject,
        brain: &str,
        turn: &str,
        now: Timestamp,
    ) -> Result<Approval, String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| format!("no random numbers for an id: {error}"))?;
        let open = OpenApproval {
            id: approval::id_from_random(random),
            until: whole_minute(now.saturating_add(ANSWER_TIME).unwrap_or(now)),
        };
        let new = line(subject, brain, turn, open);
        let stands = |bytes: &[u8]| matching_line(bytes, &new, subject.reusable);
        if let Some(line) = stands(&self.read()?) {
            return Ok(line);
        }
        fail::fail_point!("approval::before-line");
        let mut known = None;
        let why = ChangeReason::new(Actor::Assistant, "asked for approval").trailer("Approval", &new.id);
        let report = self.edit(why, |bytes| {
            // A save that was under way is done by now, and another process may have asked the same.
            known = stands(bytes);
            if known.is_some() {
                return Vec::new();
            }
            let mut operations = expire_questions(bytes, now, None);
            let added = format!("{}\n", new.to_line());
            let text = if bytes.is_empty() { format!("{HEADER}\n{added}") } else { added };
            let text = text.replace('\n', terminator_of(bytes)).into_bytes();
            // In code or a comment that the note's end leaves open, the line could not be ticked.
            let seen = approval::parse(&[bytes, b"\n", &text].concat());
            if !seen.lines.iter().any(|line| line.approval.id == new.id) {
                return Vec::new();
            }
            operations.push(Operation::Append { text });
            operations
        })?;
        if let Some(line) = known {
            return Ok(line);
        }
        if !approval::parse(&report.after).lines.iter().any(|line| line.approval.id == new.id) {
            let place = format!("a line at the end of `{}`", self.path);
            return Err(format!("{place} would stand in code or a comment: close it first"));
        }
        Ok(new)
    }

    /// The line of this question from an earlier try, whether or not it still stands in the note.
    pub fn earlier_line(
        &self,
        subject: &ApprovalSubject,
        brain: &str,
        turn: &str,
        before: &OpenApproval,
    ) -> Result<Approval, String> {
        let lines = approval::parse(&self.read()?).lines.into_iter();
        // Another brain of the chain may make the call by now.
        let asked = lines.map(|line| line.approval).find(|known| known.id == before.id);
        let brain = asked.as_ref().map_or(brain, |known| &known.brain);
        Ok(line(subject, brain, turn, before.clone()))
    }

    /// How a question has ended, or ends now if it needs no answer any more (`otherwise`); none if there is no decision
    /// yet. If it has ended, the note says so, too, when this returns.
    pub fn settle(
        &self,
        asked: &Approval,
        reusable: bool,
        now: Timestamp,
        otherwise: Option<ApprovalState>,
    ) -> Result<Option<ApprovalState>, String> {
        if otherwise.is_none() && judge(&self.read()?, asked, reusable, now).0.is_none() {
            return Ok(None);
        }
        let id = &asked.id;
        let why = ChangeReason::new(Actor::Assistant, "approval settled").trailer("Approval", id);
        let (mut found, mut writes) = (None, false);
        let report = self.edit(why, |bytes| {
            let (judged, lines) = judge(bytes, asked, reusable, now);
            found = judged.or(otherwise);
            let Some(state) = found else { return Vec::new() };
            let open = lines.into_iter().filter(|line| line.approval.is_open());
            let mut operations: Vec<Operation> = open.map(|line| ended(line.text, state)).collect();
            writes = !operations.is_empty();
            operations.extend(expire_questions(bytes, now, Some(id)));
            operations
        })?;
        // An approval counts only where this call wrote `used` into the note; a reusable one, whichever call did.
        let is_used =
            |line: &ApprovalLine| line.approval.id == *id && line.approval.state == Some(ApprovalState::Used);
        let counts = || (writes || reusable) && approval::parse(&report.after).lines.iter().any(is_used);
        Ok(match found {
            Some(ApprovalState::Used) if !counts() => Some(ApprovalState::Changed),
            found => found,
        })
    }

    /// Marks expired questions without a waiting call.
    pub fn expire_questions(&self, now: Timestamp) -> Result<(), String> {
        let left = approval::parse(&self.read()?);
        if left.lines.iter().any(|line| line.approval.is_open() && line.approval.until <= now) {
            let why = ChangeReason::new(Actor::Assistant, "approvals expired");
            self.edit(why, |bytes| expire_questions(bytes, now, None))?;
        }
        Ok(())
    }

    /// Writes a person's decision into the box of a line.
    pub fn mark(&self, line: &ApprovalLine, mark: CheckboxMark, actor: Actor) -> Result<bool, String> {
        let subject = if mark == CheckboxMark::Ticked { "approved" } else { "declined" };
        let why = ChangeReason::new(actor, subject).trailer("Approval", &line.approval.id);
        let with = approval::with_mark(&line.text, mark);
        let operation = Operation::ReplaceLine { line: line.text.clone(), with };
        Ok(self.edit(why, |_| vec![operation.clone()])?.all_done())
    }

    /// Writes the state of a question. `undo` passes over this edit: taking it back would ask the question, or count
    /// its answer, again.
    fn edit(
        &self,
        why: ChangeReason,
        mut plan: impl FnMut(&[u8]) -> Vec<Operation>,
    ) -> Result<EditReport, String> {
        let why = why.trailer(BOOKKEEPING, "approval");
        let report = self.editor.edit_with(&self.path, &why, |bytes| EditPlan::Operations(plan(bytes)));
        let report = report.map_err(|error: EditError| error.to_string())?;
        if let Some(warning) = &report.warning {
            tracing::warn!("{warning}");
        }
        Ok(report)
    }
}

/// The line that asks a question.
fn line(subject: &ApprovalSubject, brain: &str, turn: &str, open: OpenApproval) -> Approval {
    Approval {
        mark: CheckboxMark::Open,
        id: open.id,
        until: open.until,
        brain: brain.to_owned(),
        run: subject.run.clone(),
        hash: subject.hash.clone(),
        why: Some(subject.why.clone()).filter(|why| !why.is_empty()),
        always: subject.always.clone(),
        turn: Some(turn.to_owned()),
        state: None,
        block_id: None,
    }
}

/// The line of a note for exactly this question, of any brain: one that waits, or holds a reusable decision.
fn matching_line(bytes: &[u8], new: &Approval, reusable: bool) -> Option<Approval> {
    let is_it = |known: &Approval| {
        let (id, brain) = (known.id.clone(), known.brain.clone());
        let same = Approval { id, brain, until: known.until, ..new.clone() };
        let holds = matches!(known.state, Some(ApprovalState::Used | ApprovalState::Declined)) && reusable;
        (known.is_open() || holds) && known.asks_as(&same)
    };
    let lines = approval::parse(bytes).lines.into_iter().map(|line| line.approval).filter(is_it);
    lines.min_by_key(Approval::is_open)
}

/// How a question has ended by the note's bytes, with the lines that carry its id.
fn judge(
    bytes: &[u8],
    asked: &Approval,
    reusable: bool,
    now: Timestamp,
) -> (Option<ApprovalState>, Vec<ApprovalLine>) {
    let expired = (asked.until <= now).then_some(ApprovalState::Expired);
    let named = memchr::memmem::find(bytes, asked.id.as_bytes()).is_some();
    if !named {
        // A note that is missing or empty may be being moved: that is no decision.
        let is_blank = bytes.iter().all(u8::is_ascii_whitespace);
        return (if is_blank { expired } else { Some(ApprovalState::Declined) }, Vec::new());
    }
    let mut lines = approval::parse(bytes).lines;
    lines.retain(|line| line.approval.id == asked.id);
    let over = lines.iter().find_map(|line| Some((line.approval.state?, line.approval.asks_as(asked))));
    let says = |mark: CheckboxMark| lines.iter().find(|line| line.approval.mark == mark);
    let used = |same: bool| if same { ApprovalState::Used } else { ApprovalState::Changed };
    let found = match over {
        // The call that ended it used it up, unless it is reusable.
        Some((ApprovalState::Used, same)) => Some(used(reusable && same)),
        Some((state, _)) => Some(state),
        None if says(CheckboxMark::Declined).is_some() => Some(ApprovalState::Declined),
        None => {
            expired.or_else(|| says(CheckboxMark::Ticked).map(|ticked| used(ticked.approval.asks_as(asked))))
        }
    };
    (found, lines)
}

/// Marks open lines whose time is up and takes out those that were over a day ago; leaves the question `except` alone.
fn expire_questions(bytes: &[u8], now: Timestamp, except: Option<&str>) -> Vec<Operation> {
    let lines =
        approval::parse(bytes).lines.into_iter().filter(|line| Some(line.approval.id.as_str()) != except);
    let operations = lines.filter_map(|ApprovalLine { text, approval, .. }| {
        if approval.until.saturating_add(KEEP_ENDED).is_ok_and(|is_blank| is_blank <= now) {
            Some(Operation::DeleteLine { line: text })
        } else if approval.is_open() && approval.until <= now {
            Some(ended(text, ApprovalState::Expired))
        } else {
            None
        }
    });
    operations.collect()
}

/// The operation that writes the state of an ended question into its line.
fn ended(line: Vec<u8>, state: ApprovalState) -> Operation {
    Operation::ReplaceLine { with: approval::with_state(&line, state), line }
}

/// The next whole minute.
fn whole_minute(at: Timestamp) -> Timestamp {
    let rest = at.as_second().rem_euclid(60);
    let up = if rest == 0 && at.subsec_nanosecond() == 0 { 0 } else { 60 - rest };
    Timestamp::from_second(at.as_second() + up).unwrap_or(at)
}

#[cfg(test)]
mod tests;
