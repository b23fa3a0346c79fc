//! Defines the tools of a brain: the trait [`Toolbox`], and a toolbox that combines several.
//!
//! A call has three steps:
//! 1. [`Toolbox::precondition`] says whether a person has to approve the call;
//! 2. if so, the person is asked ([`Approvals`]);
//! 3. the call runs.
//!
//! When the turn ends, the toolbox ends all that it started.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::brain::{ToolCall, ToolSpec};
use crate::config::McpServer;
use crate::turn::Conversation;
use crate::turn::turn_journal::{OpenApproval, ToolEnd};
use crate::vault::{Actor, Origin};

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

    /// Runs a call; its caller measures the time. A failure is a result that says so. After `stop` it ends within a
    /// second, with all that it started; dropping the future does the same.
    async fn call(&self, call: &ToolCall, caller: &Caller, stop: &CancellationToken) -> ToolEnd;

    /// The turn is over: ends what was started for it, and removes what it left behind.
    async fn turn_ended(&self, _turn: &str) {}
}

/// The description of a tool with these properties of its arguments; it takes no others.
pub(super) fn tool_spec(
    name: &str,
    description: impl Into<String>,
    properties: &serde_json::Value,
    required: &[&str],
) -> ToolSpec {
    let schema = serde_json::json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    ToolSpec { name: name.to_owned(), description: description.into(), schema }
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

/// Several toolboxes as one, in this order. If two have a tool of the same name, the first toolbox's tool is called.
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
    /// Whether the decision holds for every later call with exactly this text while its line stands, as for a budget of
    /// the day. Otherwise a yes is used up by the one call that it is for.
    pub reusable: bool,
}

/// A question to a person about a call.
#[derive(Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The call.
    pub subject: &'a ApprovalSubject,
    /// Its caller.
    pub caller: &'a Caller,
    /// The conversation that shows the question.
    pub place: &'a dyn Conversation,
    /// Ends the question.
    pub stop: &'a CancellationToken,
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
    NoApprover,
    /// The question is in the note, and the turn goes on without it: asked again after a yes, the call may run.
    Waits,
}

/// The result of asking where the turn may be suspended at its call: a decision, or that there is none; else the open
/// question at which the turn is suspended, and the same call asks again.
pub type AskOutcome = Result<ApprovalVerdict, OpenApproval>;

/// A way to ask a person.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Asks, shows the question, and waits for the decision, the deadline or the stop. Called again for the same call
    /// after a restart, it continues to wait for the same decision.
    ///
    /// # Errors
    /// A sentence on why it can't be asked.
    async fn ask(&self, asked: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String>;

    /// Asks as [`Self::ask`] does, for a call at which the turn may be suspended; `before` is the open question of an
    /// earlier try.
    ///
    /// # Errors
    /// A sentence on why it can't be asked.
    async fn ask_or_suspend(
        &self,
        asked: ApprovalRequest<'_>,
        _before: Option<OpenApproval>,
    ) -> Result<AskOutcome, String> {
        self.ask(asked).await.map(Ok)
    }
}

/// No person can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprovals;

#[async_trait]
impl Approvals for NoApprovals {
    async fn ask(&self, _: ApprovalRequest<'_>) -> Result<ApprovalVerdict, String> {
        Ok(ApprovalVerdict::NoApprover)
    }
}
