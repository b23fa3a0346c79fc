//! The note of approvals as the state of what is asked: a line is put, looked at, ended.
//!
//! Every change is worked out from the newest bytes while nobody else can write them, so that an approval is used
//! once, whoever looks at the note at the same time. A line that is over goes a day later, with the next change that
//! is made anyway.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::agent::approval_request::{ApprovalSubject, OpenApproval};
use crate::format::approval::{self, Approval, ApprovalLine, ApprovalState, Mark};
use crate::format::lines::terminator_of;
use crate::vault::{Actor, EditError, EditPlan, EditReport, Editor, NotePath, Operation, VaultError, Why};

/// What the note says above its lines.
const HEADER: &str = "# Approvals

What the assistant asks before it does it. Tick a line to allow just that, once. Put `-` into its box, or delete the line, to decline. A line that nobody answered in time says `state=expired`: that is no \"no\", and it can be asked again. Lines that are over go by themselves after a day.
";

/// How long a question waits for its answer.
pub(super) const WAIT: SignedDuration = SignedDuration::from_mins(30);
/// How long a line that is over stays.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

/// The note.
#[derive(Clone)]
pub(super) struct ApprovalsNote {
    pub editor: Arc<Editor>,
    pub path: NotePath,
}

/// A question that stands in the note.
#[derive(Debug, Clone)]
pub(super) struct PendingApproval {
    /// Its line.
    pub line: Approval,
    /// As [`Wanted::lasts`].
    pub lasts: bool,
}

/// What a look at the note found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteLookup {
    /// Nobody said anything yet.
    Waiting,
    /// It is over.
    Over(ApprovalState),
}

impl ApprovalsNote {
    pub fn read(&self) -> Result<Vec<u8>, String> {
        match self.editor.vault().read(&self.path) {
            Ok(bytes) => Ok(bytes),
            Err(VaultError::NotFound(_)) => Ok(Vec::new()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The line for exactly this question, which is added where there is none. It is on disk when this returns. The
    /// line waits for a word, or holds one that lasts.
    pub fn put(
        &self,
        wanted: &ApprovalSubject,
        brain: &str,
        turn: &str,
        now: Timestamp,
    ) -> Result<Approval, String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| format!("no random numbers for an id: {error}"))?;
        let standing = OpenApproval {
            id: approval::id_from_random(random),
            until: whole_minute(now.saturating_add(WAIT).unwrap_or(now)),
        };
        let new = line(wanted, brain, turn, standing);
        let stands = |bytes: &[u8]| words_for(bytes, &new, wanted.lasts);
        if let Some(line) = stands(&self.read()?) {
            return Ok(line);
        }
        fail::fail_point!("approval::before-line");
        let mut known = None;
        let why = Why::new(Actor::Assistant, "asked for approval").trailer("Approval", &new.id);
        let report = self.edit(&why, |bytes| {
            // Whoever was just saving the note has done so by now, and somebody else may have asked the same.
            known = stands(bytes);
            if known.is_some() {
                return Vec::new();
            }
            let mut operations = tidy(bytes, now, None);
            let added = format!("{}\n", new.to_line());
            let text = if bytes.is_empty() { format!("{HEADER}\n{added}") } else { added };
            let text = text.replace('\n', terminator_of(bytes)).into_bytes();
            // Within code or a comment that the note's end leaves open nobody could tick it.
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
            let path = &self.path;
            return Err(format!(
                "a line at the end of `{path}` would stand in code or a comment: close it first"
            ));
        }
        Ok(new)
    }

    /// The line that this question was put as before, whether or not it still stands in the note.
    pub fn known(
        &self,
        wanted: &ApprovalSubject,
        brain: &str,
        turn: &str,
        before: &OpenApproval,
    ) -> Result<Approval, String> {
        let lines = approval::parse(&self.read()?).lines.into_iter();
        // Another brain of the chain may make the call by now.
        let asked = lines.map(|line| line.approval).find(|known| known.id == before.id);
        let brain = asked.as_ref().map_or(brain, |known| &known.brain);
        Ok(line(wanted, brain, turn, before.clone()))
    }

    /// What a person said by now. What is over is so in the note, too, when this returns.
    pub fn look(&self, asked: &PendingApproval, now: Timestamp) -> Result<NoteLookup, String> {
        if judge(&self.read()?, asked, now).0 == NoteLookup::Waiting {
            return Ok(NoteLookup::Waiting);
        }
        self.end(asked, now, None)
    }

    /// Ends a question that needs no answer any more.
    pub fn stop(&self, asked: &PendingApproval, now: Timestamp) -> Result<NoteLookup, String> {
        self.end(asked, now, Some(ApprovalState::Stopped))
    }

    fn end(
        &self,
        asked: &PendingApproval,
        now: Timestamp,
        otherwise: Option<ApprovalState>,
    ) -> Result<NoteLookup, String> {
        let id = &asked.line.id;
        let why = Why::new(Actor::Assistant, "approval settled").trailer("Approval", id);
        let mut found = NoteLookup::Waiting;
        let mut writes = false;
        let report = self.edit(&why, |bytes| {
            let (judged, lines) = judge(bytes, asked, now);
            found = match (judged, otherwise) {
                (NoteLookup::Waiting, Some(state)) => NoteLookup::Over(state),
                _ => judged,
            };
            let NoteLookup::Over(state) = found else { return Vec::new() };
            let mut operations: Vec<Operation> = lines
                .into_iter()
                .filter(|line| line.approval.is_open())
                .map(|line| Operation::ReplaceLine {
                    with: approval::with_state(&line.text, state),
                    line: line.text,
                })
                .collect();
            writes = !operations.is_empty();
            operations.extend(tidy(bytes, now, Some(id)));
            operations
        })?;
        // An approval counts only where it is used up in the note; one that lasts, whoever wrote that.
        let is_used =
            |line: &ApprovalLine| line.approval.id == *id && line.approval.state == Some(ApprovalState::Used);
        if found == NoteLookup::Over(ApprovalState::Used)
            && !((writes || asked.lasts) && approval::parse(&report.after).lines.iter().any(is_used))
        {
            return Ok(NoteLookup::Over(ApprovalState::Changed));
        }
        Ok(found)
    }

    /// Marks what nobody answered in time and nobody waits for any more.
    pub fn tidy(&self, now: Timestamp) -> Result<(), String> {
        let left = approval::parse(&self.read()?);
        if left.lines.iter().any(|line| line.approval.is_open() && line.approval.until <= now) {
            let why = Why::new(Actor::Assistant, "approvals expired");
            self.edit(&why, |bytes| tidy(bytes, now, None))?;
        }
        Ok(())
    }

    /// Writes a person's word into the box of a line.
    pub fn mark(&self, line: &ApprovalLine, mark: Mark, actor: Actor) -> Result<bool, String> {
        let subject = if mark == Mark::Ticked { "approved" } else { "declined" };
        let why = Why::new(actor, subject).trailer("Approval", &line.approval.id);
        let with = approval::with_mark(&line.text, mark);
        let operation = Operation::ReplaceLine { line: line.text.clone(), with };
        let report = self.editor.edit(&self.path, &[operation], &why).map_err(|error| error.to_string())?;
        Ok(report.all_done())
    }

    fn edit(&self, why: &Why, mut plan: impl FnMut(&[u8]) -> Vec<Operation>) -> Result<EditReport, String> {
        let report = self.editor.edit_with(&self.path, why, |bytes| EditPlan::Operations(plan(bytes)));
        let report = report.map_err(|error: EditError| error.to_string())?;
        if let Some(warning) = &report.warning {
            tracing::warn!("{warning}");
        }
        Ok(report)
    }
}

/// The line that asks a question.
fn line(wanted: &ApprovalSubject, brain: &str, turn: &str, standing: OpenApproval) -> Approval {
    Approval {
        mark: Mark::Open,
        id: standing.id,
        until: standing.until,
        brain: brain.to_owned(),
        run: wanted.run.clone(),
        hash: wanted.hash.clone(),
        why: Some(wanted.why.clone()).filter(|why| !why.is_empty()),
        always: wanted.always.clone(),
        turn: Some(turn.to_owned()),
        state: None,
        block_id: None,
    }
}

/// The line of a note for exactly this question, by whichever brain: one that waits, or holds a word that lasts.
fn words_for(bytes: &[u8], new: &Approval, lasts: bool) -> Option<Approval> {
    let is_it = |known: &Approval| {
        let (id, brain) = (known.id.clone(), known.brain.clone());
        let same = Approval { id, brain, until: known.until, ..new.clone() };
        let holds = matches!(known.state, Some(ApprovalState::Used | ApprovalState::Declined)) && lasts;
        (known.is_open() || holds) && known.asks_as(&same)
    };
    let lines = approval::parse(bytes).lines.into_iter().map(|line| line.approval).filter(is_it);
    lines.min_by_key(Approval::is_open)
}

/// What the note says of a question, with the lines that carry its id.
fn judge(bytes: &[u8], asked: &PendingApproval, now: Timestamp) -> (NoteLookup, Vec<ApprovalLine>) {
    let PendingApproval { line: asked, lasts } = asked;
    let expired = asked.until <= now;
    let waiting = if expired { NoteLookup::Over(ApprovalState::Expired) } else { NoteLookup::Waiting };
    let named = memchr::memmem::find(bytes, asked.id.as_bytes()).is_some();
    if !named {
        // A note that is gone whole, or empty, may be on its way to another place: nobody said anything.
        let gone = bytes.iter().all(u8::is_ascii_whitespace);
        return (if gone { waiting } else { NoteLookup::Over(ApprovalState::Declined) }, Vec::new());
    }
    let mut lines = approval::parse(bytes).lines;
    lines.retain(|line| line.approval.id == asked.id);
    let over = lines.iter().find_map(|line| Some((line.approval.state?, line.approval.asks_as(asked))));
    let says = |mark: Mark| lines.iter().find(|line| line.approval.mark == mark);
    let found = if let Some((state, same)) = over {
        // Whoever ended it used it up, unless it lasts.
        NoteLookup::Over(if state == ApprovalState::Used && !(*lasts && same) {
            ApprovalState::Changed
        } else {
            state
        })
    } else if says(Mark::Declined).is_some() {
        NoteLookup::Over(ApprovalState::Declined)
    } else if expired {
        NoteLookup::Over(ApprovalState::Expired)
    } else if let Some(ticked) = says(Mark::Ticked) {
        NoteLookup::Over(if ticked.approval.asks_as(asked) {
            ApprovalState::Used
        } else {
            ApprovalState::Changed
        })
    } else {
        waiting
    };
    (found, lines)
}

/// Marks open lines whose time is up and takes out those that were over a day ago; leaves the question `but` alone.
fn tidy(bytes: &[u8], now: Timestamp, but: Option<&str>) -> Vec<Operation> {
    let lines =
        approval::parse(bytes).lines.into_iter().filter(|line| Some(line.approval.id.as_str()) != but);
    let operations = lines.filter_map(|ApprovalLine { text, approval, .. }| {
        if approval.until.saturating_add(KEPT).is_ok_and(|gone| gone <= now) {
            Some(Operation::DeleteLine { line: text })
        } else if approval.is_open() && approval.until <= now {
            Some(Operation::ReplaceLine {
                with: approval::with_state(&text, ApprovalState::Expired),
                line: text,
            })
        } else {
            None
        }
    });
    operations.collect()
}

/// The next whole minute.
fn whole_minute(at: Timestamp) -> Timestamp {
    let rest = at.as_second().rem_euclid(60);
    let up = if rest == 0 && at.subsec_nanosecond() == 0 { 0 } else { 60 - rest };
    Timestamp::from_second(at.as_second() + up).unwrap_or(at)
}

#[cfg(test)]
mod tests;
