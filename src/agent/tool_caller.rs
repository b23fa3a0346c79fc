//! Defines the caller of a tool: the turn, the number of the call, the brain.

use serde::{Deserialize, Serialize};

use crate::vault::{Actor, Origin};

/// The identity of a call, for the history of its changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The turn: its question's block in the log, else the message's id.
    pub turn: String,
    /// The call's number within the turn, from 0.
    pub number: u32,
    /// The brain that asked for it.
    pub brain: String,
    /// Whether the turn has read untrusted text: a page, a tool's output, others' messages. A call that leaves
    /// the box then needs an approval, whatever the settings allow.
    #[serde(skip)]
    pub tainted: bool,
}

impl Caller {
    /// The origin of its changes, for history.
    pub fn origin(&self) -> Origin {
        Origin::new(Actor::Assistant)
            .client(&self.brain)
            .conversation(format!("turn {} call {}", self.turn, self.number))
    }
}
