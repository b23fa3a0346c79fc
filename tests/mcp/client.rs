//! A small MCP client. Nothing in it waits without a bound.

use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

pub use crate::support::prelude::*;

/// Nothing takes longer, not even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A session over standard input and output.
pub struct Client {
    stdin: Option<ChildStdin>,
    child: Killed,
    lines: Receiver<String>,
    stderr: Receiver<String>,
    waiting: VecDeque<Value>,
    next: i64,
}

/// What a tool answered.
#[derive(Debug)]
pub struct Answer(pub Value);

impl Client {
    /// A session with the handshake done, on all tools.
    pub fn new(vault: &TestVault) -> Self {
        Self::with(vault, &[])
    }

    /// A vault of a fixture, and a session over it.
    pub fn over(fixture: &str) -> (TestVault, Self) {
        let vault = TestVault::new(fixture);
        let client = Self::new(&vault);
        (vault, client)
    }

    /// The same with more arguments for `mcp`.
    pub fn with(vault: &TestVault, args: &[&str]) -> Self {
        let mut client = Self::silent(vault.command(&[&["mcp"], args].concat()));
        client.initialize("test-client");
        client
    }

    /// A started server to which nothing was said yet.
    pub fn silent(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Killed(command.spawn().expect("the binary runs"));
        let ((answers, lines), (words, stderr)) = (channel(), channel());
        send_lines(child.stdout.take().expect("a pipe"), answers);
        send_lines(child.stderr.take().expect("a pipe"), words);
        Self { stdin: child.stdin.take(), child, lines, stderr, waiting: VecDeque::new(), next: 0 }
    }

    /// The handshake, under a client's name.
    pub fn initialize(&mut self, name: &str) -> Value {
        let info = json!({"name": name, "version": "1.0"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        let result = self.request("initialize", hello)["result"].clone();
        self.notify("notifications/initialized", json!({}));
        result
    }

    /// Writes one raw line.
    pub fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("an open pipe");
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request and gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The next message for which `wanted` holds; others are kept.
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at).unwrap();
        }
        loop {
            match self.lines.recv_timeout(PATIENCE).map(parsed) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.waiting.push_back(message),
                Err(error) => panic!("{what}: {error}; kept: {:?}; stderr: {}", self.waiting, self.said()),
            }
        }
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.wait_for(method, |message| message["id"] == id && message.get("method").is_none())
    }

    /// The result of a request that must succeed.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        Answer(self.result("tools/call", json!({"name": tool, "arguments": arguments})))
    }

    /// The structure of a call that must succeed.
    #[track_caller]
    pub fn does(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).ok().structured().clone()
    }

    /// Insists that a call is refused with an error of this kind.
    #[track_caller]
    pub fn refuses(&mut self, tool: &str, arguments: Value, kind: &str) -> Answer {
        let answer = self.call(tool, arguments.clone());
        assert_eq!(answer.error(), kind, "{tool} {arguments}: {}", answer.text());
        answer
    }

    /// Insists that a request fails with this code.
    #[track_caller]
    pub fn fails(&mut self, method: &str, params: Value, code: i64) {
        let response = self.request(method, params.clone());
        assert_eq!(response["error"]["code"], code, "{method} {params}: {response}");
    }

    /// The tools as listed.
    pub fn tools(&mut self) -> Vec<Value> {
        self.result("tools/list", json!({}))["tools"].as_array().unwrap().clone()
    }

    /// The next notification of this method.
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait_for(method, |message| message["method"] == method)["params"].clone()
    }

    /// What was said on standard error so far.
    pub fn said(&self) -> String {
        self.stderr.try_iter().map(|line| line + "\n").collect()
    }

    /// The first line on standard error that holds `text`.
    pub fn hear(&self, text: &str) -> String {
        loop {
            match self.stderr.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(error) => panic!("never heard {text:?}: {error}"),
            }
        }
    }

    /// Closes the pipe and waits for the server's end: its exit code, and what was left on its outputs.
    pub fn close(mut self) -> (i32, Vec<Value>, String) {
        drop(self.stdin.take());
        until("the server's end", || self.child.try_wait().expect("a child").is_some());
        let code = self.child.wait().expect("a child").code().unwrap_or(-1);
        let next = || match self.lines.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Timeout) => panic!("standard output stays open"),
            line => line.ok().map(parsed),
        };
        let left = self.waiting.drain(..).chain(std::iter::from_fn(next)).collect();
        (code, left, self.said())
    }
}

/// A message, or a line that is none.
fn parsed(line: String) -> Value {
    serde_json::from_str(&line).unwrap_or_else(|error| json!({"not json": line, "error": error.to_string()}))
}

impl Answer {
    /// Insists on success.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_ne!(self.0["isError"], true, "{}", self.0);
        self
    }

    /// A field of the structure that is a text.
    #[track_caller]
    pub fn field(&self, name: &str) -> &str {
        self.structured()[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.0))
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// Insists that the text holds this.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.text().contains(text), "no {text:?} in {}", self.0);
        self
    }

    /// The structure.
    pub fn structured(&self) -> &Value {
        &self.0["structuredContent"]
    }

    /// The error's type; insists that it is one and says what to do.
    pub fn error(&self) -> &str {
        assert_eq!(self.0["isError"], true, "{}", self.0);
        assert!(!self.text().is_empty(), "{}", self.0);
        assert!(self.0.get("structuredContent").is_none(), "{}", self.0);
        self.0["_meta"]["vault-agent/error"]["type"].as_str().expect("an error's type")
    }
}
