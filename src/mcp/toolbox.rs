//! Offers the vault's tools to the assistant of this program, in process, with the same checks and answers as over MCP.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::arguments;
use super::failure::{Result, ToolFailure};
use super::shared_state::{ServerScopes, SharedState, ToolSet};
use super::tools::brains::{AMONG_BRAINS, ASK};
use super::tools::{Effect, McpCall, ToolAnswer, ToolEntry};
use crate::agent::tools::{ApprovalSubject, Caller, Precondition};
use crate::agent::{OtherBrains, Toolbox, other_brains};
use crate::brain::{ToolCall, ToolSpec};
use crate::memory::Scope;
use crate::turn::history;
use crate::turn::turn_journal::ToolEnd;
use crate::workspace::Workspace;

/// The longest wait for a call; its work is finished all the same.
const PATIENCE: Duration = Duration::from_secs(60);
/// A question to another brain may take so long besides.
const LONGEST_QUESTION: Duration = Duration::from_secs(60 * other_brains::ASK_TIMEOUT_MINUTES as u64);

/// The vault's typed tools.
#[derive(Debug)]
pub struct VaultTools {
    shared: Arc<SharedState>,
    tools: ToolSet,
    /// For a brain that another brain asks: nothing says whether that one has read untrusted text.
    is_asked: bool,
}

impl VaultTools {
    /// Tools for the turns of this process, in which brains ask each other. They have a workspace of their own, because
    /// an edit that a model makes for a person doesn't wait until the note is quiet.
    pub fn beside_turns(workspace: Workspace, other_brains: OtherBrains) -> Self {
        let place = ServerScopes { saved: Scope::Global, project: Scope::Global, before: None };
        let alone = workspace.settings.brains.len() < 2;
        let tools = if alone { ToolSet::full().without(&AMONG_BRAINS) } else { ToolSet::full() };
        let mut shared = SharedState::new(workspace, ToolSet::full(), place);
        (shared.other_brains, shared.has_console) = (other_brains, true);
        Self { shared: Arc::new(shared), tools, is_asked: false }
    }

    /// Tools for a brain that another brain asks: without the tool to ask a further brain.
    pub(super) fn for_asked_brain(shared: &Arc<SharedState>) -> Arc<dyn Toolbox> {
        let tools = shared.tools.without(&AMONG_BRAINS);
        Arc::new(Self { shared: Arc::clone(shared), tools, is_asked: true })
    }

    async fn run(&self, call: &ToolCall, caller: &Caller, stop: &CancellationToken) -> Result<ToolAnswer> {
        let known = || self.tools.tools().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
        let Some(tool) = self.tools.get(&call.name) else {
            let message = format!("there is no tool `{}`", call.name);
            return Err(ToolFailure::new("unknown_tool", message).hint(format!("there are: {}", known())));
        };
        let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let given: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            ToolFailure::new("invalid_arguments", format!("the arguments are no JSON object: {error}"))
        })?;
        let origin = caller.origin();
        let by = Some((caller.brain.clone(), caller.turn.clone()));
        // When no caller waits any more, the work behind it ends.
        let over = stop.child_token().drop_guard();
        let cancel = over.token().clone();
        let shared = Arc::clone(&self.shared);
        let work = tokio::task::spawn_blocking(move || {
            let arguments = arguments::check(tool.name, tool.arguments, &given)?;
            let stop = AtomicBool::new(false);
            let workspace = shared.workspace();
            (tool.act)(&McpCall {
                shared: &shared,
                workspace,
                arguments,
                origin,
                by,
                tools_of_asked: Self::for_asked_brain,
                progress: &|_| {},
                stop: &stop,
                cancel,
            })
        });
        let patience = if tool.name == ASK { PATIENCE + LONGEST_QUESTION } else { PATIENCE };
        match tokio::time::timeout(patience, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => Err(ToolFailure::new("internal", format!("internal error: {error}"))),
            Err(_) => {
                let message = format!("it took longer than {} s; it may still happen", patience.as_secs());
                Err(ToolFailure::new("timeout", message)
                    .hint("look at the present state before you do it again"))
            }
        }
    }
}

#[async_trait]
impl Toolbox for VaultTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |tool: &ToolEntry| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.doc.to_owned(),
            schema: Value::Object(arguments::schema(tool.arguments)),
        };
        self.tools.tools().map(spec).collect()
    }

    /// What is pinned stands in each later request: after untrusted text a person is asked about it.
    fn precondition(&self, call: &ToolCall, caller: &Caller) -> Precondition {
        let changes_pins = || {
            let given: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let workspace = self.shared.workspace();
            let notes = workspace.memory();
            let path = given["path"].as_str().map(|path| notes.note_named(path));
            path.is_some_and(|path| path.is_ok_and(|path| path == notes.pinned_path()))
        };
        let may_be_tainted = caller.tainted || self.is_asked;
        if !may_be_tainted || !(call.name == "memory_pin" || (call.name == "memory_edit" && changes_pins())) {
            return Precondition::Free;
        }
        Precondition::Ask(ApprovalSubject {
            run: format!("{} {}", call.name, call.arguments),
            why: "a pin stands in each later request, and the turn has read untrusted text".to_owned(),
            ..ApprovalSubject::default()
        })
    }

    /// Another brain may have read what it liked; logs hold what others said, and these tools don't always name them.
    fn untrusted(&self, tool: &str) -> bool {
        tool == ASK || tool == "memory_recall" || tool.starts_with("lcm_")
    }

    fn is_read_only(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.effect == Effect::Reads)
    }

    async fn call(&self, call: &ToolCall, caller: &Caller, stop: &CancellationToken) -> ToolEnd {
        let (text, is_error) = match self.run(call, caller, stop).await {
            // Text from notes is marked as untrusted already.
            Ok(answer) => (answer.text, false),
            Err(failure) => (failure.text(), true),
        };
        ToolEnd { text: history::shorten(&text, history::MOST_RESULT), is_error, ms: 0 }
    }

    /// A program may end with its turn, and a confirmation that is cut off on its way would be sent again.
    async fn turn_ended(&self, _: &str) {
        self.shared.finish_sends().await;
    }
}
