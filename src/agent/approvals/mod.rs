//! Asks a person to approve a call, by a line in the vault's note of approvals. The note is the only record of open
//! questions.
//!
//! [`VaultApprovals::ask`](Approvals::ask) writes the line before it shows anything. With [`Waiter::Call`] it then
//! waits until the question ends: a tick (`[x]`), a minus (`[-]`), the line's deletion, the deadline, or `stop`.
//! Otherwise it returns the present decision, if any. [`VaultApprovals::recheck`] and the deadline wake the waiting
//! call; nothing polls.
//! - A line is bound to its turn, the number of the call, the text and the hash of the files that the call would run.
//!   It is used once: a ticked line is marked `state=used` before the call may run.
//! - A reusable approval ([`ApprovalSubject::reusable`]) is not used up. A later question with the same text finds the
//!   decision in the line, also after a crash, and asks no person again.
//! - After a restart the same call finds its line and continues to wait.
//! - A press on a button ([`VaultApprovals::answer`]) writes the decision into the line; only the line counts.
//!
//! `note` reads and changes the lines. `allowed` decides which calls need no approval, and which can't be asked about.

mod allowed;
mod note;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use allowed::is_allowed;
use async_trait::async_trait;
use note::ApprovalsNote;
use tokio::sync::watch;

use super::tools::{ApprovalRequest, ApprovalSubject, ApprovalVerdict, Approvals, AskOutcome, Caller};
use crate::config::FILE_NAME;
use crate::format::approval::{self, Approval, ApprovalState, CheckboxMark};
use crate::turn::turn_journal::OpenApproval;
use crate::vault::{Actor, NotePath};
use crate::workspace::Workspace;

pub use allowed::{allow, decide_without_asking};

/// The turn's name in a question that no turn waits for: a person runs `ask` again, as another turn.
const UNBOUND_TURN: &str = "ask";

/// A person's decision by a button or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// Yes, this once.
    Once,
    /// Yes, and it needn't be asked again.
    Always,
    /// No.
    No,
}

/// Asks by lines in the vault's note of approvals.
pub struct VaultApprovals {
    workspace: RwLock<Arc<Workspace>>,
    changes: watch::Sender<u64>,
    waiting: Waiter,
}

/// The part of the program that waits for a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    /// Each call, for its own.
    Call,
    /// The turn: it is suspended at the call that asks, and the resumed turn finds the decision. A call that can't
    /// suspend its turn, such as a program's own, is asked as with [`Waiter::Nothing`].
    Turn,
    /// Nothing: the question is left in the note; the same question, asked again after the tick, may run.
    Nothing,
}

impl VaultApprovals {
    /// Asks in this workspace's note.
    pub fn new(workspace: &Arc<Workspace>, waiting: Waiter) -> Self {
        Self { workspace: RwLock::new(Arc::clone(workspace)), changes: watch::Sender::new(0), waiting }
    }

    /// Uses another workspace from now on.
    pub fn set_workspace(&self, workspace: &Arc<Workspace>) {
        *self.workspace.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(workspace);
        self.recheck();
    }

    /// The note may have changed: waiting calls check it again.
    pub fn recheck(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Whether this is the path of the note of approvals.
    pub fn is_approvals_note(&self, path: &NotePath) -> bool {
        self.workspace().settings.paths.approvals == path.as_str()
    }

    /// Marks expired questions without a waiting call.
    pub async fn expire_questions(&self) {
        let workspace = self.workspace();
        // The same line from two machines is a conflict for a sync tool: the voice writes it.
        if !workspace.machines.is_voice() {
            return;
        }
        let now = workspace.clock.now();
        if let Err(error) = self.in_note(move |note| note.expire_questions(now)).await {
            tracing::warn!("the note of approvals could not be tidied: {error}");
        }
    }

    /// Writes a person's decision into the line with this id, if it is still the line with this digest; the result,
    /// in words.
    ///
    /// # Errors
    /// A sentence on why it counts for nothing.
    pub async fn answer(
        &self,
        id: &str,
        digest: &str,
        word: ApprovalDecision,
        actor: Actor,
    ) -> Result<String, String> {
        let workspace = self.workspace();
        let (id, digest, now) = (id.to_owned(), digest.to_owned(), workspace.clock.now());
        let written = self.in_note(move |note| {
            let path = &note.path;
            let lines = approval::parse(&note.read()?).lines;
            let Some(line) = lines.into_iter().find(|line| line.approval.id == id) else {
                return Err(format!("that request is no longer in `{path}`"));
            };
            let approval = &line.approval;
            match (approval.state, approval.mark) {
                (Some(ApprovalState::Expired), _) => return Err("it is expired; ask again".to_owned()),
                (Some(state), _) => return Err(format!("it is already settled ({state})")),
                (None, CheckboxMark::Ticked) => return Err("it is approved already".to_owned()),
                (None, CheckboxMark::Declined) => return Err("it is declined already".to_owned()),
                (None, CheckboxMark::Open) if approval.until <= now => {
                    return Err("it is expired; ask again".to_owned());
                }
                (None, CheckboxMark::Open) => {}
            }
            if digest_of(approval) != digest {
                return Err(format!("its line in `{path}` was changed, so nothing is approved by it"));
            }
            let mark =
                if word == ApprovalDecision::No { CheckboxMark::Declined } else { CheckboxMark::Ticked };
            if word == ApprovalDecision::Always {
                let pattern = approval.always.as_deref().ok_or("this is asked every time; press Once")?;
                allow(&workspace, pattern, actor)?;
            }
            if !note.mark(&line, mark, actor)? {
                return Err(format!("its line in `{path}` was changed meanwhile; check it"));
            }
            Ok(match (word, &approval.always) {
                (ApprovalDecision::Always, Some(pattern)) => {
                    format!("Approved; `{FILE_NAME}` allows `{pattern}` from now on")
                }
                (ApprovalDecision::No, _) => "Declined".to_owned(),
                _ => "Approved once".to_owned(),
            })
        });
        let written = written.await;
        self.recheck();
        written
    }

    fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&self.workspace.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs work on the note in a thread for blocking calls.
    async fn in_note<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ApprovalsNote) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let workspace = self.workspace();
        let path = workspace.note(&workspace.settings.paths.approvals);
        let note = ApprovalsNote { editor: Arc::clone(&workspace.editor), path };
        match tokio::task::spawn_blocking(move || work(&note)).await {
            Ok(done) => done,
            // The program is ending: nothing is decided by that, and the line goes on waiting.
            Err(error) if error.is_cancelled() => std::future::pending().await,
            Err(error) => Err(format!("internal error: {error}")),
        }
    }

    /// Writes the line of a question, or finds it with its decision. Shows the question if it is still open.
    async fn ask_once(
        &self,
        ApprovalRequest { subject, caller, place, .. }: ApprovalRequest<'_>,
        turn: String,
        before: Option<OpenApproval>,
    ) -> Result<(Approval, Option<ApprovalVerdict>), String> {
        let (question, brain, now) = (subject.clone(), caller.brain.clone(), self.workspace().clock.now());
        let line = self.in_note(move |note| match before {
            Some(before) => note.earlier_line(&question, &brain, &turn, &before),
            None => note.add_or_find(&question, &brain, &turn, now),
        });
        let line = line.await?;
        fail::fail_point!("approval::after-line");
        let (asked, reusable) = (line.clone(), subject.reusable);
        let over = self.in_note(move |note| note.settle(&asked, reusable, now, None)).await?;
        fail::fail_point!("approval::after-word");
        if over.is_none() {
            place.ask_approval(&line).await;
        }
        Ok((line, over.map(verdict)))
    }

    /// Waits until it is over.
    async fn wait(
        &self,
        asked: &Approval,
        reusable: bool,
        changes: &mut watch::Receiver<u64>,
    ) -> Result<ApprovalState, String> {
        let clock = Arc::clone(&self.workspace().clock);
        loop {
            changes.borrow_and_update();
            let (now, line) = (clock.now(), asked.clone());
            if let Some(state) = self.in_note(move |note| note.settle(&line, reusable, now, None)).await? {
                return Ok(state);
            }
            let left = Duration::try_from(now.duration_until(asked.until)).unwrap_or(Duration::ZERO);
            tokio::select! {
                changed = changes.changed() => changed.map_err(|_| "the program is stopping".to_owned())?,
                () = tokio::time::sleep(clock.sleep(left)) => {}
            }
        }
    }
}

#[async_trait]
impl Approvals for VaultApprovals {
    async fn ask(&self, asking: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String> {
        let ApprovalRequest { subject, caller, place, stop } = asking;
        let workspace = self.workspace();
        if let Some(verdict) = decide_without_asking(&workspace, subject, caller)? {
            return Ok(verdict);
        }
        if self.waiting != Waiter::Call {
            let (_, over) = self.ask_once(asking, UNBOUND_TURN.to_owned(), None).await?;
            return Ok(over.unwrap_or(ApprovalVerdict::Waits));
        }
        // Before the line stands, so that no change is missed.
        let mut changes = self.changes.subscribe();
        let (question, brain, now) = (subject.clone(), caller.brain.clone(), workspace.clock.now());
        let turn = turn_of(caller);
        let line = self.in_note(move |note| note.add_or_find(&question, &brain, &turn, now)).await?;
        let (asked, reusable) = (line.clone(), subject.reusable);
        fail::fail_point!("approval::after-line");
        let shown = async {
            place.ask_approval(&line).await;
            std::future::pending::<()>().await;
        };
        let state = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            state = self.wait(&line, reusable, &mut changes) => Some(state?),
            // A decision that is there already needs no question.
            () = shown, if line.state.is_none() => None,
        };
        let state = match state {
            Some(state) => state,
            None => {
                let now = workspace.clock.now();
                self.in_note(move |note| note.settle(&asked, reusable, now, Some(ApprovalState::Stopped)))
                    .await?;
                ApprovalState::Stopped
            }
        };
        fail::fail_point!("approval::after-word");
        let always = state == ApprovalState::Used && is_allowed(&workspace, subject);
        place.approval_over(&line, ending(state, always)).await;
        Ok(verdict(state))
    }

    async fn ask_or_suspend(
        &self,
        asking: ApprovalRequest<'_>,
        before: Option<OpenApproval>,
    ) -> Result<AskOutcome, String> {
        let ApprovalRequest { subject, caller, .. } = asking;
        // A decision that a crash kept this call from using is its own, since the line names the call: it is reusable.
        let reusable = subject.reusable || self.waiting != Waiter::Nothing;
        let question = ApprovalSubject { reusable, ..subject.clone() };
        let asking = ApprovalRequest { subject: &question, ..asking };
        if self.waiting != Waiter::Turn {
            return self.ask(asking).await.map(Ok);
        }
        if let Some(verdict) = decide_without_asking(&self.workspace(), subject, caller)? {
            return Ok(Ok(verdict));
        }
        let (line, over) = self.ask_once(asking, turn_of(caller), before).await?;
        Ok(over.ok_or(OpenApproval { id: line.id, until: line.until }))
    }
}

/// The turn and the call that a line is bound to.
fn turn_of(caller: &Caller) -> String {
    format!("{}/{}", caller.turn, caller.number)
}

fn verdict(state: ApprovalState) -> ApprovalVerdict {
    match state {
        ApprovalState::Used => ApprovalVerdict::Yes,
        ApprovalState::Expired => ApprovalVerdict::Expired,
        ApprovalState::Declined | ApprovalState::Changed | ApprovalState::Stopped => ApprovalVerdict::No,
    }
}

fn ending(state: ApprovalState, always: bool) -> &'static str {
    match state {
        ApprovalState::Used if always => "Approved, always.",
        ApprovalState::Used => "Approved once.",
        ApprovalState::Declined => "Declined.",
        ApprovalState::Expired => "Expired; ask again.",
        ApprovalState::Changed => "The line was changed, so nothing was approved.",
        ApprovalState::Stopped => "Stopped.",
    }
}

/// A digest that differs for a changed line, but not for another mark in its box.
pub fn digest_of(approval: &Approval) -> String {
    let neutral = Approval { mark: CheckboxMark::Open, state: None, block_id: None, ..approval.clone() };
    blake3::hash(neutral.to_line().as_bytes()).to_hex()[..12].to_owned()
}
