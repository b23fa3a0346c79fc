//! Defines the tools of a brain: the trait [`Toolbox`], and a toolbox that combines several.
//!
//! A call has three steps: the toolbox says whether a person has to approve it ([`Toolbox::precondition`], pure), the
//! person is asked ([`crate::agent::approval_request`]), and the call runs. After its turn the toolbox ends all that it
//! started.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::approval_request::ApprovalSubject;
pub use super::tool_caller::Caller;
use crate::brain::{ToolCall, ToolSpec};
use crate::config::McpServer;
use crate::turn::journal::ToolEnd;

/// The condition of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    Free,
    /// A person is asked.
    Ask(ApprovalSubject),
    /// It never runs; the reason, for the brain.
    Refused(String),
}

/// Tools: their descriptions, and their calls.
#[async_trait]
pub trait Toolbox: Send + Sync {
    /// The descriptions for a brain; the same order and words each time.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Whether a call needs an approval.
    fn precondition(&self, _call: &ToolCall, _caller: &Caller) -> Precondition {
        Precondition::Free
    }

    /// Whether this tool's output is untrusted text.
    fn untrusted(&self, _tool: &str) -> bool {
        false
    }

    /// Whether this tool changes nothing.
    fn is_read_only(&self, _tool: &str) -> bool {
        false
    }

    /// The MCP servers behind it: a brain that is a program starts them itself.
    fn servers(&self) -> Vec<McpServer> {
        Vec::new()
    }

    /// Runs a call. A failure is a result that says so. After `stop` it ends within a second, with all that it
    /// started; dropping the future does the same.
    async fn call(&self, call: &ToolCall, caller: &Caller, stop: &CancellationToken) -> ToolEnd;

    /// The turn is over: ends what was started for it, and removes what it left behind.
    async fn turn_ended(&self, _turn: &str) {}
}

/// Tells a toolbox that a turn is over, even if its future is dropped (by a panic, or because its caller
/// went away): a task tells it then.
pub(super) struct TurnEndGuard {
    tools: Arc<dyn Toolbox>,
    turn: Option<String>,
}

impl TurnEndGuard {
    /// For the turn of this name.
    pub fn new(tools: &Arc<dyn Toolbox>, turn: Option<String>) -> Self {
        Self { tools: Arc::clone(tools), turn }
    }

    /// The turn is over.
    pub async fn end_turn(mut self) {
        if let Some(turn) = &self.turn {
            self.tools.turn_ended(turn).await;
        }
        self.turn = None;
    }
}

impl Drop for TurnEndGuard {
    fn drop(&mut self) {
        let (Some(turn), Ok(runtime)) = (self.turn.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let tools = Arc::clone(&self.tools);
        runtime.spawn(async move { tools.turn_ended(&turn).await });
    }
}

/// Several boxes as one, in this order; where two have a tool of the same name, the first box's is meant.
#[derive(Default)]
pub struct CombinedToolbox(pub Vec<Arc<dyn Toolbox>>);

impl CombinedToolbox {
    fn of(&self, tool: &str) -> Option<&dyn Toolbox> {
        let found = self.0.iter().find(|one| one.specs().iter().any(|spec| spec.name == tool));
        found.map(Arc::as_ref)
    }
}

#[async_trait]
impl Toolbox for CombinedToolbox {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs: Vec<ToolSpec> = Vec::new();
        for spec in self.0.iter().flat_map(|one| one.specs()) {
            if !specs.iter().any(|known| known.name == spec.name) {
                specs.push(spec);
            }
        }
        specs
    }

    fn precondition(&self, call: &ToolCall, caller: &Caller) -> Precondition {
        self.of(&call.name).map_or(Precondition::Free, |one| one.precondition(call, caller))
    }

    fn untrusted(&self, tool: &str) -> bool {
        self.of(tool).is_some_and(|one| one.untrusted(tool))
    }

    fn is_read_only(&self, tool: &str) -> bool {
        self.of(tool).is_some_and(|one| one.is_read_only(tool))
    }

    fn servers(&self) -> Vec<McpServer> {
        self.0.iter().flat_map(|one| one.servers()).collect()
    }

    async fn call(&self, call: &ToolCall, caller: &Caller, stop: &CancellationToken) -> ToolEnd {
        match self.of(&call.name) {
            Some(one) => one.call(call, caller, stop).await,
            None => ToolEnd::failed(format!("there is no tool `{}`", call.name)),
        }
    }

    async fn turn_ended(&self, turn: &str) {
        for one in &self.0 {
            one.turn_ended(turn).await;
        }
    }
}
