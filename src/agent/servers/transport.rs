//! Implements the two transports of an MCP server: the pipes of its program, or streamable HTTP.
//!
//! Over pipes, each line is one JSON message. The program runs in a folder of its own, which is removed with it. A
//! supervisor process ends the program and all processes that it starts. The program's environment is PATH, HOME, LANG
//! and the variables of the settings; the values of these variables are removed from its errors.
//!
//! Over HTTP, each message is a POST request by this program's HTTP client. Messages that the server sends outside of a
//! call are not read. If the server ends the session, the client ends; the next call starts a new client.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::server_output::{ServerEnd, replace_unknown_content};
use crate::agent::locked_folder::{LockedFolder, sweep};
use crate::agent::skills::HiddenSecrets;
use crate::brain::process::{Child, Program, Supervision};
use crate::brain::scrub;
use crate::brain::wire::{self, BrainTimeouts};
use crate::config::{McpServer, secret};
use crate::format::lenient_json;
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
        let program = Program { command, dir, secrets, untrusted: true, ..Program::default() };
        let timeouts = BrainTimeouts { first_byte: DAY, silence: DAY, overall: DAY };
        let supervision = Supervision { state, timeouts };
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
            let error = match child.next().await {
                // A line that is no message of the protocol is ignored.
                Ok(Some(mut value)) => {
                    let answers = value.get("id").filter(|_| value.get("method").is_none());
                    if answers.is_some_and(|id| !self.waiting.remove(&id.to_string())) {
                        continue;
                    }
                    replace_unknown_content(&mut value);
                    match serde_json::from_value(value) {
                        Ok(message) => return Some(message),
                        Err(_) => continue,
                    }
                }
                Ok(None) => child.crashed().await,
                Err(error) => error,
            };
            self.words.set_reason(&error.message);
            return None;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Dropping it ends the program and its descendants.
        drop(self.child.take());
        Ok(())
    }
}

/// The most bytes of one answer.
const MOST_BYTES: usize = 32 << 20;
/// The most bytes of a refusal that are read.
const MOST_WORDS: usize = 8 << 10;
/// Messages that wait to be read.
const MESSAGES: usize = 64;
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// A server over HTTP.
pub struct HttpTransport {
    line: Arc<HttpSession>,
    found: mpsc::Sender<Value>,
    messages: mpsc::Receiver<Value>,
    answers: Arc<Mutex<JoinSet<()>>>,
}

/// The parts that every request needs.
struct HttpSession {
    client: reqwest::Client,
    url: String,
    key: Option<SecretString>,
    /// The session and the protocol's version, once the server has named them.
    named: Mutex<(Option<String>, Option<String>)>,
    words: ServerEnd,
}

impl HttpTransport {
    /// Makes no call yet.
    ///
    /// # Errors
    /// The key isn't there, or the system has no TLS.
    pub fn new(
        server: &McpServer,
        url: &str,
        workspace: &Workspace,
        words: &ServerEnd,
    ) -> Result<Self, String> {
        let key = match (&server.key_env, &server.key_file) {
            (None, None) => None,
            (variable, file) => {
                let variable = variable.as_deref().unwrap_or_default();
                let found = secret(variable, file.as_deref(), workspace.vault.root());
                let found = found.map_err(|error| error.to_string())?;
                Some(found.ok_or_else(|| format!("there is no key; set `{variable}`"))?)
            }
        };
        let client = wire::http::client().map_err(|error| error.message)?;
        let line =
            HttpSession { client, url: url.to_owned(), key, named: Mutex::default(), words: words.clone() };
        let (found, messages) = mpsc::channel(MESSAGES);
        Ok(Self { line: Arc::new(line), found, messages, answers: Arc::default() })
    }
}

impl HttpSession {
    fn request(&self, method: reqwest::Method) -> reqwest::RequestBuilder {
        let mut request = self.client.request(method, &self.url);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let (session, version) = self.named.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (name, value) in [(SESSION, session), (VERSION, version)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    /// An error that may be shown.
    fn wrong(&self, why: &str) -> std::io::Error {
        let secrets: Vec<&str> = self.key.iter().map(ExposeSecret::expose_secret).collect();
        let why = scrub::scrub(why, &secrets);
        self.words.set_reason(&why);
        std::io::Error::other(why)
    }

    async fn post(&self, message: &Value) -> Result<reqwest::Response, std::io::Error> {
        let post = self.request(reqwest::Method::POST).header(ACCEPT, "application/json, text/event-stream");
        let response = post.json(message).send().await;
        let response = response.map_err(|error| self.wrong(&error.without_url().to_string()))?;
        let status = response.status();
        if status.is_success() {
            let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
            if let Some(session) = session {
                self.named.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(session.to_owned());
            }
            return Ok(response);
        }
        let (mut body, mut head) = (response.bytes_stream(), Vec::new());
        while head.len() < MOST_WORDS
            && let Some(Ok(piece)) = body.next().await
        {
            head.extend_from_slice(&piece);
        }
        // It is cut after its keys are taken out, so that no part of one is left.
        let words = String::from_utf8_lossy(&head);
        Err(self.wrong(format!("it answered {status}: {words}").trim_end_matches(": ")))
    }

    /// Hands on what an answer holds.
    ///
    /// # Errors
    /// Why it holds no more, in words.
    async fn read(&self, response: reqwest::Response, found: &mpsc::Sender<Value>) -> Result<(), String> {
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_stream = kind.starts_with("text/event-stream");
        let mut left = MOST_BYTES;
        let bytes = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(|error| std::io::Error::other(error.without_url().to_string()))?;
            left = left.checked_sub(piece.len()).ok_or_else(|| {
                std::io::Error::other(format!("its answer is longer than {} MiB", MOST_BYTES >> 20))
            })?;
            Ok::<_, std::io::Error>(piece)
        });
        if is_stream {
            let mut events = std::pin::pin!(wire::http::whole_lines(bytes).eventsource());
            while let Some(event) = events.next().await {
                let event = event.map_err(|error| error.to_string())?;
                self.hand_on(event.data.as_bytes(), found).await;
            }
            return Ok(());
        }
        let mut body = Vec::new();
        let mut bytes = std::pin::pin!(bytes);
        while let Some(piece) = bytes.next().await {
            body.extend_from_slice(&piece.map_err(|error| error.to_string())?);
        }
        self.hand_on(&body, found).await;
        Ok(())
    }

    async fn hand_on(&self, bytes: &[u8], found: &mpsc::Sender<Value>) {
        let Ok(message) = lenient_json::from_slice::<Value>(bytes) else { return };
        if let Some(version) = message["result"]["protocolVersion"].as_str() {
            self.named.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(version.to_owned());
        }
        // The receiver may have its result already.
        let _ = found.send(message).await;
    }
}

impl Transport<RoleClient> for HttpTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (line, found, answers) = (Arc::clone(&self.line), self.found.clone(), Arc::clone(&self.answers));
        async move {
            let message = serde_json::to_value(&item)?;
            let response = line.post(&message).await?;
            let id = message.get("id").filter(|_| message.get("method").is_some()).cloned();
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.spawn(async move {
                if let Err(why) = line.read(response, &found).await {
                    line.wrong(&why);
                }
                // A request whose response holds no result fails; where it held one, this message is ignored.
                if let Some(id) = id {
                    let why = line.words.reason_or("its answer held no result", &HiddenSecrets::default());
                    let error = serde_json::json!({"code": -32000, "message": why});
                    let _ = found.send(serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error})).await;
                }
            });
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let mut message = self.messages.recv().await?;
            replace_unknown_content(&mut message);
            if let Ok(message) = serde_json::from_value(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner) = JoinSet::new();
        let open = self.line.named.lock().unwrap_or_else(PoisonError::into_inner).0.is_some();
        if open {
            let _ = self.line.request(reqwest::Method::DELETE).send().await;
        }
        Ok(())
    }
}
