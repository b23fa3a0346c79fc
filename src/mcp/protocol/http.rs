//! Serves MCP over streamable HTTP, for clients that can't start a process.
//!
//! It listens on this machine alone unless asked otherwise. Every request must bring the token; the
//! protocol's library checks `Host` (no name that was rebound to this address) and `Origin` (no page of
//! another site) besides.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::server::McpSession;
use super::subscriptions::Subscriptions;
use crate::config::ConfigError;
use crate::listen::{BearerToken, HostNames};
use crate::mcp::shared_state::SharedState;

/// The path of the endpoint.
const ENDPOINT: &str = "/mcp";

/// The address to listen on, and the accepted hosts and origins.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// Whether an address that other machines can reach is meant.
    pub allow_remote: bool,
    /// Names that requests may call this server by, besides those of this machine.
    pub hosts: Vec<String>,
    /// Sites whose pages may call this server.
    pub origins: Vec<String>,
}

/// The server could not be started, or ended.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Other machines could reach it, and that wasn't asked for.
    #[error("`{0}` can be reached from other machines")]
    Remote(SocketAddr),
    /// The token can't be had.
    #[error(transparent)]
    Token(#[from] ConfigError),
    /// The address can't be listened on, or the listener failed.
    #[error("`{address}`: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The operating system's error.
        source: std::io::Error,
    },
}

/// Serves any number of clients until `stop` is cancelled. `ready` is told the endpoint's URL, and where
/// the token is written.
///
/// # Errors
/// The address or the token can't be used.
pub async fn serve_http(
    shared: Arc<SharedState>,
    options: &HttpOptions,
    ready: impl FnOnce(&str, Option<&std::path::Path>),
    stop: CancellationToken,
) -> Result<(), HttpError> {
    if !options.address.ip().is_loopback() && !options.allow_remote {
        return Err(HttpError::Remote(options.address));
    }
    let workspace = shared.workspace();
    let token = BearerToken::load(&workspace.dirs.state, workspace.vault.root())?;
    let failed = |source| HttpError::Listen { address: options.address, source };
    let listener = TcpListener::bind(options.address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    ready(&format!("http://{address}{ENDPOINT}"), token.file.as_deref());
    let hub = Subscriptions::new(Arc::clone(&shared));
    let sessions = Arc::clone(&shared);
    let service = StreamableHttpService::new(
        move || Ok(McpSession::new(Arc::clone(&sessions), Arc::clone(&hub))),
        Arc::new(LocalSessionManager::default()),
        config(options, address, stop.clone()),
    );
    let router = Router::new()
        .route_service(ENDPOINT, service)
        .layer(middleware::from_fn_with_state(Arc::new(token), authorized));
    let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
    shared.finish_sends().await;
    served.map_err(failed)
}

/// The configuration of the checks in the protocol's library.
fn config(options: &HttpOptions, address: SocketAddr, stop: CancellationToken) -> StreamableHttpServerConfig {
    let names = HostNames::new(address, &options.hosts);
    let mut origins = names.origins();
    origins.extend(options.origins.iter().cloned());
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.hosts())
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    config.cancellation_token = stop;
    config
}

/// Lets a request through that brings the token.
async fn authorized(State(token): State<Arc<BearerToken>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token.is_in(given) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"vault-agent\"")];
    let words =
        "this server wants `Authorization: Bearer TOKEN`; `vault-agent mcp --http` says where the token is\n";
    (StatusCode::UNAUTHORIZED, challenge, words).into_response()
}
