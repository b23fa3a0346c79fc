//! Archives whole sessions of coding agents as logs, so that nothing is lost when the host compacts or deletes a
//! conversation.
//!
//! The host writes a transcript and calls a hook when the transcript has grown. A [`pass`] begins where the last pass
//! ended, and appends the new lines to `logs/claude-code/PROJECT/SESSION.md` ([`session_log`]). Of a result over 16 KB
//! the log has the beginning and the end; a file next to the log has the whole. Secrets are [masked](crate::redact).
//! The transcript is read line by line.
//!
//! The log itself shows which lines it holds, so a pass may be killed at any time, or repeated. The next event of the
//! same session, or of another session ([`sweep`]), finishes the work of a killed hook.
//!
//! - `read_state`: the lines of a growing transcript, and how far each was read;
//! - `log_paths`: the paths of logs and attachments, and the markers in a log;
//! - `summaries`: summaries before a compaction; `delegate`: the process that archives a session.

pub mod delegate;
pub mod log_paths;
mod pass;
mod read_state;
mod session_log;
#[cfg(feature = "assistant")]
pub mod summaries;

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::vault::{EditError, PathError, VaultError};
use crate::workspace::Workspace;
use log_paths::{LogPaths, log_name};
use pass::ArchivePass;
use read_state::{ReadState, ReadStates};

/// How often a lock that another hook holds is tried.
const LOCK_RETRY: Duration = Duration::from_millis(3);
/// A session whose transcripts haven't grown for so long has ended, whether or not its host could say so. A question to
/// the person may wait for the next morning.
const IDLE_END: Duration = Duration::from_secs(24 * 3600);
/// A transcript that hasn't grown for so long isn't remembered any more.
const STATE_EXPIRY: Duration = Duration::from_secs(30 * 24 * 3600);

/// A session can't be kept.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The transcript.
    #[error("the transcript can't be read: {0}")]
    Transcript(io::Error),
    /// There is none.
    #[error("there is no such transcript")]
    NotThere,
    /// The log.
    #[error("the session's log can't be read: {0}")]
    Log(io::Error),
    /// The lock.
    #[error("the session can't be locked: {0}")]
    Lock(io::Error),
    /// Another process is at the same session.
    #[error("another process is at this session")]
    Busy,
    /// The vault's folder of logs.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Reading in the vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// Writing in the vault.
    #[error(transparent)]
    Edit(#[from] EditError),
}

type Result<T, E = ArchiveError> = std::result::Result<T, E>;

/// A transcript that has grown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveRequest {
    /// The session's id, which is its log's name.
    pub session: String,
    /// The host's transcript.
    pub transcript: PathBuf,
    /// The assistant's folder, for a transcript that doesn't say so.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The folder of a new log, where the environment names it.
    #[serde(default)]
    pub project: Option<String>,
    /// Whether nothing more will come: calls without a result are logged.
    #[serde(default)]
    pub ended: bool,
    /// Whether the host is about to compact the session.
    #[serde(default)]
    pub compacting: bool,
}

/// The result of a pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ArchiveReport {
    /// Logs that were added to, and how many events each got.
    pub logs: Vec<(String, usize)>,
    /// Whether there is more to be read: the time was up.
    pub is_left: bool,
}

impl ArchiveRequest {
    /// The request for a transcript whose file has the session's name.
    pub fn of(transcript: &Path) -> Self {
        let session = transcript.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { session, transcript: transcript.to_owned(), ..Self::default() }
    }
}

/// Brings the logs of a session and of its sub-agents up to date with the host's transcripts, until `until`. A missing
/// transcript counts as empty.
///
/// # Errors
/// Something can't be read or written; another process is at the session all the time.
pub fn archive(
    workspace: &Workspace,
    request: &ArchiveRequest,
    until: Option<Instant>,
) -> Result<ArchiveReport> {
    let states = ReadStates::new(&workspace.dirs.state);
    let _lock = lock(&workspace.dirs.state, &request.session, until)?;
    // From the first event on, sessions without events of their own are archived, too.
    states.since();
    let mut report = ArchiveReport::default();
    read_on(workspace, request, &request.transcript, None, until, &mut report)?;
    for (agent, transcript) in sub_agents(request, &states) {
        read_on(workspace, request, &transcript, Some(agent), until, &mut report)?;
    }
    Ok(report)
}

/// Whether any session is known that was archived before and whose transcript still exists.
pub fn is_any_known(workspace: &Workspace) -> bool {
    !ReadStates::new(&workspace.dirs.state).all().is_empty()
}

/// Archives sessions that have no event of their own: sessions that were read before and have grown or whose last calls
/// get no result any more, and those beside `transcript` that are to be archived. A session that fails is tried again
/// at the next sweep.
pub fn sweep(workspace: &Workspace, transcript: Option<&Path>, until: Option<Instant>) -> ArchiveReport {
    let states = ReadStates::new(&workspace.dirs.state);
    let (since, now) = (states.since(), SystemTime::now());
    let mut known = HashSet::new();
    let mut grown = Vec::new();
    let age = |path: &Path| {
        let meta = std::fs::metadata(path).ok()?;
        Some((now.duration_since(meta.modified().ok()?).unwrap_or_default(), meta))
    };
    // For each session, how long nothing was written to any of its transcripts, and whether something is left to do.
    let mut sessions: HashMap<String, (Duration, bool)> = HashMap::new();
    let mut read = states.all();
    read.retain(|state| {
        known.insert(state.transcript.clone());
        let age = age(&state.transcript).map(|(age, meta)| (age, meta.len() != state.length));
        let Some((age, has_grown)) = age.filter(|(age, has_grown)| *has_grown || *age <= STATE_EXPIRY) else {
            states.forget(&state.transcript);
            return false;
        };
        let (youngest, is_left) = sessions.entry(state.session.clone()).or_insert((age, false));
        *youngest = age.min(*youngest);
        *is_left |= has_grown || age > IDLE_END && state.offset < state.length && !state.ended;
        true
    });
    // The sessions of sub-agents that began after the last event of their session.
    let places =
        |state: &ReadState| [state.transcript.with_file_name(""), sub_agents_folder(&state.transcript)];
    let folders: HashSet<PathBuf> = read.iter().flat_map(places).collect();
    let is_late = |path: &PathBuf| {
        is_sub_agent(path) && !known.contains(path) && age(path).is_some_and(|(age, _)| age <= STATE_EXPIRY)
    };
    let late = folders.iter().flat_map(|folder| transcripts(folder)).filter(is_late);
    let late: HashSet<String> = late.filter_map(|path| session_of(&path)).collect();
    for ReadState { session, transcript, .. } in read {
        let (age, is_left) = sessions[&session];
        if (is_left || late.contains(&session)) && !is_sub_agent(&transcript) {
            grown.push(ArchiveRequest { session, ended: age > IDLE_END, ..ArchiveRequest::of(&transcript) });
        }
    }
    let log_paths = LogPaths::of(workspace);
    for path in transcript.and_then(Path::parent).map(transcripts).unwrap_or_default() {
        let Some((age, meta)) = age(&path) else { continue };
        if known.contains(&path) || is_sub_agent(&path) || age > STATE_EXPIRY {
            continue;
        }
        let request = ArchiveRequest { ended: age > IDLE_END, ..ArchiveRequest::of(&path) };
        let written = meta.modified().ok();
        let log =
            log_paths.find(&log_name(&request.session, None)).map(|(_, log)| log_paths.vault.absolute(&log));
        let after = match log {
            Some(log) => std::fs::metadata(log).and_then(|meta| meta.modified()).ok(),
            None => since,
        };
        if written > after {
            grown.push(request);
        }
    }
    let mut report = ArchiveReport::default();
    for request in grown {
        if until.is_some_and(|until| Instant::now() >= until) {
            report.is_left = true;
            break;
        }
        match archive(workspace, &request, until) {
            Ok(done) => {
                report.logs.extend(done.logs);
                report.is_left |= done.is_left;
            }
            Err(error) => tracing::debug!(%error, "a session is left to the next time"),
        }
    }
    report
}

/// Reads one transcript on from where it was read to.
fn read_on(
    workspace: &Workspace,
    request: &ArchiveRequest,
    transcript: &Path,
    agent: Option<String>,
    until: Option<Instant>,
    report: &mut ArchiveReport,
) -> Result<()> {
    let states = ReadStates::new(&workspace.dirs.state);
    let Ok(meta) = std::fs::metadata(transcript) else { return Ok(()) };
    let known = states.load(transcript);
    let is_done = !request.ended || known.ended || known.offset == meta.len();
    if known.length == meta.len() && known.offset > 0 && is_done {
        return Ok(());
    }
    let mut pass = ArchivePass::new(workspace, request, agent);
    let go_on = || until.is_none_or(|until| Instant::now() < until);
    let save = |offset: u64, length: u64| {
        let ended = request.ended && length > 0;
        if let Err(error) = states.save(transcript, &request.session, offset, length, ended) {
            tracing::debug!(%error, "how far a transcript was read is not kept");
        }
    };
    let reached = pass.run(transcript, known.offset, &go_on, &mut |offset| save(offset, 0))?;
    // Lines that the host writes meanwhile are read the next time.
    save(reached.offset, if reached.is_all { meta.len() } else { 0 });
    report.is_left |= !reached.is_all;
    report.logs.extend(pass.added().map(|(path, count)| (path.to_string(), count)));
    Ok(())
}

/// The transcripts of a session's sub-agents, with their names: in the session's own folder, or beside it.
fn sub_agents(request: &ArchiveRequest, states: &ReadStates) -> Vec<(String, PathBuf)> {
    let mut found = transcripts(&sub_agents_folder(&request.transcript));
    // Files of sessions that were over before this one began are none of its.
    let since = std::fs::metadata(&request.transcript).and_then(|meta| meta.created()).ok();
    let beside = request.transcript.parent().map(transcripts).unwrap_or_default();
    found.extend(beside.into_iter().filter(|path| {
        let is_young = || std::fs::metadata(path).and_then(|meta| meta.modified()).ok() >= since;
        let is_of = || session_of(path).is_some_and(|session| session == request.session);
        is_sub_agent(path) && (states.load(path).session == request.session || is_young() && is_of())
    }));
    let name = |path: &Path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        stem.strip_prefix("agent-").map(str::to_owned).unwrap_or(stem)
    };
    found.into_iter().map(|path| (name(&path), path)).collect()
}

fn sub_agents_folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

fn is_sub_agent(path: &Path) -> bool {
    let below = path.parent().and_then(Path::file_name).is_some_and(|name| name == "subagents");
    below || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"))
}

/// The session that the first line of a transcript names.
fn session_of(transcript: &Path) -> Option<String> {
    let mut lines = read_state::LineReader::open(transcript, 0).ok()?;
    let line = lines.next().ok()??;
    crate::hooks::host::entry::read(line.bytes).ok()??.session
}

/// The transcripts in a folder, by name.
fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    found.sort();
    found
}

/// The right to write a session's logs, for as long as the file is open.
fn lock(state: &Path, session: &str, until: Option<Instant>) -> Result<File> {
    let dir = state.join("sessions");
    std::fs::create_dir_all(&dir).map_err(ArchiveError::Lock)?;
    // A few names for all sessions: the files stay few, and two sessions seldom wait for each other.
    let name = format!("{}.lock", &blake3::hash(session.as_bytes()).to_hex()[..2]);
    let file = File::options().create(true).append(true).open(dir.join(name)).map_err(ArchiveError::Lock)?;
    let Some(until) = until else {
        file.lock().map_err(ArchiveError::Lock)?;
        return Ok(file);
    };
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(ArchiveError::Lock(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return Err(ArchiveError::Busy),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY),
        }
    }
}
