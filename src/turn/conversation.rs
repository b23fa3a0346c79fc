//! Defines the interface between a conversation and the code that answers in it: the traits [`Conversation`] and
//! [`Responder`], and the values that they exchange.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::facts::Facts;
use super::history;
use super::turn_journal::TurnJournal;
use crate::format::approval::Approval;
use crate::sqlite::DatabaseError;

/// An entry that is logged beside the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnNote {
    /// The injected memories: the text of a folded `[!recall]-` callout.
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

/// The conversation of a turn, for the code that answers.
#[async_trait]
pub trait Conversation: Send + Sync {
    /// Logs an entry with the question, once.
    fn note(&self, _: TurnNote) {}
    /// Shows what is going on, for a long wait.
    fn progress(&self, _words: &str) {}
    /// The bytes of a file of the conversation, at most so many.
    ///
    /// # Errors
    /// A sentence that says why the file is not available.
    async fn fetch(&self, _link: &str, _most: u64) -> Result<Vec<u8>, String> {
        Err("files can't be fetched here".to_owned())
    }
    /// Shows a line of the note of approvals in the conversation, once; a call after a restart shows the same line. The
    /// answer is read from the note.
    async fn ask_approval(&self, _: &Approval) {}
    /// Shows there how the question ended.
    async fn approval_over(&self, _: &Approval, _words: &str) {}
}

/// A conversation that records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoConversation;

impl Conversation for NoConversation {}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnAnswer {
    /// The text; not blank.
    pub text: String,
    /// Brain, sources and usage of the answer.
    pub facts: Facts,
}

/// The reason why a turn has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// The person stopped the turn.
    #[error("it was stopped")]
    Stopped,
    /// The question was taken back.
    #[error("the question was taken back")]
    Gone,
    /// The turn can't continue now and will be retried, with the reason.
    #[error("{0}")]
    Later(String),
}

impl From<DatabaseError> for Halt {
    fn from(error: DatabaseError) -> Self {
        Self::Later(error.to_string())
    }
}

/// Answers the turns of a conversation.
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

    /// The tokens and cost of the calls of `message`'s turn so far, for a turn that ends without an answer.
    ///
    /// # Errors
    /// The journal can't be read.
    fn spent(&self, message: u64) -> Result<Facts, Halt>;
}

/// The log entries of a turn, for a log that a crash left without them: the memory result, then each finished tool
/// call, in order.
///
/// # Errors
/// The journal can't be read.
pub fn turn_notes(turns: &TurnJournal, message: u64) -> Result<Vec<TurnNote>, DatabaseError> {
    let given = turns.turn(message)?.and_then(|turn| turn.recalled);
    let given = given.map(|given| given.problem.unwrap_or(given.injection)).filter(|text| !text.is_empty());
    let tools = turns.tools(message)?.into_iter().filter_map(|row| {
        let end = row.result?;
        let text = history::tool_block(&row.call, &end.text, end.is_error);
        Some(TurnNote::Tool { number: row.number, name: row.call.name, text })
    });
    Ok(given.map(TurnNote::Recall).into_iter().chain(tools).collect())
}
