//! Answers the host's message with one line, within the timeout.
//!
//! [`respond`] reads the message on a thread that is left behind after the timeout, calls the handler of its event, and
//! archives the session afterwards. It never fails: an error is a line in the hooks' log.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fail::fail_point;

use super::context::HookContext;
use super::decide::recall_gate::{RecallDecision, gate};
use super::events::{background_reindex, compact, end, prompt, start, stop};
use super::host::input::HookInput;
use super::host::timeout::{NoAnswer, within};
use super::host::{HookAnswer, HostEvent, timeout as patience};
use super::{archive, log};
use crate::config::{Dirs, Settings};
use crate::workspace::Workspace;

/// The least time for archiving a session, however long the answer took.
const MIN_ARCHIVE_TIME: Duration = Duration::from_millis(20);

/// The line that answers the host's message on `stdin`, empty where there is nothing to say; never an error,
/// and hardly later than the patience.
pub fn respond(event: HostEvent, place: &HookContext, stdin: impl Read + Send + 'static) -> String {
    let (begun, patience) = (Instant::now(), patience::from_env());
    let heard: Arc<OnceLock<HookInput>> = Arc::default();
    let (hears, at) = (Arc::clone(&heard), place.clone());
    let answered = within(patience, move || {
        fail_point!("hooks::work", |_| Err(anyhow::anyhow!("a failpoint")));
        let input = HookInput::read(stdin)?;
        answer(event, &at, hears.get_or_init(|| input))
    });
    if let (Err(NoAnswer::Late(_)), Ok(vault)) = (&answered, &place.vault) {
        background_reindex::start_if_due(vault);
    }
    let line = match answered.map_err(anyhow::Error::from).flatten() {
        Ok(answer) => answer.to_line(event),
        Err(error) => {
            log_failure(event, place, &error);
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
        Ok(Err(error)) => log_failure(event, place, &error),
        Err(error) => log_failure(event, place, &error.into()),
    }
}

/// A line in the log.
fn log_failure(event: HostEvent, place: &HookContext, error: &anyhow::Error) {
    if let Some(dir) = log_dir(place.vault.as_deref().ok()) {
        log::note(&dir, place.clock.now(), event, &error.to_string());
    }
}

/// Answers one message.
fn answer(event: HostEvent, place: &HookContext, input: &HookInput) -> anyhow::Result<HookAnswer> {
    // Most prompts are small talk: nothing is opened for it.
    if event == HostEvent::UserPromptSubmit
        && gate(input.prompt.as_deref().unwrap_or_default()) != RecallDecision::Open
        || event == HostEvent::Stop && input.stop_hook_active == Some(true)
    {
        return Ok(HookAnswer::nothing());
    }
    let dir = place.vault.clone().map_err(anyhow::Error::msg)?;
    let workspace = Arc::new(Workspace::open(&dir, Arc::clone(&place.clock))?);
    workspace.editor.count_as_settled(true);
    match event {
        HostEvent::SessionStart => start::run(&workspace, input),
        HostEvent::UserPromptSubmit => prompt::run(&workspace, input),
        HostEvent::Stop => stop::run(&workspace, input),
        HostEvent::PreCompact => compact::run(&workspace, input),
        HostEvent::SessionEnd => end::run(&workspace, input),
    }
}

/// The directory of the log: the vault's state, else what the platform has for state.
fn log_dir(vault: Option<&std::path::Path>) -> Option<PathBuf> {
    if let Some(dirs) = vault.and_then(|root| Dirs::for_vault(root).ok()) {
        return Some(dirs.state);
    }
    if let Some(dir) = std::env::var_os(crate::config::STATE_VARIABLE).filter(|dir| !dir.is_empty()) {
        return Some(PathBuf::from(dir));
    }
    let base = etcetera::choose_base_strategy().ok()?;
    Some(
        etcetera::BaseStrategy::state_dir(&base)
            .unwrap_or_else(|| etcetera::BaseStrategy::data_dir(&base))
            .join("vault-agent"),
    )
}
