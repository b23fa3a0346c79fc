//! What a hook costs the person who waits for it: whole cold processes, beside `/bin/true` and `--version`.
//!
//! `cargo bench --bench hook -- [NOTES]` makes a vault of so many notes (10,000 by default) from the texts in cargo's
//! registry, indexes it, and runs `hook user-prompt-submit` with and without a daemon. Prints medians and 99th
//! percentiles, and asserts nothing.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 300;
const QUESTIONS: [&str; 6] = [
    "How do I turn on the serde feature for dates?",
    "What changed in the parser's error messages in the last release?",
    "Which minimum Rust version does the logging crate need?",
    "Do you remember how we configure the thread pool?",
    "Where is the flag that disables default features documented?",
    "Refactor the retry loop so that it uses exponential backoff with jitter",
];

fn main() {
    let notes = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(10_000);
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    let vault = home.join("vault");
    assert!(command(home, &["init", vault.to_str().unwrap()]).status().unwrap().success());
    let made = fill(&vault, notes);
    let start = Instant::now();
    assert!(vault_command(home, &["reindex"]).status().unwrap().success());
    ask(home, "user-prompt-submit", QUESTIONS[0], 0);
    println!("{made} notes, indexed and asked once in {:.1?}", start.elapsed());
    show("/bin/true", &times(|_| assert!(Command::new("/bin/true").status().unwrap().success())));
    show("--version", &times(|_| assert!(vault_command(home, &["--version"]).status().unwrap().success())));
    show("small talk", &times(|n| ask(home, "user-prompt-submit", "ok, thanks!", n)));
    show(
        "a prompt, no daemon",
        &times(|n| ask(home, "user-prompt-submit", QUESTIONS[n % QUESTIONS.len()], n)),
    );
    show("a session's start", &times(|n| ask(home, "session-start", "", n)));
    let mut daemon = started(home);
    show(
        "a prompt, with a daemon",
        &times(|n| ask(home, "user-prompt-submit", QUESTIONS[n % QUESTIONS.len()], n)),
    );
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let log = std::fs::read_to_string(home.join("state/hooks.log")).unwrap_or_default();
    println!(
        "{} lines in the hooks' log{}",
        log.lines().count(),
        log.lines().last().map_or(String::new(), |line| format!(": {line}"))
    );
}

/// Copies texts of cargo's registry into the vault, again under other names where there are too few.
fn fill(vault: &Path, notes: usize) -> usize {
    let registry = std::env::var_os("CARGO_HOME")
        .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cargo"), PathBuf::from)
        .join("registry/src");
    let mut texts = Vec::new();
    let mut folders = vec![registry];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                texts.push(path);
            }
        }
    }
    texts.sort();
    let mut made = 0;
    for (n, source) in texts.iter().cycle().take(if texts.is_empty() { 0 } else { notes }).enumerate() {
        let Ok(text) = std::fs::read_to_string(source) else { continue };
        let krate =
            source.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let folder = vault.join("library").join(format!("{:02}", n % 64)).join(krate);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{n} {}", source.file_name().unwrap().to_string_lossy())), text)
            .unwrap();
        made += 1;
    }
    made
}

fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
    command.args(args).env("HOME", home).env("VAULT_AGENT_STATE_DIR", home.join("state"));
    command.env("VAULT_AGENT_CACHE_DIR", home.join("cache")).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn vault_command(home: &Path, args: &[&str]) -> Command {
    let mut command = command(home, args);
    command.env("VAULT_AGENT_VAULT", home.join("vault"));
    command
}

/// One hook as a host calls it; each in a conversation of its own, so that each looks and gives.
fn ask(home: &Path, event: &str, prompt: &str, n: usize) {
    let input = serde_json::json!({
        "session_id": format!("bench-{n}"), "transcript_path": "/nowhere.jsonl", "cwd": "/", "prompt": prompt, "source": "startup",
    });
    let mut child = vault_command(home, &["hook", event]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    child.wait().unwrap();
}

/// A daemon that follows the vault.
fn started(home: &Path) -> Child {
    let daemon = vault_command(home, &["run"]).spawn().unwrap();
    let live = home.join("cache/live");
    let begun = Instant::now();
    while !std::fs::read_to_string(&live).is_ok_and(|word| word.starts_with("following")) {
        assert!(begun.elapsed() < Duration::from_secs(120), "the daemon follows");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(3));
    daemon
}

fn times(mut act: impl FnMut(usize)) -> Vec<Duration> {
    let mut times: Vec<_> = (0..RUNS)
        .map(|n| {
            let start = Instant::now();
            act(n);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn show(what: &str, times: &[Duration]) {
    println!("{what:<26} p50 {:>8.2?}  p99 {:>8.2?}", times[times.len() / 2], times[times.len() * 99 / 100]);
}
