//! A model server of our own for tests: it speaks all three wires over a real socket on 127.0.0.1, streamed, and
//! says what it was told to say, in the order in which it was asked. It can also fail in every way that is known
//! of real ones.
//!
//! ```ignore
//! let server = ModelServer::start().await;
//! server.script(vec![
//!     Reply::tool("look", json!({"q": "tea"})),
//!     Reply::status(429).retry_after(2),
//!     Reply::text("Anna likes oolong."),
//! ]);
//! // … `url = server.url()` in a brain's settings …
//! assert_eq!(server.requests()[0].last_user(), "What does Anna like?");
//! ```
//!
//! Where the script is over, the responder (`respond`) is asked; without one it answers with the status 500.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod reply;
mod speak;

use crate::support::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

pub use reply::{Fault, Reply};
pub use speak::body;

/// A request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `messages`, `responses` or `chat`; empty for another path.
    pub wire: &'static str,
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    /// The body's own bytes.
    pub bytes: Vec<u8>,
    /// When it was there.
    pub at: std::time::Instant,
}

impl Asked {
    /// The messages or the input items.
    pub fn messages(&self) -> Vec<Value> {
        let key = if self.wire == "responses" { "input" } else { "messages" };
        self.body[key].as_array().cloned().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    /// The words of the last message that a person wrote.
    pub fn last_user(&self) -> String {
        let messages = self.messages();
        let of_person = |m: &&Value| m["role"] == "user" && m["content"][0]["type"] != "tool_result";
        messages.iter().rev().find(of_person).map(|m| words(&m["content"])).unwrap_or_default()
    }

    /// What the tools said, in order.
    pub fn results(&self) -> Vec<String> {
        let mut found = Vec::new();
        for message in self.messages() {
            if message["role"] == "tool" {
                found.push(words(&message["content"]));
            } else if message["type"] == "function_call_output" {
                found.push(words(&message["output"]));
            }
            let blocks = message["content"].as_array().into_iter().flatten();
            found.extend(blocks.filter(|b| b["type"] == "tool_result").map(|b| words(&b["content"])));
        }
        found
    }

    /// The system text.
    pub fn system(&self) -> String {
        match self.wire {
            "messages" => words(&self.body["system"]),
            "responses" => words(&self.body["instructions"]),
            _ => {
                let told = self.messages().into_iter().find(|m| m["role"] == "system");
                told.map(|m| words(&m["content"])).unwrap_or_default()
            }
        }
    }
}

fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

type Responder = Box<dyn FnMut(&Asked) -> Reply + Send>;

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Reply>>,
    responder: Mutex<Option<Responder>>,
    asked: Mutex<Vec<Arc<Asked>>>,
    /// Requests whose client went away before the answer was whole.
    gone: AtomicUsize,
}

/// A running server. Dropping it closes its socket.
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl ModelServer {
    /// Opens a free port of 127.0.0.1.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (address, shared) = (listener.local_addr().unwrap(), Arc::new(Shared::default()));
        let task = AbortOnDropHandle::new(tokio::spawn(serve(listener, shared.clone())));
        Self { shared, address, _task: task }
    }

    /// One that says these.
    pub async fn of(replies: Vec<Reply>) -> Self {
        let server = Self::start().await;
        server.script(replies);
        server
    }

    /// One that answers so.
    pub async fn by(responder: impl FnMut(&Asked) -> Reply + Send + 'static) -> Self {
        let server = Self::start().await;
        server.respond(responder);
        server
    }

    /// One with a runtime of its own, which has to live as long as it.
    pub fn alone() -> (tokio::runtime::Runtime, Self) {
        let runtime = support::runtime();
        // Its caller may run on another one.
        let started = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(Self::start())).join());
        (runtime, started.unwrap())
    }

    /// The settings of a brain that is this server: its name, its wire, and what else is said of it.
    pub fn brain(&self, name: &str, wire: &str, more: &str) -> String {
        let url = self.url();
        format!("[[brain]]\nname = \"{name}\"\nkind = \"{wire}\"\nmodel = \"m\"\nurl = \"{url}\"\n{more}\n")
    }

    /// The URL without `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds replies to those that are to come.
    pub fn script(&self, replies: Vec<Reply>) {
        self.shared.script.lock().unwrap().extend(replies);
    }

    /// Answers where the script is over.
    pub fn respond(&self, responder: impl FnMut(&Asked) -> Reply + Send + 'static) {
        *self.shared.responder.lock().unwrap() = Some(Box::new(responder));
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Arc<Asked>> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// How many replies are still to come.
    pub fn left(&self) -> usize {
        self.shared.script.lock().unwrap().len()
    }

    /// How many clients left before their answer was whole (or hung).
    pub fn gone(&self) -> usize {
        self.shared.gone.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have come.
    pub async fn wait_for(&self, count: usize) {
        when("a request", || self.requests().len() >= count).await;
    }

    /// Waits until so many clients have left.
    pub async fn wait_for_gone(&self, count: usize) {
        when("a client's leave", || self.gone() >= count).await;
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Connections end with the server: the set aborts its tasks when it is dropped.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let _ = socket.set_nodelay(true);
        connections.spawn(one(socket, shared.clone()));
    }
}

async fn one(mut socket: TcpStream, shared: Arc<Shared>) {
    let Some(asked) = read(&mut socket).await.map(Arc::new) else { return };
    let number = {
        let mut all = shared.asked.lock().unwrap();
        all.push(Arc::clone(&asked));
        all.len()
    };
    let scripted = shared.script.lock().unwrap().pop_front();
    let reply = scripted.unwrap_or_else(|| match shared.responder.lock().unwrap().as_mut() {
        Some(responder) => responder(&asked),
        None => Reply::status(500).body(r#"{"error":{"message":"the script is over"}}"#),
    });
    if !answer(&mut socket, &asked, &reply, number).await {
        shared.gone.fetch_add(1, Ordering::SeqCst);
    }
}

async fn read(socket: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let header =
        |line: &str| line.split_once(':').map(|(k, v)| (k.trim().to_ascii_lowercase(), v.trim().to_owned()));
    let headers: BTreeMap<String, String> = lines.filter_map(header).collect();
    let length: usize = headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut bytes = bytes.split_off(end + 4);
    while bytes.len() < length {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let wire = match path.split('?').next()?.rsplit("/v1/").next()? {
        "messages" => "messages",
        "responses" => "responses",
        "chat/completions" => "chat",
        _ => "",
    };
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Some(Asked { wire, method, path, headers, body, bytes, at: std::time::Instant::now() })
}

/// Answers; says whether the client stayed to the end.
async fn answer(socket: &mut TcpStream, asked: &Asked, reply: &Reply, number: usize) -> bool {
    if let Some(pause) = reply.pause {
        tokio::time::sleep(pause).await;
    }
    match reply.fault {
        Fault::Hang => return wait_for_end(socket).await,
        Fault::Reset => {
            let _ = socket.set_zero_linger();
            return true;
        }
        _ => {}
    }
    let streamed = asked.body["stream"] == true && !reply.whole;
    let (kind, bytes) = match &reply.verbatim {
        Some((kind, bytes)) => (kind.as_str(), bytes.clone()),
        None if reply.status != 200 => ("application/json", reply.text.clone().into_bytes()),
        None => (
            if streamed { "text/event-stream" } else { "application/json" },
            body(asked.wire, reply, asked.body["model"].as_str().unwrap_or("model"), number, streamed),
        ),
    };
    let mut head =
        format!("HTTP/1.1 {} Scripted\r\ncontent-type: {kind}\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    if let Fault::CutHead(bytes) = reply.fault {
        let _ = socket.write_all(&head.as_bytes()[..bytes]).await;
        return true;
    }
    if socket.write_all(head.as_bytes()).await.is_err() {
        return false;
    }
    let end = match reply.fault {
        Fault::Cut(at) | Fault::HangAfter(at) | Fault::EndEarly(at) => at.min(bytes.len()),
        _ => bytes.len(),
    };
    let mut pieces = reply.pieces.iter().copied().cycle();
    let mut at = 0;
    while at < end {
        let size = pieces.next().unwrap_or(end).clamp(1, end - at);
        let chunk = [format!("{size:x}\r\n").as_bytes(), &bytes[at..at + size], b"\r\n"].concat();
        if socket.write_all(&chunk).await.is_err() {
            return false;
        }
        at += size;
        match reply.slow {
            Some(pause) => tokio::time::sleep(pause).await,
            // Each piece gets its own packet, as far as the system likes.
            None => tokio::task::yield_now().await,
        }
    }
    match reply.fault {
        Fault::Cut(_) => true,
        Fault::HangAfter(_) => wait_for_end(socket).await,
        _ => socket.write_all(b"0\r\n\r\n").await.is_ok() && socket.shutdown().await.is_ok(),
    }
}

/// Until the client goes away.
async fn wait_for_end(socket: &mut TcpStream) -> bool {
    let mut byte = [0];
    while matches!(socket.read(&mut byte).await, Ok(n) if n > 0) {}
    false
}
