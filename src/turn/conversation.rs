//! The interface between a conversation and the code that answers in it: the traits [`Conversation`] and [`Responder`],
//! and the values that they exchange.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::facts::Facts;

/// Something that belongs into the log beside the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnNote {
    /// What memory gave: the text of a folded `[!recall]-` callout.
    Recall(String),
    /// A tool's call and result: the text of a folded `[!tool]-` callout.
    Tool {
        /// Its number within the turn, from 0.
        number: u32,
        /// The tool.
        name: String,
        /// Arguments and result.
        text: String,
    },
}

/// A question to a person: may this happen? Its answer is read from the note that holds its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The line's id.
    pub id: String,
    /// What tells the line from a changed one.
    pub digest: String,
    /// Exactly what would run.
    pub run: String,
    /// The hash of the files that it would run.
    pub hash: Option<String>,
    /// Why it is asked.
    pub why: String,
    /// The brain that wants it.
    pub brain: String,
    /// The pattern that "Always" adds to the settings; none where it is asked every time.
    pub always: Option<String>,
    /// Until when it can be answered.
    pub until: Timestamp,
}

/// Where a turn takes place, as far as whoever answers may know.
#[async_trait]
pub trait Conversation: Send + Sync {
    /// Logs something beside the question, once.
    fn note(&self, note: TurnNote);
    /// Says what is going on, should somebody wait for long.
    fn progress(&self, words: &str);
    /// The bytes of a file of the conversation, at most so many.
    ///
    /// # Errors
    /// A sentence on why it can't be had.
    async fn fetch(&self, _link: &str, _most: u64) -> Result<Vec<u8>, String> {
        Err("files can't be fetched here".to_owned())
    }
    /// Shows a question where the conversation is, once; called again after a restart, it is the same question.
    async fn ask_approval(&self, _: &ApprovalRequest) {}
    /// Says there how the question ended.
    async fn approval_over(&self, _: &ApprovalRequest, _words: &str) {}
    /// More words of the answer that is being made; it may still be cut, and another brain begin anew.
    fn partial_text(&self, _: &str) {}
}

/// The place of a question that leaves no trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoConversation;

impl Conversation for NoConversation {
    fn note(&self, _: TurnNote) {}
    fn progress(&self, _: &str) {}
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnAnswer {
    /// What is said; not blank.
    pub text: String,
    /// Who said it, from what, and what it took.
    pub facts: Facts,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// The person stopped the turn.
    Stopped,
    /// The question was taken back.
    Gone,
    /// The turn can't go on now and is tried again: why.
    Later(String),
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("it was stopped"),
            Self::Gone => f.write_str("the question was taken back"),
            Self::Later(why) => f.write_str(why),
        }
    }
}

/// Whoever answers the turns of a conversation.
#[async_trait]
pub trait Responder: Send + Sync {
    /// The answer to the turn of `message`, which stands in the turn journal. Called again after a crash, it goes
    /// on from what the journal holds.
    ///
    /// # Errors
    /// There is no answer: stopped, taken back, or to be tried again.
    async fn answer(
        &self,
        message: u64,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<TurnAnswer, Halt>;
}
