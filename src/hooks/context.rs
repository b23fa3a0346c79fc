//! Holds a hook's context (the vault and the clock), and computes the scopes that its session may read.
//!
//! Also starts background processes, and writes failures of hooks to `hooks.log` in the state directory. A failure is
//! one line: the time, the event and the cause (at most 300 characters). Errors in the host's message are worded
//! without the message's text. Above 64 KiB the log starts over.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::host::messages::HookInput;
use super::host::{HostEvent, Transcript};
use crate::clock::Clock;
use crate::config::{Dirs, create_private};
use crate::memory::{Origin, Scope, accessible, derive, legacy_scope};
use crate::search::follow::follower;
use crate::vault::Actor;

/// The host, as scopes, logs and history name it.
pub(super) const CLIENT: &str = crate::format::log::SESSIONS;

/// The time after which a hook answers nothing.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);
/// The least time between two processes that update the index.
const MIN_INTERVAL: Duration = Duration::from_secs(600);

/// The log's name.
const LOG_NAME: &str = "hooks.log";
/// Beyond this it starts over.
const MAX_LOG_BYTES: u64 = 64 << 10;
/// A cause is one line and not longer than this.
const MAX_CAUSE_CHARS: usize = 300;

/// A hook's context.
#[derive(Debug, Clone)]
pub struct HookContext {
    /// The vault's folder, or why none is known.
    pub vault: Result<PathBuf, String>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl HookContext {
    /// Adds a line to the log; a write error is ignored.
    pub(super) fn log_failure(&self, event: HostEvent, error: &anyhow::Error) {
        if let Some(dir) = log_dir(self.vault.as_deref().ok()) {
            let _ = append(&dir.join(LOG_NAME), &line(self.clock.now(), event, &error.to_string()));
        }
    }
}

/// Starts this program for the vault in the background; the hook does not wait for it.
pub(super) fn start_detached(vault: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.arg("--vault").arg(vault).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal that ends the host's hook must not end this process.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    if let Err(error) = command.spawn() {
        tracing::debug!(%error, "its work is left to the next event");
    }
}

/// Starts a process that updates the index, where the update would take longer than the 300 ms that a hook has: unless
/// one was started just before or a daemon runs. The hook does not wait for it.
///
/// Without a daemon nothing else would update the index, and every prompt would be late. The process runs one `recall`,
/// which updates index and ranking, and ends.
pub(super) fn start_reindex_if_due(vault: &Path) {
    let Ok(dirs) = Dirs::for_vault(vault) else { return };
    let mark = dirs.cache.join("hooks-behind");
    let age = std::fs::metadata(&mark).and_then(|meta| meta.modified()).ok();
    let is_young = |at| SystemTime::now().duration_since(at).is_ok_and(|age| age < MIN_INTERVAL);
    if age.is_some_and(is_young) || follower::is_held(&dirs.cache) || std::fs::write(&mark, "").is_err() {
        return;
    }
    start_detached(vault, ["recall", "index"]);
}

/// A memory's key: its words, since lines move when a note is edited.
pub(super) fn memory_name(path: &str, text: &str) -> String {
    format!("{path}\n{text}")
}

/// The scope that a session works in: its project, as a rule.
pub(super) fn scope(input: &HookInput) -> Scope {
    derive(&working_folder(input), |name| std::env::var(name).ok())
}

pub(super) fn working_folder(input: &HookInput) -> PathBuf {
    input.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The scopes whose memories a session may see.
pub(super) fn scopes(input: &HookInput) -> Vec<Scope> {
    let before = legacy_scope(&working_folder(input), |name| std::env::var(name).ok());
    accessible(&scope(input), Some(CLIENT)).into_iter().chain(before).collect()
}

/// The actor of a hook's writes.
pub(super) fn origin(input: &HookInput) -> Origin {
    Origin::new(Actor::Hook).client(CLIENT).conversation(input.session())
}

pub(super) fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// The result of `read` for a session's transcript; empty if the session has no transcript.
pub(super) fn transcript(
    input: &HookInput,
    read: fn(&Path) -> std::io::Result<Transcript>,
) -> anyhow::Result<Transcript> {
    let Some(path) = input.transcript(home().as_deref()) else { return Ok(Transcript::default()) };
    read(&path).map_err(|error| anyhow::anyhow!("the transcript can't be read: {error}"))
}

/// The directory of the log: the vault's state, else what the platform has for state.
fn log_dir(vault: Option<&Path>) -> Option<PathBuf> {
    if let Some(dirs) = vault.and_then(|root| Dirs::for_vault(root).ok()) {
        return Some(dirs.state);
    }
    if let Some(dir) = std::env::var_os(crate::config::STATE_VARIABLE).filter(|dir| !dir.is_empty()) {
        return Some(PathBuf::from(dir));
    }
    let base = etcetera::choose_base_strategy().ok()?;
    let state = etcetera::BaseStrategy::state_dir(&base);
    let state = state.unwrap_or_else(|| etcetera::BaseStrategy::data_dir(&base));
    Some(state.join("vault-agent"))
}

fn line(now: Timestamp, event: HostEvent, cause: &str) -> String {
    let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let cause: String =
        cause.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_CAUSE_CHARS).collect();
    format!("{second} {}: {}\n", event.as_str(), cause.trim())
}

fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        create_private(dir)?;
    }
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() > MAX_LOG_BYTES) {
        std::fs::remove_file(path)?;
    }
    // One write, so that lines of two hooks don't mix.
    std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_stays_small_and_keeps_the_newest_lines() {
        let temp = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-12-01T09:30:00.5Z".parse().unwrap();
        for n in 0..2000 {
            let line = line(now, HostEvent::Stop, &format!("cause {n}\n{}", "x".repeat(500)));
            append(&temp.path().join(LOG_NAME), &line).unwrap();
        }
        let text = std::fs::read_to_string(temp.path().join(LOG_NAME)).unwrap();
        assert!(text.len() as u64 <= MAX_LOG_BYTES + 1000, "{}", text.len());
        assert!(text.lines().all(|line| line.starts_with("2026-12-01T09:30:00Z stop: cause ")), "{text}");
        assert!(text.lines().last().unwrap().contains("cause 1999 xxx"));
    }
}
