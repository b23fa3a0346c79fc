//! Serves MCP over its two transports: standard input and output, and streamable HTTP.
//!
//! Standard input and output is for a host that starts this process, with one JSON message per line. A line that is no
//! JSON or no valid message is answered with an error, as JSON-RPC specifies, and the next line is read. One task does
//! all writing, so that a message is never cut when its sender is dropped. The future of a read may be dropped at any
//! await: a partly read line stays in the buffer.
//!
//! Streamable HTTP is for clients that can't start a process. The server listens on this machine alone, unless its
//! options allow another address. Every request must contain the token. The protocol's library also checks `Host`
//! against names that were rebound to this address, and `Origin` against pages of other sites.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server_with_ct};
use rmcp::transport::Transport;
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::server::McpSession;
use super::subscriptions::Subscriptions;
use crate::config::ConfigError;
use crate::format::lenient_json;
use crate::listen::{BearerToken, HostNames, MOST_CONNECTIONS, serve};
use crate::mcp::shared_state::SharedState;

/// The longest line that is read; a longer one is refused, and nothing of it kept.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// JSON-RPC's code for a line that is no JSON.
const PARSE_ERROR: i32 = -32700;
/// Its code for JSON that is no message.
const INVALID_REQUEST: i32 = -32600;

/// A line to write, and who waits until it is.
type OutgoingLine = (Vec<u8>, oneshot::Sender<Result<(), Error>>);

/// Messages as lines.
#[derive(Debug)]
pub struct LineTransport<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    too_long: bool,
    write: Option<mpsc::UnboundedSender<OutgoingLine>>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// Reads messages from `read` and writes them to `write`.
    pub fn new(read: R, write: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, orders) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write_lines(write, orders));
        let read = BufReader::new(read);
        Self { read, line: Vec::new(), too_long: false, write: Some(sender), writer: Some(writer) }
    }

    /// Reads on until a line is whole in `self.line`; none at the end.
    async fn read_line(&mut self) -> Option<()> {
        loop {
            let taken = {
                let there = self.read.fill_buf().await.inspect_err(|error| {
                    tracing::error!("standard input can't be read: {error}");
                });
                let there = there.ok().filter(|there| !there.is_empty())?;
                let end = memchr::memchr(b'\n', there);
                let taken = end.map_or(there.len(), |end| end + 1);
                self.too_long |= self.line.len() + taken > MAX_LINE_BYTES;
                if self.too_long {
                    self.line.clear();
                } else {
                    self.line.extend_from_slice(&there[..taken]);
                }
                (taken, end.is_some())
            };
            self.read.consume(taken.0);
            if taken.1 {
                return Some(());
            }
        }
    }

    fn order(&self, message: &impl serde::Serialize) -> Result<oneshot::Receiver<Result<(), Error>>, Error> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let (done, wait) = oneshot::channel();
        let closed = || Error::new(ErrorKind::NotConnected, "standard output is closed");
        self.write.as_ref().ok_or_else(closed)?.send((line, done)).map_err(|_| closed())?;
        Ok(wait)
    }

    /// Answers a line that is no message; no call waits for that.
    fn refuse(&self, refusal: &Value) {
        if let Err(error) = self.order(refusal) {
            tracing::debug!("not answered: {error}");
        }
    }
}

async fn write_lines(mut write: impl AsyncWrite + Unpin, mut orders: mpsc::UnboundedReceiver<OutgoingLine>) {
    while let Some((line, done)) = orders.recv().await {
        let written = async {
            write.write_all(&line).await?;
            write.flush().await
        };
        // The client is gone.
        let _ = done.send(written.await);
    }
}

/// The message in a line; none for a blank line and for a notification that means nothing here.
fn message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Value> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let value: Value = lenient_json::from_slice(line)
        .map_err(|error| refusal(PARSE_ERROR, &format!("this line is no JSON: {error}"), &Value::Null))?;
    lenient_json::from_slice(line).map(Some).or_else(|_| {
        let id = value.get("id").filter(|id| id.is_string() || id.is_number()).unwrap_or(&Value::Null);
        match value.get("method") {
            Some(Value::String(_)) if value.get("id").is_none() => Ok(None),
            _ => Err(refusal(INVALID_REQUEST, "this is no message of the protocol", id)),
        }
    })
}

fn refusal(code: i32, message: &str, id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let order = self.order(&item);
        async move { order?.await.unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into())) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.read_line().await?;
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.too_long) {
                self.refuse(&refusal(PARSE_ERROR, "this line is longer than 16 MiB", &Value::Null));
                continue;
            }
            match message(&line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => self.refuse(&refusal),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Error> {
        drop(self.write.take());
        match self.writer.take() {
            Some(writer) => writer.await.map_err(Error::other),
            None => Ok(()),
        }
    }
}

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
            running.waiting().await.map(|_| ()).map_err(|error| format!("internal error: {error}"))
        }
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            Err("the client's first message is no valid `initialize`".to_owned())
        }
        Err(error) => Err(error.to_string()),
    };
    shared.finish_sends().await;
    result
}

/// How long the end waits for answers that are under way.
const LAST_ANSWERS: Duration = Duration::from_secs(60);
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
    let places = serve(listener, router, stop).await;
    // Calls that were begun end first; a host that doesn't read is not waited for.
    let _ = tokio::time::timeout(LAST_ANSWERS, places.acquire_many(MOST_CONNECTIONS)).await;
    shared.finish_sends().await;
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_apart() {
        let code = |line: &str| match message(line.as_bytes()) {
            Ok(found) => (i64::from(found.is_some()), Value::Null),
            Err(refusal) => (refusal["error"]["code"].as_i64().unwrap(), refusal["id"].clone()),
        };
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), (1, Value::Null));
        assert_eq!(code("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r"), (1, Value::Null));
        assert_eq!(code(" \r"), (0, Value::Null));
        assert_eq!(code("{"), (-32700, Value::Null));
        assert_eq!(code("hello"), (-32700, Value::Null));
        assert_eq!(code("\"\\ud800\""), (-32600, Value::Null));
        assert_eq!(code("null"), (-32600, Value::Null));
        assert_eq!(code(r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#), (-32600, json!(9)));
        assert_eq!(code(r#"{"jsonrpc":"1.0","method":"window/logMessage"}"#), (0, Value::Null));
    }
}
