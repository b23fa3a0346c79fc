//! What a brain may call: a box of tools, given by a front door.

use async_trait::async_trait;

use crate::brain::{ToolCall, ToolSpec};
use crate::turn::journal::ToolEnd;

/// Which call it is, for the history of what it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The turn: its question's block in the log, else the message's id.
    pub turn: String,
    /// The call's number within the turn, from 0.
    pub number: u32,
    /// The brain that asked for it.
    pub brain: String,
}

/// Tools with their words, and the way to call them.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// What a brain is told of them; the same order and words each time.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Calls one. What goes wrong is a result that says so.
    async fn call(&self, call: &ToolCall, caller: &Caller) -> ToolEnd;
}

/// No tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

#[async_trait]
impl Toolbox for NoTools {
    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    async fn call(&self, call: &ToolCall, _: &Caller) -> ToolEnd {
        ToolEnd { text: format!("there is no tool `{}`", call.name), is_error: true, ms: 0 }
    }
}
