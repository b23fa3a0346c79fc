//! Runs the system's git without a prompt, without hooks, and with a time limit. A git that takes longer is ended with
//! its whole process group.
//!
//! Of the user's and the system's git settings only those of credentials and of HTTP are used, so no alias, hook or
//! filter of theirs runs. The remote is passed after `--`; https, ssh and file are the only protocols that git may use.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::super::{EngineError, Result};
use super::state_file::MAX_FILE_BYTES;

/// How long one git may take.
pub const PATIENCE: Duration = Duration::from_secs(15);
/// How long the end of a pipe is waited for, once git itself has ended: a helper of it may live on.
const DRAIN: Duration = Duration::from_secs(1);
/// So much is kept of its words.
const MAX_WORDS: u64 = 64 << 10;
/// The largest file that a git may write, in units of `ulimit -f` (512 or 1024 bytes): a stolen server fills no disk.
const MAX_FILE: &str = "32768";
/// Settings of the user's that git may still use: whose keys begin so.
const KEPT_SETTINGS: [&str; 2] = ["credential.", "http."];
/// The ssh of all remotes, where the environment names none: it prompts for nothing, and forwards nothing.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=2 \
                   -o ControlMaster=no -o ForwardAgent=no -o ForwardX11=no -o ClearAllForwardings=yes -o PermitLocalCommand=no";

/// The git of one engine, in a bare repository of its own.
#[derive(Debug)]
pub struct GitRepository {
    dir: PathBuf,
    ssh: String,
    patience: Duration,
    settings: OnceCell<Vec<(String, String)>>,
}

/// The output of a git and how it ended.
#[derive(Debug)]
pub struct GitOutput {
    /// Whether it ended well.
    pub is_ok: bool,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: String,
}

impl GitRepository {
    /// A git whose repository is `dir`; `ssh` is the command for ssh remotes, where it isn't ours or the environment's.
    pub fn new(dir: PathBuf, ssh: Option<String>, patience: Duration) -> Self {
        let named = || std::env::var("GIT_SSH_COMMAND").ok().filter(|command| !command.is_empty());
        let ssh = ssh.or_else(named).unwrap_or_else(|| SSH.to_owned());
        Self { dir, ssh, patience, settings: OnceCell::new() }
    }

    /// The repository.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the repository anew. Nothing is lost, because the remote has its content.
    ///
    /// # Errors
    /// There is no git, or no place for the repository.
    pub async fn renew(&self) -> Result<()> {
        let cant =
            |why: String| EngineError::Refused(format!("git's own folder {}: {why}", self.dir.display()));
        match std::fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(cant(error.to_string()));
            }
            _ => {}
        }
        std::fs::create_dir_all(&self.dir).map_err(|error| cant(error.to_string()))?;
        let said = self.run(&["init", "--quiet", "--bare", "--template="], &[]).await?;
        if said.is_ok { Ok(()) } else { Err(cant(said.stderr)) }
    }

    /// Marks a commit as the boundary of the remote's known history (a shallow boundary), unless a fetch has done so.
    /// Then a push sends only the difference to this commit, even if the new commit doesn't descend from it.
    pub fn mark_edge(&self, id: &str) {
        let path = self.dir.join("shallow");
        if !path.exists() {
            // Without the mark the push is larger.
            let _ = std::fs::write(path, format!("{id}\n"));
        }
    }

    /// Runs git over the repository alone, with no remote.
    ///
    /// # Errors
    /// It can't be run, or takes too long.
    pub async fn run(&self, args: &[&str], input: &[u8]) -> Result<GitOutput> {
        self.start(args, input, &[], PATIENCE).await?.ok_or_else(unanswered)
    }

    /// Runs git with the settings that a remote needs; `None` if it took too long; then it was ended with all processes
    /// that it had started.
    ///
    /// # Errors
    /// It can't be run.
    pub async fn talk(&self, args: &[&str]) -> Result<Option<GitOutput>> {
        let settings = self.settings.get_or_try_init(|| self.kept_settings()).await?;
        self.start(args, &[], settings, self.patience).await
    }

    async fn kept_settings(&self) -> Result<Vec<(String, String)>> {
        let mut command = Command::new("git");
        command.args(["config", "--list", "-z"]).env("GIT_DIR", ".").current_dir(&self.dir);
        let said = ended(command, &[], PATIENCE).await?.ok_or_else(unanswered)?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let pairs = text.split('\0').filter_map(|pair| pair.split_once('\n'));
        let kept = |key: &str| KEPT_SETTINGS.iter().any(|family| key.starts_with(family));
        Ok(pairs
            .filter(|(key, _)| kept(key))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect())
    }

    async fn start(
        &self,
        args: &[&str],
        input: &[u8],
        settings: &[(String, String)],
        patience: Duration,
    ) -> Result<Option<GitOutput>> {
        // The shell's limit is git's: its text is fixed, and all else is an argument.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f \"$1\"; shift; exec git \"$@\"", "sh", MAX_FILE]);
        command.args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.askPass="]);
        command.args(args).current_dir(&self.dir);
        for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
            if name.starts_with("GIT_") && !name.starts_with("GIT_SSL_") {
                command.env_remove(name);
            }
        }
        command
            .env("GIT_DIR", ".")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", "https:ssh:file")
            .env("GIT_SSH_COMMAND", &self.ssh)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_COUNT", settings.len().to_string())
            .env("GIT_ASKPASS", "")
            .env("SSH_ASKPASS_REQUIRE", "never")
            .env("LC_ALL", "C");
        for (at, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        ended(command, input, patience).await
    }
}

/// Ends a process with its whole group when it is dropped.
struct ProcessGroup(Option<Pid>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

fn unanswered() -> EngineError {
    EngineError::Unreachable("git on this machine didn't answer".to_owned())
}

/// The output of a git that has ended; `None` if it was ended because it took too long.
async fn ended(mut command: Command, input: &[u8], patience: Duration) -> Result<Option<GitOutput>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let cant =
        |error: std::io::Error| EngineError::Refused(format!("git can't be run on this machine: {error}"));
    let mut child = command.spawn().map_err(cant)?;
    let mut group = ProcessGroup(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let out = tokio::spawn(read(stdout, MAX_FILE_BYTES as u64 + 4096));
    let words = tokio::spawn(read(stderr, MAX_WORDS));
    let status = timeout(patience, async {
        if let Some(mut stdin) = stdin {
            // A git that ends early says why by itself.
            let _ = stdin.write_all(input).await;
        }
        child.wait().await
    })
    .await;
    let Ok(status) = status else {
        drop(group);
        let _ = child.wait().await;
        return Ok(None);
    };
    let status = status.map_err(cant)?;
    let out = timeout(DRAIN, out).await.ok().and_then(Result::ok).unwrap_or_default();
    let words = timeout(DRAIN, words).await.ok().and_then(Result::ok).unwrap_or_default();
    group.0 = None;
    match status.code() {
        Some(127) => Err(EngineError::Refused("there is no `git` on this machine: install it".to_owned())),
        _ => Ok(Some(GitOutput {
            is_ok: status.success(),
            stdout: out,
            stderr: String::from_utf8_lossy(&words).into_owned(),
        })),
    }
}

/// At most `most` bytes; the rest is read and dropped, so that the writer can go on.
async fn read(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = (&mut pipe).take(most).read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    bytes
}
