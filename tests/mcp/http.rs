//! The server over HTTP: token, origin, host, sessions.

use crate::http::{Reply, Request};
use crate::mcp::client::*;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A listening server.
struct Served {
    /// Shared between threads only to be kept.
    _process: Mutex<Client>,
    port: u16,
}

impl Served {
    /// A vault, and the server over it.
    fn start(more: &[&str]) -> (TestVault, Self) {
        let mut vault = TestVault::new("//- /MEMORY.md\n## Ann\n- likes tea\n");
        vault.env("VAULT_AGENT_MCP_TOKEN", TOKEN);
        let process = Client::silent(vault.command(&[&["mcp", "--http", "127.0.0.1:0"], more].concat()));
        let line = process.hear("listening on");
        let port = line.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
        (vault, Self { _process: Mutex::new(process), port })
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let request = Request::new(method, "/mcp")
            .header("Host", &address.to_string())
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(body);
        let request = headers.iter().fold(request, |request, (name, value)| request.instead(name, value));
        request.send(address).unwrap()
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        let token = format!("Bearer {TOKEN}");
        let mut all = vec![("Authorization", token.as_str())];
        all.extend(headers);
        self.send("POST", &all, &message.to_string())
    }

    /// A session's id.
    fn session(&self) -> String {
        let id = self.post(&[], &hello()).is(200).header("mcp-session-id").to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[("Mcp-Session-Id", &id)], &ready).status, 202);
        id
    }

    fn call(&self, session: &str, id: i64, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let body = self.post(&[("Mcp-Session-Id", session)], &message).is(200).text();
        // Server-sent events, or JSON.
        let lines = body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.find(|message| message["id"] == id).unwrap_or_else(|| panic!("no response {id}: {body}"))
    }
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "http-test", "version": "1"},
    }})
}

#[test]
fn nobody_comes_in_without_the_token() {
    let (_vault, served) = Served::start(&[]);
    let body = hello().to_string();
    let wrong = [None, Some("Bearer wrong"), Some(TOKEN), Some("Basic dXNlcjpwYXNz"), Some("Bearer ")];
    for authorization in wrong {
        let headers: Vec<_> = authorization.map(|value| ("Authorization", value)).into_iter().collect();
        for method in ["POST", "GET", "DELETE"] {
            let response = served.send(method, &headers, &body);
            assert_eq!(response.status, 401, "{method} {authorization:?}");
            assert!(response.header("www-authenticate").starts_with("Bearer"));
            assert!(!response.text().contains(TOKEN));
        }
    }
    assert_eq!(served.post(&[], &hello()).status, 200);
}

#[test]
fn pages_of_other_sites_and_rebound_names_are_refused() {
    let (_vault, served) = Served::start(&["--allow-origin", "https://app.example:443"]);
    let own = format!("http://127.0.0.1:{}", served.port);
    for (name, value, status) in [
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost:1", 403),
        ("Origin", own.as_str(), 200),
        ("Origin", "https://app.example", 200),
        ("Host", "evil.example", 403),
        ("Host", "evil.example:80", 403),
        ("Host", "localhost", 200),
    ] {
        assert_eq!(served.post(&[(name, value)], &hello()).status, status, "{name}: {value}");
    }
}

#[test]
fn sessions_are_apart_and_end() {
    let (vault, served) = Served::start(&[]);
    let (one, two) = (served.session(), served.session());
    assert_ne!(one, two);
    let got = served.call(&one, 7, "memory_get", json!({"path": "MEMORY.md"}));
    assert_eq!(got["result"]["structuredContent"]["text"], "## Ann\n- likes tea\n");
    let added = served.call(&two, 7, "reminder_add", json!({"when": "tomorrow", "message": "Tea"}));
    assert_eq!(added["result"]["isError"], false, "{added}");
    assert!(vault.read("Reminders.md").contains("msg=\"Tea\""));
    let token = format!("Bearer {TOKEN}");
    let end = served.send("DELETE", &[("Authorization", &token), ("Mcp-Session-Id", &one)], "");
    assert!((200..300).contains(&end.status), "{end:?}");
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    // One has ended.
    for (session, status) in [(one.as_str(), 404), ("made-up", 404), (&two, 200)] {
        assert_eq!(served.post(&[("Mcp-Session-Id", session)], &list).status, status, "{session}");
    }
    let log = vault.json(&["history"]);
    let ours = log.as_array().unwrap().iter().find(|entry| entry["actor"] == "mcp").unwrap();
    assert_eq!(ours["trailers"]["Conversation"], format!("mcp-session {two}"), "{log}");
}

#[test]
fn twenty_sessions_write_at_once() {
    let (vault, served) = Served::start(&[]);
    std::thread::scope(|scope| {
        for n in 0..20 {
            let served = &served;
            scope.spawn(move || {
                let reminder = json!({"when": "tomorrow", "message": format!("from session {n}.")});
                let answer = served.call(&served.session(), 5, "reminder_add", reminder);
                assert_eq!(answer["result"]["isError"], false, "{answer}");
            });
        }
    });
    let text = vault.read("Reminders.md");
    assert_eq!(text.lines().count(), 20);
    assert!((0..20).all(|n| text.matches(&format!("\"from session {n}.\"")).count() == 1), "{text}");
}

#[test]
fn the_token_is_made_for_its_owner_alone() {
    let vault = TestVault::new("");
    let process = Client::silent(vault.command(&["mcp", "--http", "0"]));
    let (said, file) = (process.hear("the token is in"), vault.state().join("mcp-token"));
    assert!(said.ends_with(&*file.to_string_lossy()), "{said}");
    assert_eq!(mode(&file), 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    assert!(!said.contains(token.trim()), "the token itself is never said");
    drop(process);
    set_mode(&file, 0o644);
    vault.run(&["mcp", "--http", "0"]).exits(2).warns("can be read by other users").warns("chmod 600");
}

#[test]
fn other_machines_are_let_in_only_when_asked_for() {
    let vault = TestVault::new("");
    vault.run(&["mcp", "--http", "0.0.0.0:0"]).exits(2).warns("--allow-remote");
    assert!(!vault.state().join("mcp-token").exists());
    vault.run(&["mcp", "--http", "nonsense"]).exits(2);
    assert_eq!(vault.run(&["mcp", "--allow-remote"]).code, 2, "it goes with --http only");
}
