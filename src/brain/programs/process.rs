//! Runs the program of a harness or an MCP server as a child process: newline-delimited JSON over pipes, with time
//! limits.
//!
//! A [`Program`] comes in; a [`Child`] goes out, which sends and receives messages. A supervisor process, which is
//! vault-agent itself ([`supervise`]), is the program's parent. The program and the processes that it starts are ended:
//! - by the supervisor, if the [`Child`] is dropped or this process is killed;
//! - by the next start of vault-agent, if the supervisor is killed too; a variable in their environment identifies them
//!   ([`sweep`]).
//!
//! That is so on Linux. Elsewhere the program's process group is ended, and `sweep` finds nothing.
//!
//! The end of a program is detected by the end of its process, not by the end of its pipe, since another process may
//! hold the pipe open. The program's environment holds only the variables that it needs: neither the bot's token nor
//! the keys of other brains. A key is never in the arguments.

pub mod supervise;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use supervise::{end_marked, environment, mark_prefix};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::brain::scrub::scrub;
use crate::brain::wire::BrainTimeouts;
use crate::brain::{BrainError, FailureClass, Result};
use crate::format::lenient_json;

pub use supervise::sweep;

/// The longest line that is read; a longer one is passed over.
pub const MOST_LINE: usize = 8 << 20;
/// The most that a harness may write in one run: what it says is kept until its end.
const MOST_OUTPUT: usize = 16 * MOST_LINE;
/// The longest line of an MCP server, whose long results are cut later; a longer line ends the server.
const MOST_UNTRUSTED_LINE: usize = 32 << 20;
/// The kept end of standard error, and of lines that are no JSON.
const MOST_WORDS: usize = 4 << 10;
/// The most unread lines; a program that writes more waits.
const LINES: usize = 64;
/// How long a program may take to end by itself after its answer; the supervisor waits as long.
const END: Duration = Duration::from_secs(5);
/// How long the end of a pipe is waited for once its program has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// The variable that names a process's parent; every process that a harness starts has it.
pub(super) const MARK: &str = "VAULT_AGENT_CHILD_OF";

/// The path of our own program: it supervises children with its command [`supervise::COMMAND`], and is the MCP server
/// that they are given.
pub fn our_program() -> PathBuf {
    OUR_PROGRAM.get().cloned().unwrap_or_else(|| {
        let path = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("vault-agent"));
        // Linux says so of a program that was replaced since; the new one does the same.
        let text = path.to_str().and_then(|text| text.strip_suffix(" (deleted)"));
        text.map(PathBuf::from).unwrap_or(path)
    })
}

/// The path by which this process starts our own program as a child. On Linux it leads to this process's own file, even
/// after an upgrade has replaced that file.
pub fn this_program() -> PathBuf {
    if cfg!(target_os = "linux") && OUR_PROGRAM.get().is_none() {
        return "/proc/self/exe".into();
    }
    our_program()
}

/// Names our own program where this process isn't it: in tests. The first one counts.
pub fn name_our_program(path: &Path) {
    let _ = OUR_PROGRAM.set(path.to_owned());
}

static OUR_PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The environment and limits of every child of this process.
#[derive(Debug, Clone)]
pub struct Supervision {
    /// The state directory: only children of processes with the same one are swept.
    pub state: PathBuf,
    /// How long a program may be silent, and how long a turn of it may take.
    pub timeouts: BrainTimeouts,
}

/// A program as it is to be run.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The program and its arguments; no secrets, everybody can read them.
    pub command: Vec<String>,
    /// The folder that it runs in.
    pub dir: PathBuf,
    /// Variables of our environment that it needs beside the usual ones.
    pub pass: Vec<&'static str>,
    /// Variables that are set for it.
    pub set: Vec<(String, String)>,
    /// Variables that are set for it, and whose values are removed from its errors.
    pub secrets: Vec<(String, SecretString)>,
    /// Whether it is another party's program: it may have long lines, and gets only PATH, HOME and LANG of our
    /// environment, beside the variables that are set for it.
    pub untrusted: bool,
}

/// A program that runs.
#[derive(Debug)]
pub struct Child {
    name: String,
    supervisor: tokio::process::Child,
    run: String,
    send: Option<mpsc::UnboundedSender<Vec<u8>>>,
    lines: mpsc::Receiver<Value>,
    words: Arc<Mutex<StderrTail>>,
    secrets: Vec<SecretString>,
    timeouts: BrainTimeouts,
    heard: bool,
    /// How long it was waited for so far, without the time of a person's approvals.
    waited: Duration,
}

/// The end of the output that is no message.
#[derive(Debug, Default)]
struct StderrTail {
    stderr: Vec<u8>,
    noise: Vec<u8>,
    too_long: u32,
    /// Why the output is read no further.
    unreadable: Option<String>,
}

impl Child {
    /// Starts a program.
    ///
    /// # Errors
    /// The supervisor can't be started. If the program can't be started, [`Child::next`] ends.
    pub fn start(supervision: &Supervision, program: &Program) -> Result<Self> {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let name = program.command.first().cloned().unwrap_or_default();
        let run = format!("{}{}", mark_prefix(&supervision.state), RUNS.fetch_add(1, Ordering::Relaxed));
        let mut command = tokio::process::Command::new(our_program());
        command
            .arg(supervise::COMMAND)
            .args(&program.command)
            .current_dir(&program.dir)
            .env_clear()
            .envs(environment(std::env::vars_os(), &program.pass).filter(|(name, _)| {
                !program.untrusted || ["PATH", "HOME", "LANG"].iter().any(|known| name == known)
            }))
            .envs(program.set.iter().map(|(name, value)| (name, value)))
            .envs(program.secrets.iter().map(|(name, value)| (name, value.expose_secret())))
            .env(MARK, &run)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let cant = |error: &dyn std::fmt::Display| {
            BrainError::new(FailureClass::Crash, format!("the program `{name}` can't be run: {error}"))
        };
        let mut supervisor = command.spawn().map_err(|error| cant(&error))?;
        let words = Arc::new(Mutex::new(StderrTail::default()));
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take())
        else {
            return Err(cant(&"it has no pipes"));
        };
        let (send, to_send) = mpsc::unbounded_channel();
        let (found, lines) = mpsc::channel(LINES);
        tokio::spawn(write(stdin, to_send));
        tokio::spawn(read(stdout, program.untrusted, found, Arc::clone(&words)));
        tokio::spawn(listen(stderr, Arc::clone(&words)));
        Ok(Self {
            name,
            supervisor,
            run,
            send: Some(send),
            lines,
            words,
            secrets: program.secrets.iter().map(|(_, secret)| secret.clone()).collect(),
            timeouts: supervision.timeouts,
            heard: false,
            waited: Duration::ZERO,
        })
    }

    /// Sends a message as one line; it is written when the program reads.
    pub fn send(&self, message: &Value) {
        if let Some(send) = &self.send {
            let _ = send.send(format!("{message}\n").into_bytes());
        }
    }

    /// The next message: one line that is JSON. None if the program has ended. Lines that are no JSON, or too
    /// long, are passed over. May be dropped and called again without loss.
    ///
    /// # Errors
    /// The program was silent for too long, took too long in all, or wrote too much; a message of an untrusted one was
    /// too long or can't be read.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        let silence = if self.heard { self.timeouts.silence } else { self.timeouts.first_byte };
        let left = self.timeouts.overall.saturating_sub(self.waited);
        let began = Instant::now();
        let heard = tokio::select! {
            biased;
            line = timeout(silence.min(left), self.lines.recv()) => line,
            _ = self.supervisor.wait() => {
                // Its last lines may still be in the pipe; another process that holds the pipe open doesn't matter.
                Ok(timeout(DRAIN, self.lines.recv()).await.ok().flatten())
            }
        };
        self.waited += began.elapsed();
        match heard {
            Ok(line) => {
                self.heard |= line.is_some();
                let unread = if line.is_none() { self.unreadable() } else { None };
                unread.map_or(Ok(line), |why| Err(BrainError::new(FailureClass::Crash, why)))
            }
            Err(_) if left <= silence => {
                let minutes = self.timeouts.overall.as_secs_f64() / 60.0;
                Err(self.late(&format!("it did not answer within {minutes:.0} minutes")))
            }
            Err(_) => Err(self.late(&format!("it said nothing for {} s", silence.as_secs()))),
        }
    }

    fn unreadable(&self) -> Option<String> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).unreadable.clone()
    }

    fn late(&self, what: &str) -> BrainError {
        BrainError::new(FailureClass::Timeout, format!("{what} and was ended{}", self.stderr_text()))
    }

    /// Why there is no answer, where the program ended without one.
    pub async fn crashed(&mut self) -> BrainError {
        let status = timeout(END, self.supervisor.wait()).await.ok().and_then(Result::ok);
        let how = match status.and_then(|status| status.code()) {
            // The supervisor's text is the whole sentence.
            Some(code) if code == i32::from(supervise::NOT_STARTED) => {
                let said = self.stderr_text();
                let sentence = said.strip_prefix(" (").and_then(|said| said.strip_suffix(')'));
                let plain = || format!("the program `{}` can't be started", self.name);
                return BrainError::new(FailureClass::Crash, sentence.map_or_else(plain, str::to_owned));
            }
            Some(0) => "ended without an answer".to_owned(),
            Some(code) if code > 128 => format!("was ended by signal {}", code - 128),
            Some(code) => format!("ended with status {code}"),
            None => "was killed".to_owned(),
        };
        let message = format!("the program `{}` {how}{}", self.name, self.stderr_text());
        BrainError::new(FailureClass::Crash, message)
    }

    /// The end of its output outside of messages, scrubbed: ` (…)`, or nothing.
    pub fn stderr_text(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets: Vec<&str> = self.secrets.iter().map(ExposeSecret::expose_secret).collect();
        let bytes = if words.stderr.trim_ascii().is_empty() { &words.noise } else { &words.stderr };
        let text = scrub(&String::from_utf8_lossy(bytes), &secrets);
        match (text.is_empty(), words.too_long) {
            (true, 0) => String::new(),
            (true, lines) => format!(" ({lines} of its lines were too long)"),
            (false, _) => format!(" ({text})"),
        }
    }

    /// Lets the program end by itself, for five seconds, and ends it.
    pub async fn end(mut self) {
        // It sees the end of its input.
        self.send = None;
        // Whatever it still says is thrown away, so that it never waits for us.
        let drained = async {
            tokio::join!(async { while self.lines.recv().await.is_some() {} }, self.supervisor.wait())
        };
        let _ = timeout(END, drained).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(supervisor) = self.supervisor.id() else {
            // Was the supervisor killed, its last act is ours.
            let killed =
                self.supervisor.try_wait().is_ok_and(|status| status.is_some_and(|s| s.code().is_none()));
            if killed {
                end_marked(|mark| mark == self.run);
            }
            return;
        };
        supervise::end_tree(supervisor);
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(
    stdout: ChildStdout,
    untrusted: bool,
    found: mpsc::Sender<Value>,
    words: Arc<Mutex<StderrTail>>,
) {
    let most_line = if untrusted { MOST_UNTRUSTED_LINE } else { MOST_LINE };
    let (mut reader, mut left) = (BufReader::new(stdout), MOST_OUTPUT);
    while let Some(line) = next_line(&mut reader, most_line).await {
        let Ok(line) = line else {
            let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
            words.too_long += 1;
            if untrusted {
                let most = MOST_UNTRUSTED_LINE >> 20;
                words.unreadable = Some(format!("its answer is longer than {most} MiB"));
                return;
            }
            continue;
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        left = left.saturating_sub(line.len());
        if left == 0 && !untrusted {
            let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
            words.unreadable = Some(format!("it wrote more than {} MiB", MOST_OUTPUT >> 20));
            return;
        }
        let error = match lenient_json::from_slice::<Value>(&line) {
            Ok(message) => match found.send(message).await {
                Ok(()) => continue,
                Err(_) => return,
            },
            Err(error) => error,
        };
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        if untrusted && is_message(&line) {
            words.unreadable = Some(format!("its answer can't be read: {error}"));
            return;
        }
        keep_end(&mut words.noise, &line);
        keep_end(&mut words.noise, b"\n");
    }
}

/// Whether a line that is no JSON was meant as a message of JSON-RPC: an object, nested too deeply or broken.
fn is_message(line: &[u8]) -> bool {
    line.trim_ascii().starts_with(b"{") && memchr::memmem::find(line, b"\"jsonrpc\"").is_some()
}

/// The next line without its end; the error is a line of more than `most` bytes. None at the end.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), most: usize) -> Option<Result<Vec<u8>, ()>> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let bytes = reader.fill_buf().await.ok()?;
        if bytes.is_empty() {
            let rest = if too_long { Err(()) } else { Ok(line) };
            return Some(rest).filter(|rest| rest.as_ref().map_or(true, |line| !line.is_empty()));
        }
        let end = memchr::memchr(b'\n', bytes);
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        too_long |= line.len() + piece.len() > most;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Some(if too_long { Err(()) } else { Ok(line) });
        }
    }
}

async fn listen(mut stderr: ChildStderr, words: Arc<Mutex<StderrTail>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        keep_end(&mut words.lock().unwrap_or_else(PoisonError::into_inner).stderr, &buffer[..read]);
    }
}

fn keep_end(kept: &mut Vec<u8>, more: &[u8]) {
    kept.extend_from_slice(more);
    let over = kept.len().saturating_sub(MOST_WORDS);
    if over > 0 {
        // The rest of a word that was cut may be that of a key, which nothing would find.
        let rest = kept[over..].iter().position(u8::is_ascii_whitespace).unwrap_or(MOST_WORDS);
        kept.drain(..over + rest);
    }
}

#[cfg(test)]
mod tests;
