//! Holds a hook's context: the vault, the time, the scopes that its session may see.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::host::input::HookInput;
use crate::clock::Clock;
use crate::memory::{Origin, Scope, accessible, derive, derived_before};
use crate::vault::Actor;

/// The host, as scopes, logs and history name it.
pub(super) const CLIENT: &str = crate::format::log::SESSIONS;

/// A hook's context.
#[derive(Debug, Clone)]
pub struct HookContext {
    /// The vault's folder, or why none is known.
    pub vault: Result<PathBuf, String>,
    /// The time.
    pub clock: Arc<dyn Clock>,
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
    let before = derived_before(&working_folder(input), |name| std::env::var(name).ok());
    accessible(&scope(input), Some(CLIENT)).into_iter().chain(before).collect()
}

/// The actor of a hook's writes.
pub(super) fn origin(input: &HookInput) -> Origin {
    Origin::new(Actor::Hook).client(CLIENT).conversation(input.session())
}

pub(super) fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// The reason why a hook says nothing: its transcript.
#[allow(clippy::needless_pass_by_value)]
pub(super) fn unreadable(error: std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("the transcript can't be read: {error}")
}
