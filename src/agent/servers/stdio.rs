//! Implements the pipe transport of an MCP server: runs its program, one JSON message a line.
//!
//! The program runs under our supervisor, which ends all of its processes, in a folder of its own that is removed with
//! it. Its environment is PATH, HOME, LANG and the variables of the settings; the values of the latter are removed from
//! its errors.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use secrecy::SecretString;

use super::server_output::ServerEnd;
use crate::agent::locked_folder::{LockedFolder, sweep};
use crate::brain::process::{Child, Program, Supervision};
use crate::brain::wire::BrainTimeouts;
use crate::config::McpServer;
use crate::workspace::Workspace;

/// The folder in the state directory where servers have theirs.
const FOLDER: &str = "mcp";
/// No limit here: [`super`] limits a server's time.
const DAY: Duration = Duration::from_secs(86_400);

/// A running program.
pub struct StdioTransport {
    child: Option<Child>,
    /// The ids of requests without an answer; an answer to another id is ignored.
    waiting: HashSet<String>,
    words: ServerEnd,
    /// Dropped last.
    _folder: LockedFolder,
}

impl StdioTransport {
    /// Starts the program of a server.
    ///
    /// # Errors
    /// A sentence on why it can't be started.
    pub fn start(server: &McpServer, workspace: &Workspace, words: &ServerEnd) -> Result<Self, String> {
        let mut secrets = Vec::new();
        for name in &server.env {
            let value =
                std::env::var(name).map_err(|_| format!("the environment variable `{name}` is not set"))?;
            secrets.push((name.clone(), SecretString::from(value)));
        }
        let state = workspace.dirs.state.clone();
        let base = state.join(FOLDER);
        sweep(&base);
        let folder = LockedFolder::begin(&base)
            .map_err(|error| format!("no folder can be made in `{}`: {error}", base.display()))?;
        let (command, dir) = (server.command.clone(), folder.folder.clone());
        let program = Program { command, dir, secrets, stranger: true, ..Program::default() };
        let watch = BrainTimeouts { first_byte: DAY, silence: DAY, overall: DAY };
        let supervision = Supervision { state, watch };
        let child = Child::start(&supervision, &program).map_err(|error| error.message)?;
        Ok(Self { child: Some(child), waiting: HashSet::new(), words: words.clone(), _folder: folder })
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sent = match (&self.child, serde_json::to_value(&item)) {
            (Some(child), Ok(message)) => {
                if let (Some(id), Some(_)) = (message.get("id"), message.get("method")) {
                    self.waiting.insert(id.to_string());
                }
                child.send(&message);
                Ok(())
            }
            (None, _) => Err(std::io::ErrorKind::BrokenPipe.into()),
            (_, Err(error)) => Err(error.into()),
        };
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let child = self.child.as_mut()?;
            match child.next().await {
                // A line that is no message of the protocol is ignored.
                Ok(Some(value)) => {
                    let answers = value.get("id").filter(|_| value.get("method").is_none());
                    if answers.is_some_and(|id| !self.waiting.remove(&id.to_string())) {
                        continue;
                    }
                    if let Ok(message) = serde_json::from_value(value) {
                        return Some(message);
                    }
                }
                Ok(None) => {
                    let error = child.crashed().await;
                    self.words.set_reason(&error.message);
                    return None;
                }
                Err(error) => {
                    self.words.set_reason(&error.message);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Dropping it ends the program and its descendants.
        drop(self.child.take());
        Ok(())
    }
}
