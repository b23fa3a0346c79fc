//! Answers one hook of a coding agent (the host) within the timeout.
//!
//! An event and the host's message come in; one line goes out, which is empty if there is no answer. [`respond`] starts
//! a thread that reads the message and calls the handler of the event, and waits for the thread until the timeout. A
//! late thread isn't stopped; it ends with the process. Then [`respond`] archives the session, if the settings say so,
//! in the remaining time. [`respond`] never fails: an error is a line in the hooks' log.

use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fail::fail_point;

use super::archive;
use super::context::{HookContext, PATIENCE, start_reindex_if_due};
use super::decide::recall_gate::{RecallDecision, gate};
use super::events::{end, prompt, start, stop};
use super::host::messages::HookInput;
use super::host::{HookAnswer, HostEvent};
use crate::config::Settings;
use crate::workspace::Workspace;

/// The least time for archiving a session, however long the answer took.
const MIN_ARCHIVE_TIME: Duration = Duration::from_millis(20);

/// The line that answers the host's message on `stdin`, which may be empty. It is never an error, and hardly later than
/// the timeout.
pub fn respond(event: HostEvent, place: &HookContext, stdin: impl Read + Send + 'static) -> String {
    let (begun, patience) = (Instant::now(), patience());
    let heard: Arc<OnceLock<HookInput>> = Arc::default();
    let (hears, at) = (Arc::clone(&heard), place.clone());
    let answered = within(patience, move || {
        fail_point!("hooks::work", |_| Err(anyhow::anyhow!("a failpoint")));
        let input = HookInput::read(stdin)?;
        answer(event, &at, hears.get_or_init(|| input))
    });
    if let (Err(NoAnswer::Late(_)), Ok(vault)) = (&answered, &place.vault) {
        start_reindex_if_due(vault);
    }
    let line = match answered.map_err(anyhow::Error::from).flatten() {
        Ok(answer) => answer.to_line(event),
        Err(error) => {
            place.log_failure(event, &error);
            String::new()
        }
    };
    if let Some(input) = heard.get() {
        archive_session(event, place, input, patience.saturating_sub(begun.elapsed()).max(MIN_ARCHIVE_TIME));
    }
    line
}

/// Archives the session, where the settings say so. A detached process does what isn't done in time.
fn archive_session(event: HostEvent, place: &HookContext, input: &HookInput, time: Duration) {
    // Settings that can't be read are the answer's to report, where it needs any.
    let Ok(vault) = &place.vault else { return };
    if !Settings::load(vault).is_ok_and(|settings| settings.hooks.archive) {
        return;
    }
    let (at, said) = (place.clone(), input.clone());
    let kept = within(time, move || archive::delegate::archive_with_timeout(event, &at, &said, time));
    match kept {
        Ok(Ok(())) => {}
        Err(NoAnswer::Late(_)) => {
            if let Some(request) = archive::delegate::request(event, input) {
                archive::delegate::start_detached(vault, &request);
            }
        }
        Ok(Err(error)) => place.log_failure(event, &error),
        Err(error) => place.log_failure(event, &error.into()),
    }
}

/// Answers one message.
fn answer(event: HostEvent, place: &HookContext, input: &HookInput) -> anyhow::Result<HookAnswer> {
    // Most prompts are small talk: nothing is opened for it.
    if event == HostEvent::UserPromptSubmit
        && gate(input.prompt.as_deref().unwrap_or_default()) != RecallDecision::Open
        || event == HostEvent::Stop && input.stop_hook_active == Some(true)
    {
        return Ok(HookAnswer::default());
    }
    let dir = place.vault.clone().map_err(anyhow::Error::msg)?;
    let workspace = Arc::new(Workspace::open(&dir, Arc::clone(&place.clock))?);
    match event {
        HostEvent::SessionStart => start::run(&workspace, input),
        HostEvent::UserPromptSubmit => prompt::run(&workspace, input),
        HostEvent::Stop => stop::run(&workspace, input),
        HostEvent::PreCompact => end::run_before_compaction(&workspace, input),
        HostEvent::SessionEnd => end::run(&workspace, input),
    }
}

/// Another patience than [`PATIENCE`], in milliseconds: for slow disks, and for tests on busy machines.
const TIMEOUT_VARIABLE: &str = "VAULT_AGENT_HOOK_PATIENCE_MS";

/// The patience of this process.
fn patience() -> Duration {
    let named = std::env::var(TIMEOUT_VARIABLE).ok().and_then(|text| text.parse().ok());
    named.map_or(PATIENCE, Duration::from_millis)
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum NoAnswer {
    /// It took too long.
    #[error("no answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The work panicked, or its thread could not be started.
    #[error("the work ended without an answer")]
    Failed,
}

/// The result of `work`, if it comes within `patience`.
///
/// # Errors
/// It doesn't.
fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoAnswer> {
    let (say, hear) = mpsc::sync_channel(1);
    let spawned = std::thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let _ = say.send(work());
    });
    if spawned.is_err() {
        return Err(NoAnswer::Failed);
    }
    hear.recv_timeout(patience).map_err(|error| match error {
        RecvTimeoutError::Timeout => NoAnswer::Late(patience),
        RecvTimeoutError::Disconnected => NoAnswer::Failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_time_is_given_and_nobody_waits_for_a_late_one() {
        let ages = Duration::from_secs(3600);
        assert_eq!(within(ages, || 7), Ok(7));
        // Work that can't end before this test lets it.
        let (release, wait) = mpsc::channel::<()>();
        let late = within(Duration::ZERO, move || wait.recv());
        assert_eq!(late.unwrap_err(), NoAnswer::Late(Duration::ZERO));
        drop(release);
    }

    #[test]
    fn a_panic_is_no_answer() {
        let failed: Result<(), NoAnswer> = within(Duration::from_secs(3600), || {
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert_eq!(failed, Err(NoAnswer::Failed));
    }
}
