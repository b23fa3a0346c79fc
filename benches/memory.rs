//! What a model waits for: a memory saved through the MCP server (on disk, in the history, read back)
//! beside what the disk itself takes for one synced write in the same run, and a search in a warm server.
//!
//! `cargo bench --bench memory -- [NOTES]`; prints quantiles and ratios, and asserts nothing.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SAVES: usize = 200;
const SEARCHES: usize = 500;

fn main() {
    let notes = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(2_000);
    let temp = tempfile::tempdir().unwrap();
    let vault = temp.path().join("vault");
    make(&vault, notes);
    let begun = Instant::now();
    let mut server = Server::start(temp.path(), &vault);
    println!("handshake after {:.2?}; {notes} notes", begun.elapsed());
    let (_, first) = timed(|| server.call("memory_search", &json!({"query": "day 1"})));
    println!("first search of all, which indexes the vault: {first:.2?}");

    let mut disk: Vec<Duration> = (0..SAVES).map(|n| timed(|| synced_write(temp.path(), n)).1).collect();
    let mut saves: Vec<Duration> = (0..SAVES)
        .map(|n| {
            let content = format!("fact number {n} of the bench.");
            let arguments = json!({"scope": "long", "key": "Bench", "content": content});
            timed(|| server.call("memory_save", &arguments)).1
        })
        .collect();
    show("memory_save", &mut saves);
    show("a file written and synced", &mut disk);
    println!("memory_save against it: {:.1}x", ratio(middle(&saves), middle(&disk)));

    for (what, query) in
        [("by words", "\"tea of day\""), ("by words and meaning", "which tea does Ann drink?")]
    {
        let arguments = json!({"query": query});
        server.call("memory_search", &arguments);
        let mut times: Vec<Duration> =
            (0..SEARCHES).map(|_| timed(|| server.call("memory_search", &arguments)).1).collect();
        show(&format!("memory_search, warm, {what}"), &mut times);
    }
    let mut pings: Vec<Duration> =
        (0..SEARCHES).map(|_| timed(|| server.request("ping", &json!({}))).1).collect();
    show("the protocol alone (ping)", &mut pings);
}

/// A vault whose notes differ and share words.
fn make(vault: &Path, notes: usize) {
    std::fs::create_dir_all(vault.join(".obsidian")).unwrap();
    std::fs::create_dir_all(vault.join("notes")).unwrap();
    std::fs::write(vault.join("MEMORY.md"), "# Memory\n\n## Ann\n- drinks green tea in the morning\n")
        .unwrap();
    for n in 0..notes {
        let mut text = format!("# Note {n}\n\n");
        for line in 0..20 {
            let _ = writeln!(
                text,
                "On day {} of project {} the tea of day {line} was number {}.\n",
                n % 365,
                n % 40,
                n * line
            );
        }
        std::fs::write(vault.join(format!("notes/{n}.md")), text).unwrap();
    }
}

/// What keeping a small text safely takes at least: a new file, synced, renamed into place.
fn synced_write(dir: &Path, n: usize) {
    let (new, name) = (dir.join("new"), dir.join(format!("kept-{}", n % 10)));
    let mut file = std::fs::File::create(&new).unwrap();
    file.write_all(b"- a fact of about the same length\n").unwrap();
    file.sync_all().unwrap();
    std::fs::rename(new, name).unwrap();
}

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn start(home: &Path, vault: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_vault-agent"))
            .args(["--vault", vault.to_str().unwrap(), "mcp"])
            .env("HOME", home)
            .env("VAULT_AGENT_STATE_DIR", home.join("state"))
            .env("VAULT_AGENT_CACHE_DIR", home.join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, stdin, stdout, next: 0 };
        let client = json!({"name": "bench", "version": "1"});
        server.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(server.stdin, "{ready}").unwrap();
        server
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.stdin, "{request}").unwrap();
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.next {
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{result}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let done = work();
    (done, begun.elapsed())
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!("{what}: p50 {:.2?}, p95 {:.2?}, p99 {:.2?}", at(50), at(95), at(99));
}

fn middle(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

fn ratio(ours: Duration, peer: Duration) -> f64 {
    ours.as_secs_f64() / peer.as_secs_f64()
}
