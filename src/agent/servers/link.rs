//! A link to one server: the protocol's own client over pipes or over HTTP.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    PaginatedRequestParams, Tool,
};
use rmcp::service::{RunningService, ServiceError, serve_client};
use rmcp::{RoleClient, transport::Transport};
use serde_json::{Map, Value};

use super::pipes::Pipes;
use super::shown;
use super::web::Web;
use crate::config::McpServer;
use crate::workspace::Workspace;

/// So many pages of tools are read.
const MOST_PAGES: usize = 50;

/// A server that answers.
#[derive(Debug)]
pub struct Link {
    service: RunningService<RoleClient, ClientConfig>,
    tools: Vec<Tool>,
    /// What is known of its end.
    words: shown::Words,
}

/// Why a call has no result.
#[derive(Debug)]
pub enum CallError {
    /// The server says that it can't be done.
    Refused(String),
    /// The server is gone.
    Gone(String),
}

impl Link {
    /// Starts the server, or calls it, and asks what it has.
    ///
    /// # Errors
    /// A sentence on what is wrong, without secrets.
    pub async fn start(server: &McpServer, workspace: &Workspace) -> Result<Self, String> {
        let words = shown::Words::default();
        match &server.url {
            None => Self::over(Pipes::start(server, workspace, &words)?, server, words).await,
            Some(url) => Self::over(Web::new(server, url, workspace, &words)?, server, words).await,
        }
    }

    async fn over(
        transport: impl Transport<RoleClient> + 'static,
        server: &McpServer,
        words: shown::Words,
    ) -> Result<Self, String> {
        let us = Implementation::new("vault-agent", env!("CARGO_PKG_VERSION"));
        let config = ClientConfig::new(ClientCapabilities::default(), us);
        let service = serve_client(config, transport)
            .await
            .map_err(|error| words.or(&format!("it doesn't speak the protocol: {error}")))?;
        let mut link = Self { service, tools: Vec::new(), words };
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = link.service.list_tools(Some(page)).await;
            let listed = listed
                .map_err(|error| link.words.or(&format!("it doesn't say what tools it has: {error}")))?;
            // Only what is allowed is kept, however many it offers.
            link.tools.extend(listed.tools.into_iter().filter(|tool| server.allows(&tool.name)));
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        link.tools.sort_by(|one, other| one.name.cmp(&other.name));
        link.tools.dedup_by(|one, other| one.name == other.name);
        Ok(link)
    }

    /// The allowed tools that it offers.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// The server refuses, or is gone.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<CallToolResult, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.service.call_tool(params).await.map_err(|error| match error {
            ServiceError::McpError(error) => CallError::Refused(shown::cut(&error.message, 2_000)),
            error => CallError::Gone(self.words.or(&error.to_string())),
        })
    }

    /// Ends it, and waits for its end.
    pub async fn end(self) {
        let _ = self.service.cancel().await;
    }
}
