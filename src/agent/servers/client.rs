//! Connects to one MCP server, over pipes or HTTP, lists its allowed tools, and calls them.
//!
//! A server of the settings comes in; tools, results and errors without secrets go out. The server's secrets are kept
//! in `hidden`; `server_output` removes them from results. Also stores the health of all servers in `mcp.json`: the
//! times of the last answer and the last failure, and the last error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
    PaginatedRequestParams, Tool,
};
use rmcp::service::{RunningService, ServiceError, serve_client};
use rmcp::transport::Transport;
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::server_output;
use super::transport::{HttpTransport, StdioTransport};
use crate::agent::skills::HiddenSecrets;
use crate::brain::health::LastReply;
use crate::config::{McpServer, json_file, secret};
use crate::format::shortened;
use crate::workspace::Workspace;

/// The most pages of tools that are read.
const MOST_PAGES: usize = 50;

/// A server that answers.
#[derive(Debug)]
pub struct ServerClient {
    service: RunningService<RoleClient, ClientConfig>,
    /// The allowed tools that it offers.
    pub tools: Vec<Tool>,
    /// The reason of its end, if known.
    words: server_output::ServerEnd,
    /// The secrets that it was given, which are removed from its output.
    pub hidden: HiddenSecrets,
}

impl ServerClient {
    /// Starts the server, or connects to it, and lists its tools.
    ///
    /// # Errors
    /// A sentence on what is wrong, without secrets.
    pub async fn start(server: &McpServer, workspace: &Workspace) -> Result<Self, String> {
        let words = server_output::ServerEnd::default();
        let hidden = HiddenSecrets::new(secrets(server, workspace).iter());
        match &server.url {
            None => {
                Self::over(StdioTransport::start(server, workspace, &words)?, server, words, hidden).await
            }
            Some(url) => {
                Self::over(HttpTransport::new(server, url, workspace, &words)?, server, words, hidden).await
            }
        }
    }

    async fn over(
        transport: impl Transport<RoleClient> + 'static,
        server: &McpServer,
        words: server_output::ServerEnd,
        hidden: HiddenSecrets,
    ) -> Result<Self, String> {
        let us = Implementation::new("vault-agent", env!("CARGO_PKG_VERSION"));
        let config = ClientConfig::new(ClientCapabilities::default(), us);
        let service = serve_client(config, transport)
            .await
            .map_err(|error| words.reason_or(&format!("it doesn't speak the protocol: {error}"), &hidden))?;
        let mut link = Self { service, tools: Vec::new(), words, hidden };
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = link.service.list_tools(Some(page)).await;
            let listed =
                listed.map_err(|error| link.why(&format!("it doesn't say what tools it has: {error}")))?;
            // Only what is allowed is kept, once, however many it offers.
            link.tools.extend(listed.tools.into_iter().filter(|tool| server.allows(&tool.name)));
            link.tools.sort_by(|one, other| one.name.cmp(&other.name));
            link.tools.dedup_by(|one, other| one.name == other.name);
            cursor = listed.next_cursor;
            if cursor.is_none() || link.tools.len() == server.tools.len() {
                break;
            }
        }
        Ok(link)
    }

    fn why(&self, otherwise: &str) -> String {
        self.words.reason_or(otherwise, &self.hidden)
    }

    /// Calls a tool. A server's refusal is a result, too.
    ///
    /// # Errors
    /// A sentence on how the server is gone.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<CallToolResult, String> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match self.service.call_tool(params).await {
            Err(ServiceError::McpError(error)) => {
                let why = self.hidden.hide(&error.message);
                Ok(CallToolResult::error(vec![ContentBlock::text(shortened(&why, 2_000))]))
            }
            called => called.map_err(|error| self.why(&error.to_string())),
        }
    }

    /// Ends it, and waits for its end.
    pub async fn end(self) {
        let _ = self.service.cancel().await;
    }
}

/// A server's secrets: the variables of its environment that the settings name, and its key.
pub(crate) fn secrets(server: &McpServer, workspace: &Workspace) -> Vec<SecretString> {
    let named = server.env.iter().filter_map(|name| std::env::var(name).ok()).map(SecretString::from);
    let variable = server.key_env.as_deref().unwrap_or_default();
    let key = secret(variable, server.key_file.as_deref(), workspace.vault.root()).ok().flatten();
    named.chain(key).collect()
}

/// The file's name.
pub const FILE_NAME: &str = "mcp.json";

/// The file.
#[derive(Debug, Clone)]
pub struct ServerHealth(PathBuf);

impl ServerHealth {
    /// In this state directory.
    pub fn new(state: &Path) -> Self {
        Self(state.join(FILE_NAME))
    }

    /// The health of all servers; empty if the file can't be read.
    pub fn load(&self) -> BTreeMap<String, LastReply> {
        json_file::load(&self.0).unwrap_or_default()
    }

    /// Records that a server answered, or why it failed.
    pub(super) fn record(&self, server: &str, went: Result<(), &str>, now: Timestamp) {
        let mut all = self.load();
        let seen: &mut LastReply = all.entry(server.to_owned()).or_default();
        match went {
            Ok(()) => seen.last_ok = Some(now),
            Err(why) => (seen.failed, seen.last_error) = (Some(now), Some(why.to_owned())),
        }
        if let Err(error) = json_file::save(&self.0, &all) {
            tracing::debug!("how MCP servers are can't be kept: {error}");
        }
    }
}
