//! Defines the interface of harnesses, the brains that are programs. A harness has an agent loop and tools of its own,
//! and runs as a child process for one turn.
//!
//! A harness receives a [`HarnessTask`], and reports to its [`HarnessHost`] while it works. The host records each call
//! and its result, so that another brain can continue. The host also asks a person for approvals.

use std::path::PathBuf;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::process::Supervision;
use crate::brain::{BrainError, FailureClass, Reply, Request, Result, ToolCall, ToolResult, Usage};
use crate::config::{McpServer, mcp_hosts};
use crate::vault::{BRAIN_VARIABLE, TURN_VARIABLE};

/// The parts of a harness; making it opens nothing.
#[derive(Debug, Clone)]
pub struct HarnessSetup {
    /// The brain's name in the settings.
    pub brain: String,
    /// The program and its first arguments.
    pub command: Vec<String>,
    /// The provider's name of the model.
    pub model: String,
    /// The provider's server, where it isn't the harness's own.
    pub url: Option<String>,
    /// The provider's key; without one the harness may have its own login.
    pub key: Option<SecretString>,
    /// The variable in which a program without a key's variable of its own is given the key.
    pub key_env: Option<String>,
    /// Tools of its own that it may use.
    pub tools: Vec<String>,
    /// How its program is run.
    pub supervision: Supervision,
    /// The folder that it runs in: its own, empty, the same each time, since sessions belong to a folder.
    pub dir: PathBuf,
    /// Our MCP server, where the brain is given the vault's tools.
    pub server: Option<McpServerCommand>,
}

/// The name under which a harness knows our MCP server.
pub const SERVER: &str = "vault-agent";

/// The name by which the host knows a call of another MCP server's tool; [`foreign`] makes its arguments.
pub const FOREIGN: &str = "mcp_call";

/// The arguments of [`FOREIGN`].
pub fn foreign(server: &str, tool: &str, arguments: &Value) -> Value {
    let none = json!({});
    let arguments = if arguments.is_object() { arguments } else { &none };
    json!({"server": server, "tool": tool, "arguments": arguments})
}

/// The variables that other MCP servers are given, for the environment of the program that starts them.
pub(super) fn variables(servers: &[McpServer]) -> Vec<(String, SecretString)> {
    let mut names: Vec<&str> = servers.iter().flat_map(mcp_hosts::variables).collect();
    names.sort_unstable();
    names.dedup();
    let set = |name: &str| Some((name.to_owned(), SecretString::from(std::env::var(name).ok()?)));
    names.into_iter().filter_map(set).collect()
}

/// Our MCP server, as a harness has to start it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServerCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables that it needs in its environment, whatever the harness hands on.
    pub env: Vec<(String, String)>,
}

impl HarnessSetup {
    /// The secrets to keep out of messages.
    pub fn secrets(&self) -> Vec<&str> {
        self.key.iter().map(ExposeSecret::expose_secret).collect()
    }

    /// Our MCP server for a turn; none for a request outside of turns.
    pub fn server_for(&self, turn: Option<&str>) -> Option<McpServerCommand> {
        let (mut server, turn) = self.server.clone().zip(turn)?;
        server.env.push((BRAIN_VARIABLE.to_owned(), self.brain.clone()));
        server.env.push((TURN_VARIABLE.to_owned(), turn.to_owned()));
        Some(server)
    }
}

/// One turn's work for a harness.
#[derive(Debug, Clone, Copy)]
pub struct HarnessTask<'a> {
    /// The turn's request, with the rounds of other brains before: the content of a new session.
    pub request: &'a Request,
    /// How many messages at the end of the request a resumed session doesn't have yet.
    pub fresh: usize,
    /// The session that holds what stands before those; without one a new session begins.
    pub session: Option<&'a str>,
    /// The turn, for the history of what its tools change; none for a request outside of turns, which has no tools.
    pub turn: Option<&'a str>,
    /// Whether the session is resumed later; else it leaves no trace, if the harness can do that.
    pub keep: bool,
    /// Other people's MCP servers that it may use. The toolbox decides about their tools: each call is asked about.
    pub servers: &'a [McpServer],
}

/// The caller that runs a harness. By default it ignores all events, and allows no call and no retry.
#[async_trait]
pub trait HarnessHost: Send + Sync {
    /// The harness calls a tool: a tool of our server by its own name, without the server's; another server's tool as
    /// [`FOREIGN`]. Called before the result is known; the call is on disk when this returns.
    async fn tool_started(&self, _call: &ToolCall) {}
    /// The tool's result; on disk when this returns.
    async fn tool_finished(&self, _result: &ToolResult) {}
    /// The run's usage so far. A host that finds it too much cancels the run.
    fn used(&self, _: &Usage) {}
    /// The session's cost so far in USD, all its turns together, by the harness's own reckoning.
    fn cost(&self, _usd: f64) {}
    /// Whether the call may happen; the harness asks for a person's decision.
    async fn may(&self, _call: &ToolCall) -> bool {
        false
    }
    /// The current session, which can be resumed next time.
    async fn session(&self, _id: &str) {}
    /// The harness is about to retry its provider after such a failure. Returns false to end the run.
    fn retries(&self, _class: FailureClass, _words: &str) -> bool {
        false
    }
}

/// A program that is a brain.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Runs one turn to its end, in a process group of its own that is gone when this returns or is dropped.
    ///
    /// # Errors
    /// Why there is no answer, classed, with a message that holds no key.
    async fn turn(&self, task: &HarnessTask<'_>, host: &dyn HarnessHost) -> Result<Reply>;

    /// As [`Self::turn`], until `cancel`.
    ///
    /// # Errors
    /// As [`Self::turn`], or [`BrainError::cancelled`].
    async fn run(
        &self,
        task: &HarnessTask<'_>,
        host: &dyn HarnessHost,
        cancel: CancellationToken,
    ) -> Result<Reply> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(BrainError::cancelled()),
            answered = self.turn(task, host) => answered,
        }
    }
}
