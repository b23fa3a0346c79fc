//! Defines an approval: the call that a person is asked about before it runs (a command that leaves the box, a secret,
//! a tool marked `ask`), and the person's decision.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::tool_caller::Caller;
use crate::turn::Conversation;

/// A call that needs a person's approval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalSubject {
    /// Exactly what would run, on one line: an approval holds for this text alone.
    pub run: String,
    /// The hash of the files that it would run, if it runs files of a skill: an approval holds for these alone.
    pub hash: Option<String>,
    /// Why it is asked, for people: `network`, `the secret BRAVE_API_KEY`, …
    pub why: String,
    /// The pattern that "Always" adds to `[assistant] allow`; none if it is asked every time.
    pub always: Option<String>,
    /// Whether the decision holds for every call that asks exactly this again, while its line stands, as for a budget
    /// of the day; else a yes is used up by the one call that it is for.
    pub reusable: bool,
}

/// The result of asking a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalVerdict {
    /// It may happen this once.
    Yes,
    /// It may not.
    No,
    /// No decision came in time, which is not a "no".
    Expired,
    /// No person can be asked here.
    Nobody,
    /// The question is in the note, and the turn goes on without it: asked again after a yes, the call may run.
    Waits,
}

/// A question in a note, for the same call to find again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApproval {
    /// Its line's id.
    pub id: String,
    /// Until when it can be answered.
    pub until: Timestamp,
}

/// The result of asking where the turn may be suspended at its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskOutcome {
    /// A decision, or that there is none.
    Decided(ApprovalVerdict),
    /// No decision yet: the turn is suspended here, and the same call asks again.
    Open(OpenApproval),
}

/// A way to ask a person.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Asks, shows the question at `place`, and waits for the decision, the deadline or `stop`. Called again for the same
    /// call after a restart, it continues to wait for the same decision.
    ///
    /// # Errors
    /// A sentence on why it can't be asked.
    async fn ask(
        &self,
        subject: &ApprovalSubject,
        caller: &Caller,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<ApprovalVerdict, String>;

    /// Asks as [`Self::ask`] does, for a call at which the turn may be suspended; `before` is the open question of an
    /// earlier try.
    ///
    /// # Errors
    /// A sentence on why it can't be asked.
    async fn ask_or_suspend(
        &self,
        subject: &ApprovalSubject,
        caller: &Caller,
        _before: Option<OpenApproval>,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<AskOutcome, String> {
        self.ask(subject, caller, place, stop).await.map(AskOutcome::Decided)
    }
}

/// No person can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprovals;

#[async_trait]
impl Approvals for NoApprovals {
    async fn ask(
        &self,
        _: &ApprovalSubject,
        _: &Caller,
        _: &dyn Conversation,
        _: &CancellationToken,
    ) -> Result<ApprovalVerdict, String> {
        Ok(ApprovalVerdict::Nobody)
    }
}
