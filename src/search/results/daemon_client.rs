//! Sends questions to a running daemon, which has the index in memory. If no daemon runs, or if it refuses or is too
//! slow, this process computes the answer.
//!
//! The daemon listens on a Unix socket in the state directory. A request is one line of JSON, and so is an answer. The
//! daemon answers a process only if both are of the same build and have the same settings, and their clocks differ by
//! at most two seconds. So an answer doesn't depend on the process that computed it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::config::Settings;
use crate::embed::ModelError;
use crate::rerank::Reranker;
use crate::search::follow::is_stale;
use crate::search::recall::Recall;
use crate::search::results::{MemoryPrompt, Recalled};
use crate::search::{Answer, Hit, Query, Result};
use crate::workspace::Workspace;

/// The socket's name in the state directory.
pub const SOCKET: &str = "ask.sock";
/// The longest line of either side, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;
/// How long a daemon may take: longer than any question does, shorter than a person waits for a dead one.
const PATIENCE: Duration = Duration::from_secs(3);
/// Clocks that differ by more than this are not the same time.
const SAME_TIME: SignedDuration = SignedDuration::from_secs(2);

/// A question as it goes over the socket.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    who: ProcessIdentity,
    question: DaemonQuestion,
}

/// The identity that both sides must share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    build: String,
    settings: String,
    now: Timestamp,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DaemonQuestion {
    Search(Query),
    Recall(MemoryPrompt),
}

/// An answer as it goes over the socket, with the whole texts of its hits, which their JSON leaves out. (Scores have six
/// decimals, so JSON doesn't round them.)
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Search(Answer, Vec<String>),
    Recall(Recalled, Vec<String>),
    Refused(String),
}

/// The whole texts of hits.
fn texts_of(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| hit.text.clone()).collect()
}

/// Gives hits the texts of [`texts_of`].
fn set_texts(hits: &mut [Hit], texts: Vec<String>) {
    hits.iter_mut().zip(texts).for_each(|(hit, text)| hit.text = text);
}

impl ProcessIdentity {
    /// This process with these settings, now.
    pub fn new(settings: &Settings, clock: &dyn Clock) -> Self {
        let settings = blake3::hash(format!("{settings:?}").as_bytes()).to_hex()[..16].to_owned();
        Self { build: build(), settings, now: clock.now() }
    }

    /// The same at another time.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        Self { now, ..self.clone() }
    }

    /// Whether what `self` answers is what `other` would answer.
    fn agrees_with(&self, other: &Self) -> bool {
        let apart = self.now.duration_since(other.now).abs();
        self.build == other.build && self.settings == other.settings && apart <= SAME_TIME
    }
}

/// The identity of this build of the program: version, and size and time of its file.
fn build() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = file.ok().and_then(|file| {
        let time = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{}.{}", file.len(), time.as_nanos()))
    });
    format!("{} {}", crate::search::SCHEMA, stamp.unwrap_or_default())
}

/// The daemon's side: the line that answers `line`.
pub fn answer(recall: &Recall, me: &ProcessIdentity, line: &str) -> String {
    let reply = match serde_json::from_str::<Request>(line) {
        Err(error) => Reply::Refused(format!("not a question: {error}")),
        Ok(asked) if !me.agrees_with(&asked.who) || !recall.is_current() => {
            Reply::Refused("another build, other settings, or another time".to_owned())
        }
        Ok(asked) => reply(recall, asked.question).unwrap_or_else(|error| Reply::Refused(error.to_string())),
    };
    serde_json::to_string(&reply).unwrap_or_default()
}

fn reply(recall: &Recall, question: DaemonQuestion) -> Result<Reply> {
    Ok(match question {
        DaemonQuestion::Search(query) => {
            let answer = recall.search(&query)?;
            let texts = texts_of(&answer.hits);
            Reply::Search(answer, texts)
        }
        DaemonQuestion::Recall(prompt) => {
            let recalled = recall.recall(&prompt)?;
            let texts = texts_of(&recalled.hits);
            Reply::Recall(recalled, texts)
        }
    })
}

/// Search and recall over one vault, through its daemon if that answers, otherwise in this process.
#[derive(Debug)]
pub struct SearchClient {
    workspace: Arc<Workspace>,
    patience: Duration,
    own: Mutex<Option<Arc<Recall>>>,
    pub(in crate::search) reranker: OnceLock<Result<Option<Arc<dyn Reranker>>, ModelError>>,
}

impl SearchClient {
    /// Over a workspace. Nothing is opened yet.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace, patience: PATIENCE, own: Mutex::default(), reranker: OnceLock::new() }
    }

    /// The same, waiting no longer than this for the daemon.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The vault that is asked about.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// As [`Recall::search`].
    ///
    /// # Errors
    /// As there.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        let Some(Reply::Search(mut answer, texts)) = self.ask(DaemonQuestion::Search(query.clone())) else {
            return self.own()?.search(query);
        };
        set_texts(&mut answer.hits, texts);
        Ok(answer)
    }

    /// As [`Recall::recall`].
    ///
    /// # Errors
    /// As there.
    pub fn recall(&self, prompt: &MemoryPrompt) -> Result<Recalled> {
        let Some(Reply::Recall(mut recalled, texts)) = self.ask(DaemonQuestion::Recall(prompt.clone()))
        else {
            return self.own()?.recall(prompt);
        };
        set_texts(&mut recalled.hits, texts);
        Ok(recalled)
    }

    /// This process's own [`Recall`], opened with the first call.
    ///
    /// # Errors
    /// As [`Recall::of`].
    pub fn own(&self) -> Result<Arc<Recall>> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(recall) = &*own {
            return Ok(Arc::clone(recall));
        }
        Ok(Arc::clone(own.insert(Arc::new(Recall::of(&self.workspace)?))))
    }

    /// The daemon's reply; none where there is no daemon, or none that would answer as this process would.
    fn ask(&self, question: DaemonQuestion) -> Option<Reply> {
        let who = ProcessIdentity::new(&self.workspace.settings, &*self.workspace.clock);
        let line = serde_json::to_string(&Request { who, question }).ok()?;
        // A daemon that hangs takes connections, and answers none.
        if line.len() >= LONGEST_LINE || is_stale(&self.workspace.dirs.cache) {
            return None;
        }
        let reply = exchange(&socket(&self.workspace.dirs.state), &line, self.patience);
        let reply = reply.inspect_err(|error| tracing::debug!(%error, "no answer from a daemon")).ok()?;
        let reply = serde_json::from_str(&reply).ok()?;
        if let Reply::Refused(why) = &reply {
            tracing::debug!(%why, "the daemon leaves the answer to this process");
        }
        Some(reply)
    }
}

/// The path of the socket that the daemon listens on.
pub fn socket(state: &Path) -> PathBuf {
    state.join(SOCKET)
}

/// One line to the socket, and one back, each within `patience`.
///
/// # Errors
/// No daemon listens, or it doesn't answer in time.
pub fn exchange(socket: &Path, line: &str, patience: Duration) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(patience))?;
    stream.set_read_timeout(Some(patience))?;
    // In one piece: two would wake the daemon twice.
    stream.write_all(format!("{line}\n").as_bytes())?;
    let mut reply = String::new();
    // An answer holds whole texts of blocks, so it may be longer than a question.
    BufReader::new(stream).take(64 * LONGEST_LINE as u64).read_line(&mut reply)?;
    Ok(reply)
}
