//! Asking a person by a line in the vault's note of approvals, which is the state of what is asked.
//!
//! [`VaultApprovals::ask`](Approvals::ask) puts the line on disk before anybody is shown anything, and waits: for the
//! tick, the minus or the deletion, for the end of the time, for `stop`. It wakes where it is told that the note
//! changed ([`VaultApprovals::look_again`]) and where the time is up; nothing polls. A line is bound to its turn, the
//! call's number, the text and the hash of the files, and is used once: what was ticked is marked `state=used` before
//! the call may run. A word that lasts ([`ApprovalSubject::lasts`]) is not used up: whoever asks the same finds it in its line,
//! so that a crash between the line and what is made of it asks nobody twice. After a restart the same call finds its
//! line and goes on waiting. A press on a button ([`VaultApprovals::answer`]) writes the person's word into the line,
//! and nothing else counts. `note` says what a line means by now, and ends it; `allowed` says what need not or can't be
//! asked.

mod allowed;
mod note;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::approval_request::{ApprovalSubject, ApprovalVerdict, Approvals, AskOutcome, OpenApproval};
use super::tools::Caller;
use crate::config::FILE_NAME;
use crate::format::approval::{self, Approval, ApprovalState, Mark};
use crate::turn::{ApprovalRequest, Conversation};
use crate::vault::{Actor, NotePath};
use crate::workspace::Workspace;
use allowed::is_allowed;
pub use allowed::{allow, before_asking};
use note::{ApprovalsNote, NoteLookup, PendingApproval};

/// The turn of a question that nobody waits for: `ask` is run again by hand, as another turn.
const NOBODYS_TURN: &str = "ask";

/// What a person said by a button or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// Yes, this once.
    Once,
    /// Yes, and it needn't be asked again.
    Always,
    /// No.
    No,
}

/// Asks by lines in the vault.
pub struct VaultApprovals {
    workspace: RwLock<Arc<Workspace>>,
    news: watch::Sender<u64>,
    waiting: Waiter,
}

/// Who waits for a person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiter {
    /// The call itself.
    Call,
    /// The turn, which is left at the call and gone on with later.
    Turn,
    /// Nobody.
    Nobody,
}

impl std::fmt::Debug for VaultApprovals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VaultApprovals").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl VaultApprovals {
    /// Waits for the word.
    pub fn new(workspace: &Arc<Workspace>) -> Self {
        Self::with(workspace, Waiter::Call)
    }

    /// Leaves the turn at the call that asks; whoever goes on with it later finds the word. A call that a turn can't be
    /// left at, such as a program's own, is asked as [`Self::left_behind`] does.
    pub fn left_open(workspace: &Arc<Workspace>) -> Self {
        Self::with(workspace, Waiter::Turn)
    }

    /// Leaves the question in the note and waits for nothing; the same question, asked again after the tick, may run.
    pub fn left_behind(workspace: &Arc<Workspace>) -> Self {
        Self::with(workspace, Waiter::Nobody)
    }

    fn with(workspace: &Arc<Workspace>, waiting: Waiter) -> Self {
        Self { workspace: RwLock::new(Arc::clone(workspace)), news: watch::Sender::new(0), waiting }
    }

    /// Takes on other settings.
    pub fn take_on(&self, workspace: &Arc<Workspace>) {
        *self.workspace.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(workspace);
        self.look_again();
    }

    /// The note may have changed: whoever waits looks again.
    pub fn look_again(&self) {
        self.news.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Whether this is the note.
    pub fn is_note(&self, path: &NotePath) -> bool {
        self.workspace().settings.paths.approvals == path.as_str()
    }

    /// Marks what nobody answered in time and nobody waits for any more.
    pub async fn tidy(&self) {
        let workspace = self.workspace();
        // The same line from two machines is a conflict for a sync tool: the voice writes it.
        if !workspace.machines.is_voice() {
            return;
        }
        let now = workspace.clock.now();
        if let Err(error) = self.in_note(move |note| note.tidy(now)).await {
            tracing::warn!("the note of approvals could not be tidied: {error}");
        }
    }

    /// Writes a person's word into the line with this id, if it is still the line with this digest; what came of it,
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
                return Err(format!("that question doesn't stand in `{path}` any more"));
            };
            let asked = &line.approval;
            match (asked.state, asked.mark) {
                (Some(ApprovalState::Expired), _) => return Err("it is expired; ask again".to_owned()),
                (Some(state), _) => return Err(format!("it is over already ({state})")),
                (None, Mark::Ticked) => return Err("it is approved already".to_owned()),
                (None, Mark::Declined) => return Err("it is declined already".to_owned()),
                (None, Mark::Open) if asked.until <= now => return Err("it is expired; ask again".to_owned()),
                (None, Mark::Open) => {}
            }
            if digest_of(asked) != digest {
                return Err(format!("its line in `{path}` was changed, so nothing is approved by it"));
            }
            let mark = if word == ApprovalDecision::No { Mark::Declined } else { Mark::Ticked };
            if word == ApprovalDecision::Always {
                let pattern = asked.always.as_deref().ok_or("this is asked every time; press Once")?;
                allow(&workspace, pattern, actor)?;
            }
            if !note.mark(&line, mark, actor)? {
                return Err(format!("its line in `{path}` was changed at this very moment; look at it"));
            }
            Ok(match (word, &asked.always) {
                (ApprovalDecision::Always, Some(pattern)) => {
                    format!("Approved; `{FILE_NAME}` allows `{pattern}` from now on")
                }
                (ApprovalDecision::No, _) => "Declined".to_owned(),
                _ => "Approved once".to_owned(),
            })
        });
        let written = written.await;
        self.look_again();
        written
    }

    fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&self.workspace.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works on the note where nothing else waits for files.
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
            Err(error) => Err(format!("it went wrong inside: {error}")),
        }
    }

    /// Waits until it is over.
    async fn wait(
        &self,
        asked: &PendingApproval,
        news: &mut watch::Receiver<u64>,
    ) -> Result<ApprovalState, String> {
        let clock = Arc::clone(&self.workspace().clock);
        loop {
            news.borrow_and_update();
            let (now, looked) = (clock.now(), asked.clone());
            if let NoteLookup::Over(state) = self.in_note(move |note| note.look(&looked, now)).await? {
                return Ok(state);
            }
            let left = Duration::try_from(now.duration_until(asked.line.until)).unwrap_or(Duration::ZERO);
            tokio::select! {
                changed = news.changed() => changed.map_err(|_| "the program is stopping".to_owned())?,
                () = tokio::time::sleep(clock.sleep(left)) => {}
            }
        }
    }
}

#[async_trait]
impl Approvals for VaultApprovals {
    async fn ask(
        &self,
        wanted: &ApprovalSubject,
        caller: &Caller,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<ApprovalVerdict, String> {
        let workspace = self.workspace();
        if let Some(verdict) = before_asking(&workspace, wanted, caller)? {
            return Ok(verdict);
        }
        // Before the line stands, so that no change is missed.
        let mut news = self.news.subscribe();
        let waits = self.waiting == Waiter::Call;
        let turn = if waits { turn_of(caller) } else { NOBODYS_TURN.to_owned() };
        let (put, brain, now) = (wanted.clone(), caller.brain.clone(), workspace.clock.now());
        let line = self.in_note(move |note| note.put(&put, &brain, &turn, now)).await?;
        let (over, request) = (line.state, request(&line));
        let asked = PendingApproval { line, lasts: wanted.lasts };
        fail::fail_point!("approval::after-line");
        if !waits {
            let looked = asked.clone();
            return Ok(match self.in_note(move |note| note.look(&looked, now)).await? {
                NoteLookup::Waiting => {
                    place.ask_approval(&request).await;
                    ApprovalVerdict::Waits
                }
                NoteLookup::Over(state) => verdict(state),
            });
        }
        let shown = async {
            place.ask_approval(&request).await;
            std::future::pending::<()>().await;
        };
        let state = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            state = self.wait(&asked, &mut news) => Some(state?),
            // A word that stands already needs no question.
            () = shown, if over.is_none() => None,
        };
        let state = match state {
            Some(state) => state,
            None => {
                let (ended, now) = (asked.clone(), workspace.clock.now());
                self.in_note(move |note| note.stop(&ended, now)).await?;
                ApprovalState::Stopped
            }
        };
        fail::fail_point!("approval::after-word");
        place
            .approval_over(
                &request,
                ending(state, state == ApprovalState::Used && is_allowed(&workspace, wanted)),
            )
            .await;
        Ok(verdict(state))
    }

    async fn ask_or_leave(
        &self,
        wanted: &ApprovalSubject,
        caller: &Caller,
        before: Option<OpenApproval>,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<AskOutcome, String> {
        if self.waiting != Waiter::Turn {
            return self.ask(wanted, caller, place, stop).await.map(AskOutcome::Said);
        }
        let workspace = self.workspace();
        if let Some(verdict) = before_asking(&workspace, wanted, caller)? {
            return Ok(AskOutcome::Said(verdict));
        }
        let (put, brain, now) = (wanted.clone(), caller.brain.clone(), workspace.clock.now());
        let turn = turn_of(caller);
        // A word that a crash kept this call from using is its own: the line names the call. So the word lasts.
        let put = ApprovalSubject { lasts: true, ..put };
        let line = self.in_note(move |note| match before {
            Some(before) => note.known(&put, &brain, &turn, &before),
            None => note.put(&put, &brain, &turn, now),
        });
        let line = line.await?;
        fail::fail_point!("approval::after-line");
        let looked = PendingApproval { line: line.clone(), lasts: true };
        let found = self.in_note(move |note| note.look(&looked, now)).await?;
        fail::fail_point!("approval::after-word");
        Ok(match found {
            NoteLookup::Over(state) => AskOutcome::Said(verdict(state)),
            NoteLookup::Waiting => {
                place.ask_approval(&request(&line)).await;
                AskOutcome::Open(OpenApproval { id: line.id, until: line.until })
            }
        })
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

fn request(asked: &Approval) -> ApprovalRequest {
    ApprovalRequest {
        id: asked.id.clone(),
        digest: digest_of(asked),
        run: asked.run.clone(),
        hash: asked.hash.clone(),
        why: asked.why.clone().unwrap_or_default(),
        brain: asked.brain.clone(),
        always: asked.always.clone(),
        until: asked.until,
    }
}

/// What tells a changed line from the one that was asked, whatever its box says.
pub fn digest_of(asked: &Approval) -> String {
    let neutral = Approval { mark: Mark::Open, state: None, block_id: None, ..asked.clone() };
    blake3::hash(neutral.to_line().as_bytes()).to_hex()[..12].to_owned()
}
