//! Defines the rows of the turn journal, as values.

use jiff::Timestamp;
use serde::Serialize;

use crate::brain::{FailureClass, RawTurn, ToolCall, Usage};
use crate::turn::skills::ListedSkills;
use crate::words::words;

/// The author of a question that was asked on the page.
pub const PAGE: &str = "page";

/// A message to be answered, as it is accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTurn {
    /// The message's id; for a slash command the interaction's.
    pub message: u64,
    /// The channel, thread or DM; 0 on the command line.
    pub channel: u64,
    /// Whether the channel is a thread.
    pub thread: bool,
    /// The person or program that asks.
    pub author: String,
    /// The log block of the question: `logs/…/…#^ID` without `.md`; empty if there is none.
    pub block: String,
    /// The question itself, if no log holds it.
    pub text: String,
    /// The brain that the person chose by name.
    pub only: Option<String>,
    /// The answer says that the assistant was away.
    pub away: bool,
    /// Whether the answer is posted as a reply to the message.
    pub reply: bool,
    /// Media types of its files.
    pub attachments: Vec<String>,
}

impl NewTurn {
    /// The routine that asks, if any: it has no channel, and its name stands as the author.
    pub fn routine(&self) -> Option<&str> {
        self.author.strip_prefix("routine:").filter(|_| self.channel == 0)
    }

    /// The path of the log that holds the question, without `.md`.
    pub fn log(&self) -> Option<&str> {
        self.block.split_once("#^").map(|(path, _)| path)
    }

    /// The id of its block in that log.
    pub fn block_id(&self) -> Option<&str> {
        self.block.split_once("#^").map(|(_, id)| id)
    }

    /// Whether it was asked on the web page, which logs nothing.
    pub fn is_of_page(&self) -> bool {
        self.channel == 0 && self.author == PAGE
    }
}

/// One turn in the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRow {
    /// The accepted message.
    pub question: NewTurn,
    /// Its state.
    pub state: TurnState,
    /// The later message whose answer answers this one too.
    pub joined: Option<u64>,
    /// The brain that answered, or is being asked.
    pub brain: Option<String>,
    /// The request as it was assembled.
    pub assembled: Option<RequestRow>,
    /// The memory result: the injected text, or the sentence that says why there is none.
    pub recalled: Option<RecallRow>,
    /// The final text, once it is fixed.
    pub answer: Option<String>,
    /// The line of facts that ends the answer in the log.
    pub facts: Option<String>,
    /// How many messages the answer took.
    pub chunks: u32,
    /// When it was accepted.
    pub started: Timestamp,
    /// When it was done.
    pub finished: Option<Timestamp>,
}

impl TurnRow {
    /// The turn's name: its question's block in the log, else the message's id.
    pub fn name(&self) -> String {
        self.question.block_id().map_or_else(|| self.question.message.to_string(), str::to_owned)
    }
}

/// The values from which a turn's request can be rebuilt from the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRow {
    /// The time that the request stated.
    pub at: Timestamp,
    /// The tokens that the request may have.
    pub budget: u64,
    /// The last block of the log that was used.
    pub tail: Option<String>,
    /// The request's hash.
    pub hash: String,
    /// The skills that it listed.
    pub skills: Option<ListedSkills>,
    /// The summaries that it was made with: their ids without `sum_`.
    pub sums: Vec<String>,
}

/// The memory result of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallRow {
    /// The injected text; empty if nothing was found.
    pub injection: String,
    /// Why memory could not be searched, in a sentence.
    pub problem: Option<String>,
}

/// One call to a brain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallRow {
    /// The brain.
    pub brain: String,
    /// The model that answered, else the one that was asked.
    pub model: String,
    /// How it failed; `None` if it answered.
    pub class: Option<FailureClass>,
    /// The error in words.
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

/// A tool call of a turn, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// Its number within the turn, from 0.
    pub number: u32,
    /// The call.
    pub call: ToolCall,
    /// Its result; `None` if it was started and never finished.
    pub result: Option<ToolEnd>,
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEnd {
    /// The tool's output.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

impl ToolEnd {
    /// The end of a call that wasn't run.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { text: why.into(), is_error: true, ms: 0 }
    }
}

/// A question in the note of approvals, by which the same call finds its answer again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApproval {
    /// Its line's id.
    pub id: String,
    /// Until when it can be answered.
    pub until: Timestamp,
}

/// A step with its time, as `turns ID` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// The name of the step that began.
    pub step: String,
    /// When.
    pub at: Timestamp,
    /// A detail in a word or two.
    pub detail: String,
}

/// A brain's answer that calls tools.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(default)]
pub struct Round {
    /// Its text along with the calls.
    pub text: String,
    /// The calls.
    pub tool_calls: Vec<ToolCall>,
    /// The answer as its provider sent it.
    pub raw: Option<RawTurn>,
}

words! {
    /// The progress of a turn. Each state is on disk before its step begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TurnState, as_str {
        /// Accepted; nothing was done yet.
        Accepted = "accepted",
        /// The brains and their order are chosen.
        Routed = "routed",
        /// The memory result is fixed.
        Recalled = "recalled",
        /// The request is fixed, by its hash.
        Assembled = "assembled",
        /// A brain was asked; rounds of tools may have followed.
        Called = "called",
        /// The text is fixed and recorded in the delivery journal.
        Answered = "answered",
        /// Every chunk of it was sent.
        Sent = "sent",
        /// Every chunk is in the log: final.
        Done = "done",
        /// The question was withdrawn before it was answered, or the answer can't be delivered: final.
        Dropped = "dropped",
    }
}

impl TurnState {
    /// Whether the state is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Dropped)
    }

    /// Whether a turn may change from this state to `next`. Before its answer is fixed a turn may begin again (its
    /// question was edited, the program was killed); after that it only goes forward. It may be dropped until the
    /// answer is sent.
    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Dropped => !self.is_final() && self != Self::Sent,
            Self::Sent => self == Self::Answered,
            Self::Done => self == Self::Sent,
            _ => self < Self::Answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_and_an_answer_is_never_taken_back() {
        for state in TurnState::ALL {
            assert_eq!(TurnState::named(state.as_str()), Some(state));
            for next in TurnState::ALL {
                if matches!(state, TurnState::Answered | TurnState::Sent | TurnState::Done) {
                    let onwards = next > state;
                    assert!(onwards || !state.may_become(next), "{state:?} to {next:?}");
                }
                if state.is_final() {
                    assert!(!state.may_become(next), "{state:?} to {next:?}");
                }
            }
        }
    }
}
