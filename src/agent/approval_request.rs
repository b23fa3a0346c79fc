//! A question to a person before a call runs (a command that leaves the box, a secret, a tool marked `ask`), and its
//! answer.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::tool_caller::Caller;
use crate::turn::Conversation;

/// Something that waits for a person's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalSubject {
    /// Exactly what would run, on one line: an approval holds for this text alone.
    pub run: String,
    /// The hash of the files that it would run, where it runs files of a skill: an approval holds for these alone.
    pub hash: Option<String>,
    /// Why it is asked, for people: `network`, `the secret BRAVE_API_KEY`, …
    pub why: String,
    /// The pattern that "Always" adds to `[assistant] allow`; none where it is asked every time.
    pub always: Option<String>,
    /// Whether the word holds for whoever asks exactly this again, for as long as its line stands, as a day's budget
    /// is asked about; else a yes is used up by the one call that it is for.
    pub lasts: bool,
}

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalVerdict {
    /// It may happen this once.
    Yes,
    /// It may not.
    No,
    /// Nobody said anything in time, which is not a "no".
    Expired,
    /// There is nobody here who can be asked.
    Nobody,
    /// It is written down for a person, and nobody waits for the word: asked again after it, it may happen.
    Waits,
}

/// A question that stands in a note, for the same call to find again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApproval {
    /// Its line's id.
    pub id: String,
    /// Until when it can be answered.
    pub until: Timestamp,
}

/// What came of asking where the turn may be left at its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskOutcome {
    /// A person's word, or that there is none.
    Said(ApprovalVerdict),
    /// Nobody said anything yet: the turn ends here for now, and the same call asks again.
    Open(OpenApproval),
}

/// Whoever asks a person.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Asks, shown at `place`, and waits for the word, the end of its time or `stop`. Asked again for the same call
    /// after a restart, it goes on waiting for the same word.
    ///
    /// # Errors
    /// A sentence on why it can't be asked.
    async fn ask(
        &self,
        wanted: &ApprovalSubject,
        caller: &Caller,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<ApprovalVerdict, String>;

    /// Asks as [`Self::ask`] does, for a call at which the turn may be left and gone on with later; `before` is what an
    /// earlier try was left with.
    ///
    /// # Errors
    /// A sentence on why it can't be asked.
    async fn ask_or_leave(
        &self,
        wanted: &ApprovalSubject,
        caller: &Caller,
        _before: Option<OpenApproval>,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<AskOutcome, String> {
        self.ask(wanted, caller, place, stop).await.map(AskOutcome::Said)
    }
}

/// Nobody is there to be asked.
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
