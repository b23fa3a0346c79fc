//! The catalog's tools for the assistant itself: the same checks and answers as over the protocol, in process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::catalog::ToolSet;
use super::desk::{Desk, Place};
use super::failure::Failure;
use super::tools::{Answer, Call};
use super::{arguments, untrusted};
use crate::agent::Toolbox;
use crate::agent::tools::Caller;
use crate::brain::{ToolCall, ToolSpec};
use crate::memory::Scope;
use crate::turn::history;
use crate::turn::journal::ToolEnd;
use crate::vault::{Actor, Origin};
use crate::workspace::Workspace;

/// Characters of a result that a brain is given.
const MOST_CHARS: usize = 30_000;
/// Longer than this nobody waits; what was begun is finished all the same.
const PATIENCE: Duration = Duration::from_secs(60);

/// The vault's typed tools.
#[derive(Debug)]
pub struct VaultTools {
    desk: Arc<Desk>,
}

impl VaultTools {
    /// Over a workspace of their own: what a model writes on a person's word is settled at once.
    pub fn new(workspace: Workspace) -> Self {
        let place = Place { saved: Scope::Global, here: Scope::Global, before: None };
        Self { desk: Arc::new(Desk::new(workspace, ToolSet::full(), place)) }
    }

    async fn run(&self, call: &ToolCall, caller: &Caller) -> Result<Answer, Failure> {
        let known = || self.desk.tools().tools().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
        let Some(tool) = self.desk.tools().get(&call.name) else {
            let message = format!("there is no tool `{}`", call.name);
            return Err(Failure::new("unknown_tool", message).hint(format!("there are: {}", known())));
        };
        let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let given: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            Failure::new("invalid_arguments", format!("the arguments are no JSON object: {error}"))
        })?;
        let origin = Origin::new(Actor::Assistant)
            .client(&caller.brain)
            .conversation(format!("turn {} call {}", caller.turn, caller.number));
        let desk = Arc::clone(&self.desk);
        let work = tokio::task::spawn_blocking(move || {
            let arguments = arguments::check(tool, &given)?;
            let stop = AtomicBool::new(false);
            let workspace = desk.workspace();
            (tool.act)(&Call { desk: &desk, workspace, arguments, origin, progress: &|_| {}, stop: &stop })
        });
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => Err(Failure::new("internal", format!("it went wrong inside: {error}"))),
            Err(_) => {
                let message = format!("it took longer than {} s; it may still happen", PATIENCE.as_secs());
                Err(Failure::new("timeout", message).hint("look at the present state before you do it again"))
            }
        }
    }
}

#[async_trait]
impl Toolbox for VaultTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let described = self.desk.tools().tools().map(super::catalog::Tool::describe);
        described
            .map(|tool| ToolSpec {
                name: tool.name.to_string(),
                description: tool.description.map(|words| words.to_string()).unwrap_or_default(),
                schema: Value::Object((*tool.input_schema).clone()),
            })
            .collect()
    }

    async fn call(&self, call: &ToolCall, caller: &Caller, _: &CancellationToken) -> ToolEnd {
        let began = Instant::now();
        let (text, is_error) = match self.run(call, caller).await {
            Ok(answer) if answer.untrusted => (untrusted::marked(&answer.text), false),
            Ok(answer) => (answer.text, false),
            Err(failure) => {
                let hint = failure.hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
                (format!("{}{hint}", failure.message), true)
            }
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        ToolEnd { text: history::shorten(&text, MOST_CHARS), is_error, ms }
    }
}
