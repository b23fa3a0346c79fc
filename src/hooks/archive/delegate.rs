//! Chooses the process that archives a session: the daemon if one runs, otherwise the hook itself.
//!
//! A hook has a time limit. If the hook can't finish the archiving within the limit, or if another process is archiving
//! the same session, the hook starts a detached process, which does the rest. The hook doesn't wait for that process.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::hooks::archive::{ArchiveError, ArchiveReport, ArchiveRequest, Result, archive, sweep};
use crate::hooks::context::{self, HookContext, home};
use crate::hooks::host::HostEvent;
use crate::hooks::host::messages::HookInput;
use crate::memory::{PROJECT_VARIABLE, SCOPE_VARIABLE};
use crate::workspace::Workspace;

/// A request as it goes over the daemon's socket.
#[derive(Debug, Serialize, Deserialize)]
pub struct ArchiveMessage {
    /// The session to be archived.
    pub archive: ArchiveRequest,
}

/// The daemon's answer.
pub const ACCEPTED: &str = "{\"taken\":true}";

/// The session that a host's message asks to archive, if it names a transcript.
pub fn request(event: HostEvent, input: &HookInput) -> Option<ArchiveRequest> {
    let transcript = input.transcript(home().as_deref())?;
    let named = [SCOPE_VARIABLE, PROJECT_VARIABLE].iter().any(|name| std::env::var_os(name).is_some());
    Some(ArchiveRequest {
        session: match input.session() {
            "" => ArchiveRequest::of(&transcript).session,
            session => session.to_owned(),
        },
        project: input.cwd.as_deref().filter(|_| named).map(crate::hooks::archive::log_paths::project_of),
        cwd: input.cwd.clone(),
        ended: event == HostEvent::SessionEnd,
        compacting: event == HostEvent::PreCompact,
        transcript,
    })
}

/// Archives a session within `time`, by the daemon if one runs.
///
/// # Errors
/// The vault or the transcript can't be used. Being late is none.
pub fn archive_with_timeout(
    event: HostEvent,
    place: &HookContext,
    input: &HookInput,
    time: Duration,
) -> anyhow::Result<()> {
    let until = Instant::now() + time;
    let Some(request) = request(event, input) else { return Ok(()) };
    let dir = place.vault.clone().map_err(anyhow::Error::msg)?;
    let workspace = Workspace::open(&dir, Arc::clone(&place.clock))?;
    if !workspace.settings.hooks.archive || send_to_daemon(&workspace, &request, time) {
        return Ok(());
    }
    // A thread that is late is ended with the process, wherever it is; so it stops a little before.
    let until = until.checked_sub(time / 10).unwrap_or(until);
    let done = match archive(&workspace, &request, Some(until)) {
        Ok(report) if !report.is_left && event == HostEvent::SessionStart => Ok(ArchiveReport {
            is_left: sweep(&workspace, Some(&request.transcript), Some(until)).is_left,
            ..report
        }),
        Ok(report) if !report.is_left && request.compacting => {
            let is_left = !condense(&workspace, &request, Some(until));
            Ok(ArchiveReport { is_left, ..report })
        }
        done => done,
    };
    match done {
        Ok(report) if !report.is_left => Ok(()),
        Ok(_) | Err(ArchiveError::Busy) => {
            start_detached(&dir, &request);
            Ok(())
        }
        Err(error) => anyhow::bail!("the session is not kept: {error}"),
    }
}

/// Archives a session and the other known ones, without a time limit: in the daemon, and in the detached process.
///
/// # Errors
/// As [`archive`].
pub fn archive_and_sweep(workspace: &Workspace, request: &ArchiveRequest) -> Result<ArchiveReport> {
    let mut report = archive(workspace, request, None)?;
    report.logs.extend(sweep(workspace, Some(&request.transcript), None).logs);
    Ok(report)
}

/// Writes the summaries that a session needs before its host compacts it; true where all were written.
pub fn condense(workspace: &Workspace, request: &ArchiveRequest, until: Option<Instant>) -> bool {
    #[cfg(feature = "assistant")]
    if workspace.settings.summary.enabled
        && !workspace.is_paused()
        && let Err(error) = crate::hooks::archive::summaries::condense(workspace, &request.session, until)
    {
        tracing::warn!("a session is not summarised: {error}");
        return false;
    }
    #[cfg(not(feature = "assistant"))]
    let _ = (workspace, request);
    until.is_none_or(|until| Instant::now() < until)
}

/// Sends the request to the daemon; true where it accepted.
fn send_to_daemon(workspace: &Workspace, request: &ArchiveRequest, time: Duration) -> bool {
    use crate::search::results::daemon_client;

    let socket = daemon_client::socket(&workspace.dirs.state);
    let Ok(line) = serde_json::to_string(&ArchiveMessage { archive: request.clone() }) else { return false };
    daemon_client::exchange(&socket, &line, time / 3).is_ok_and(|reply| reply.trim_end() == ACCEPTED)
}

/// Starts a detached process for the rest. The hook does not wait for it.
pub fn start_detached(vault: &Path, request: &ArchiveRequest) {
    let mut arguments: Vec<&OsStr> =
        ["hook", "archive", "--session", &request.session].map(OsStr::new).to_vec();
    if let Some(cwd) = &request.cwd {
        arguments.extend([OsStr::new("--cwd"), cwd.as_os_str()]);
    }
    if let Some(project) = &request.project {
        arguments.extend(["--project", project].map(OsStr::new));
    }
    arguments.extend(request.ended.then_some(OsStr::new("--ended")));
    arguments.extend(request.compacting.then_some(OsStr::new("--compacting")));
    arguments.extend([OsStr::new("--"), request.transcript.as_os_str()]);
    context::start_detached(vault, arguments);
}
