//! `vault-agent` as a confined command knows it: the one way from the box to the vault.
//!
//! Inside, the program sees [`crate::confine::gate::VARIABLE`], sends its arguments through the gate and prints what comes
//! back ([`forward`]). Outside, [`VaultProxy`] runs the same program on the vault, as a child that is told in its
//! environment whose call it is ([`CALLER`]). Nobody in the box can write that environment; the child records the
//! assistant as who did it, and does only what the assistant may (`cli::assistant_commands`).

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::agent::skills::HiddenSecrets;
use crate::agent::tools::Caller;
use crate::config::{CACHE_VARIABLE, STATE_VARIABLE};
use crate::confine::Gate;
use crate::vault::{Actor, Origin};
use crate::workspace::Workspace;

/// Says to a child of this program whose call it is: JSON of a [`CallerEnv`].
pub const CALLER: &str = "VAULT_AGENT_CALLER";
/// The most bytes of arguments and standard input.
const MOST_ASKED: u64 = 2 << 20;
/// The most bytes of standard input that are sent.
const MOST_INPUT: u64 = 1 << 20;
/// The most bytes of an answer.
const MOST_SAID: u64 = 1 << 20;

/// What is sent through the gate.
#[derive(Debug, Serialize, Deserialize)]
struct ProxyRequest {
    args: Vec<String>,
    input: Option<String>,
}

/// What comes back.
#[derive(Debug, Serialize, Deserialize)]
struct ProxyReply {
    code: u8,
    out: String,
    err: String,
}

/// Whose call a child of this program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerEnv {
    /// The brain that asked.
    pub brain: String,
    /// The turn.
    pub turn: String,
    /// The call's number in it.
    pub number: u32,
}

impl CallerEnv {
    /// Whose call this process is; none where a person or a program of theirs started it.
    pub fn from_env() -> Option<Self> {
        let text = std::env::var(CALLER).ok()?;
        // Whatever stands there, it is no person's command.
        let unknown = || Self { brain: String::new(), turn: String::new(), number: 0 };
        Some(serde_json::from_str(&text).unwrap_or_else(|_| unknown()))
    }

    /// Who writes, as history keeps it.
    pub fn origin(&self) -> Origin {
        Origin::new(Actor::Assistant)
            .client(&self.brain)
            .conversation(format!("turn {} call {}", self.turn, self.number))
    }
}

/// Where the child works: the program, the vault and its directories.
#[derive(Debug, Clone)]
pub(super) struct ProxyPaths {
    pub program: PathBuf,
    vault: PathBuf,
    state: PathBuf,
    cache: PathBuf,
}

impl ProxyPaths {
    pub fn of(workspace: &Workspace) -> Self {
        // On Linux by this name: it is right even after an upgrade has replaced the file.
        let program =
            if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
        Self {
            program: program.unwrap_or_else(|_| "vault-agent".into()),
            vault: workspace.vault.root().to_path_buf(),
            state: workspace.dirs.state.clone(),
            cache: workspace.dirs.cache.clone(),
        }
    }
}

/// Runs what a confined command asks of `vault-agent`, for one call of a turn.
pub(super) struct VaultProxy {
    place: ProxyPaths,
    caller: Caller,
    hidden: Arc<HiddenSecrets>,
}

impl VaultProxy {
    pub fn new(place: ProxyPaths, caller: Caller, hidden: Arc<HiddenSecrets>) -> Self {
        Self { place, caller, hidden }
    }

    async fn answer(&self, sent: &[u8]) -> ProxyReply {
        let refused = |why: &str| ProxyReply { code: 2, out: String::new(), err: format!("error: {why}\n") };
        let Ok(sent) = serde_json::from_slice::<ProxyRequest>(sent) else {
            return refused("the arguments can't be understood, or are too long");
        };
        if sent.args.first().is_some_and(|first| first.starts_with("__")) {
            return refused("there is no such command");
        }
        let words = sent.args.iter().chain(&sent.input);
        if words.into_iter().any(|word| self.hidden.is_in(word)) {
            return refused("a secret never goes into the vault");
        }
        self.child(sent).await.unwrap_or_else(|error| refused(&format!("vault-agent can't be run: {error}")))
    }

    async fn child(&self, sent: ProxyRequest) -> std::io::Result<ProxyReply> {
        let called = CallerEnv {
            brain: self.caller.brain.clone(),
            turn: self.caller.turn.clone(),
            number: self.caller.number,
        };
        let mut child = Command::new(&self.place.program)
            // What its help and its errors call it, whatever its path is.
            .arg0("vault-agent")
            .args(&sent.args)
            .env_remove(crate::confine::gate::VARIABLE)
            .env("VAULT_AGENT_VAULT", &self.place.vault)
            .env(STATE_VARIABLE, &self.place.state)
            .env(CACHE_VARIABLE, &self.place.cache)
            .env(CALLER, serde_json::to_string(&called)?)
            .current_dir(&self.place.vault)
            .stdin(if sent.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (mut to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let (Some(to), Some(input)) = (&mut to, &sent.input) {
                let _ = to.write_all(input.as_bytes()).await;
            }
            drop(to);
        };
        let ((), out, err) = tokio::join!(write, bounded(out), bounded(err));
        let status = child.wait().await?;
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Ok(ProxyReply { code, out, err })
    }
}

/// What a child says, up to a bound; more is read and dropped, so that it can end.
async fn bounded(from: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut from) = from else { return String::new() };
    let mut bytes = Vec::new();
    let _ = (&mut from).take(MOST_SAID).read_to_end(&mut bytes).await;
    let more = tokio::io::copy(&mut from, &mut tokio::io::sink()).await.unwrap_or(0);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if more > 0 {
        text.push_str("\n(the answer was longer than 1 MB)\n");
    }
    text
}

#[async_trait]
impl Gate for VaultProxy {
    async fn serve(&self, mut stream: UnixStream) {
        let mut sent = Vec::new();
        if (&mut stream).take(MOST_ASKED).read_to_end(&mut sent).await.is_err() {
            return;
        }
        let said = self.answer(&sent).await;
        if let Ok(text) = serde_json::to_vec(&said) {
            // A command that doesn't wait for its answer needs none.
            let _ = stream.write_all(&text).await;
            let _ = stream.shutdown().await;
        }
    }
}

/// In the box: sends the arguments through the gate, prints what comes back, and returns the exit code. None where this
/// process is in no box.
pub fn forward(args: &[OsString]) -> Option<u8> {
    std::env::var_os(crate::confine::gate::VARIABLE)?;
    Some(through(args).unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "error: the vault can't be reached from here: {error}");
        1
    }))
}

fn through(args: &[OsString]) -> std::io::Result<u8> {
    let args: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    // Only who asks for it is given what comes in: a pipe that nobody closes is not waited for.
    let mut input = None;
    if args.iter().any(|arg| arg == "-" || arg == "--stdin" || arg.ends_with("=-")) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MOST_INPUT).read_to_end(&mut bytes)?;
        input = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut stream = crate::confine::gate::connect()?;
    stream.write_all(&serde_json::to_vec(&ProxyRequest { args, input })?)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said)?;
    let said: ProxyReply = serde_json::from_slice(&said)?;
    std::io::stderr().write_all(said.err.as_bytes())?;
    let mut out = std::io::stdout().lock();
    match out.write_all(said.out.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads may have enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error),
        _ => {}
    }
    Ok(said.code)
}
