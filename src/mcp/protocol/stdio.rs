//! Serves MCP over standard input and output, as a host starts it.

use std::sync::Arc;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::io::stdio_pipes;
use tokio_util::sync::CancellationToken;

use super::lines::LineTransport;
use super::server::McpSession;
use super::subscriptions::Subscriptions;
use crate::mcp::shared_state::SharedState;

/// Serves one client until it closes standard input or `stop` is cancelled.
///
/// # Errors
/// The client doesn't speak MCP. One that leaves before it has said anything is none.
pub async fn serve_stdio(shared: Arc<SharedState>, stop: CancellationToken) -> Result<(), String> {
    let (input, output) = stdio_pipes();
    let transport = LineTransport::new(input, output);
    let hub = Subscriptions::new(Arc::clone(&shared));
    let server = McpSession::new(Arc::clone(&shared), hub);
    let result = match serve_server_with_ct(server, transport, stop).await {
        Ok(running) => {
            running.waiting().await.map(|_| ()).map_err(|error| format!("it went wrong inside: {error}"))
        }
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    shared.finish_sends().await;
    result
}
