//! Runs `vault-agent` for a confined command: the only way for such a command to change the vault.
//!
//! In the box, `vault-agent` finds [`crate::confine::gate::VARIABLE`], sends its arguments through the gate and prints
//! the reply ([`forward`]). Outside, [`VaultProxy`] runs `vault-agent` on the vault, as a child with the call's id in
//! its environment (the variable [`CALLER`]). No process in the box can write that environment. The child records the
//! assistant as the author of its changes, and runs only the assistant's commands (`cli::assistant_commands`).

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
use crate::brain::process::this_program;
use crate::config::{CACHE_VARIABLE, Dirs, STATE_VARIABLE};
use crate::confine::Gate;

/// The variable that tells a child of this program its caller: JSON of a [`Caller`].
pub const CALLER: &str = "VAULT_AGENT_CALLER";
/// The most bytes of arguments and standard input.
const MOST_ASKED: u64 = 2 << 20;
/// The most bytes of standard input that are sent.
const MOST_INPUT: u64 = 1 << 20;
/// The most bytes of an answer.
const MOST_SAID: u64 = 1 << 20;

/// The request through the gate.
#[derive(Debug, Serialize, Deserialize)]
struct ProxyRequest {
    args: Vec<String>,
    input: Option<String>,
}

/// The reply through the gate.
#[derive(Debug, Serialize, Deserialize)]
struct ProxyReply {
    code: u8,
    out: String,
    err: String,
}

/// The caller of this process; none if a person or a program of theirs started it.
pub fn caller_from_env() -> Option<Caller> {
    // A value that can't be read is no person's command either.
    std::env::var(CALLER).ok().map(|text| serde_json::from_str(&text).unwrap_or_default())
}

/// Runs `vault-agent` for a confined command, for one call of a turn.
pub(super) struct VaultProxy {
    /// The vault's folder.
    pub vault: PathBuf,
    pub dirs: Dirs,
    pub caller: Caller,
    pub hidden: Arc<HiddenSecrets>,
}

impl VaultProxy {
    async fn answer(&self, request: &[u8]) -> ProxyReply {
        let refused = |why: &str| ProxyReply { code: 2, out: String::new(), err: format!("error: {why}\n") };
        let Ok(request) = serde_json::from_slice::<ProxyRequest>(request) else {
            return refused("the arguments can't be understood, or are too long");
        };
        if request.args.first().is_some_and(|first| first.starts_with("__")) {
            return refused("there is no such command");
        }
        let words = request.args.iter().chain(&request.input);
        if words.into_iter().any(|word| self.hidden.is_in(word)) {
            return refused("a secret never goes into the vault");
        }
        self.child(request)
            .await
            .unwrap_or_else(|error| refused(&format!("vault-agent can't be run: {error}")))
    }

    async fn child(&self, request: ProxyRequest) -> std::io::Result<ProxyReply> {
        let mut child = Command::new(this_program())
            // The name of the program in its help and errors, whatever its path is.
            .arg0("vault-agent")
            .args(&request.args)
            .env_remove(crate::confine::gate::VARIABLE)
            .env("VAULT_AGENT_VAULT", &self.vault)
            .env(STATE_VARIABLE, &self.dirs.state)
            .env(CACHE_VARIABLE, &self.dirs.cache)
            .env(CALLER, serde_json::to_string(&self.caller)?)
            .current_dir(&self.vault)
            .stdin(if request.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (mut to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let (Some(to), Some(input)) = (&mut to, &request.input) {
                let _ = to.write_all(input.as_bytes()).await;
            }
            drop(to);
        };
        let ((), out, err) = tokio::join!(write, read_bounded(out), read_bounded(err));
        let status = child.wait().await?;
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Ok(ProxyReply { code, out, err })
    }
}

/// A child's output, up to a limit; the rest is read and dropped, so that the child can end.
async fn read_bounded(from: Option<impl AsyncRead + Unpin>) -> String {
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
        let mut request = Vec::new();
        if (&mut stream).take(MOST_ASKED).read_to_end(&mut request).await.is_err() {
            return;
        }
        let reply = self.answer(&request).await;
        if let Ok(text) = serde_json::to_vec(&reply) {
            // A command that doesn't wait for its answer needs none.
            let _ = stream.write_all(&text).await;
            let _ = stream.shutdown().await;
        }
    }
}

/// In the box: sends the arguments through the gate, prints what comes back, and returns the exit code. None if this
/// process is in no box.
pub fn forward(args: &[OsString]) -> Option<u8> {
    std::env::var_os(crate::confine::gate::VARIABLE)?;
    Some(send_through_gate(args).unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "error: the vault can't be reached from here: {error}");
        1
    }))
}

fn send_through_gate(args: &[OsString]) -> std::io::Result<u8> {
    let args: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    // Standard input is read only where an argument asks for it: a pipe that is never closed must not block.
    let mut input = None;
    if args.iter().any(|arg| arg == "-" || arg == "--stdin" || arg.ends_with("=-")) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MOST_INPUT).read_to_end(&mut bytes)?;
        input = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut stream = crate::confine::gate::connect()?;
    stream.write_all(&serde_json::to_vec(&ProxyRequest { args, input })?)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply)?;
    let reply: ProxyReply = serde_json::from_slice(&reply)?;
    std::io::stderr().write_all(reply.err.as_bytes())?;
    let mut out = std::io::stdout().lock();
    match out.write_all(reply.out.as_bytes()).and_then(|()| out.flush()) {
        // The reader may have closed the pipe.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error),
        _ => {}
    }
    Ok(reply.code)
}
