//! Hooks of coding agents: what a host tells us when something happens, and what we answer.
//!
//! `vault-agent hook EVENT` is one short process an event. It reads the host's message ([`input`]), works on
//! a thread that is left behind after 300 ms ([`patience`]), and answers in the host's format ([`output`]) or
//! says nothing. **Whatever goes wrong, the host goes on**: the cause is a line in a log ([`log`]), the exit
//! code is 0.
//!
//! With `[hooks] archive = true` what was said and done goes into a log, too ([`archive`]), after the answer and with
//! what is left of the patience.
//!
//! The decisions are pure: whether a prompt needs memory ([`mod@gate`]), what an answer claims ([`claims`]), what
//! looks worth saving ([`crate::capture::offers`]), how the host's settings are edited ([`install`]). What comes from memory
//! is untrusted context and says so; what a hook gives is never logged as conversation and never indexed.

pub mod archive;
#[cfg(feature = "index")]
pub(crate) mod behind;
mod claim_words;
pub mod claims;
mod compact;
mod end;
mod event;
mod evidence;
pub mod gate;
#[cfg(feature = "index")]
pub mod given;
pub mod input;
pub mod install;
pub mod json;
mod layout;
pub mod log;
pub mod memories;
pub mod output;
pub mod patience;
#[cfg(feature = "index")]
mod prompt;
pub mod session;
pub mod settings_file;
#[cfg(feature = "index")]
mod start;
mod stop;
pub mod summary;
pub mod tool;
pub mod transcript;
mod words;

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fail::fail_point;

use crate::clock::Clock;
use crate::config::{ConfigError, Dirs, Settings};
use crate::memory::{Origin, Scope, derive};
#[cfg(feature = "index")]
use crate::memory::{accessible, derived_before};
use crate::vault::Actor;
use crate::workspace::Workspace;

pub use event::Event;
use gate::{Gate, gate};
use input::{Input, InputError};
use output::Answer;
use patience::{NoAnswer, within};

/// So long the keeping of a session has, however long the answer took.
const AT_LEAST: Duration = Duration::from_millis(20);
/// The host, as scopes, logs and history name it.
const CLIENT: &str = crate::format::log::SESSIONS;

/// Where a hook works.
#[derive(Debug, Clone)]
pub struct Place {
    /// The vault's folder, or why none is known.
    pub vault: Result<PathBuf, String>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Why a hook has nothing to say.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The host's message.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No vault is known.
    #[error("{0}")]
    NoVault(String),
    /// The vault or its settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The memory notes.
    #[error(transparent)]
    Memory(#[from] crate::memory::MemoryError),
    /// The transcript.
    #[error("the transcript can't be read: {0}")]
    Transcript(#[from] std::io::Error),
    /// The session's log.
    #[error("the session is not kept: {0}")]
    Archive(#[from] archive::ArchiveError),
    /// Recall.
    #[cfg(feature = "index")]
    #[error(transparent)]
    Recall(#[from] crate::search::RecallError),
    /// The index.
    #[cfg(feature = "index")]
    #[error(transparent)]
    Index(#[from] crate::search::IndexError),
    /// Time ran out, or the work ended without a word.
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
}

/// The line that answers the host's message on `stdin`, empty where there is nothing to say; never an error,
/// and hardly later than the patience.
pub fn respond(event: Event, place: &Place, stdin: impl Read + Send + 'static) -> String {
    let (begun, patience) = (Instant::now(), patience::from_env());
    let heard: Arc<OnceLock<Input>> = Arc::default();
    let (hears, at) = (Arc::clone(&heard), place.clone());
    let answered = within(patience, move || {
        fail_point!("hooks::work", |_| Err(HookError::NoVault("a failpoint".to_owned())));
        let input = Input::read(stdin)?;
        answer(event, &at, hears.get_or_init(|| input))
    });
    let line = match answered.map_err(HookError::from).and_then(|answer| answer) {
        Ok(answer) => answer.to_line(event),
        Err(error) => {
            note(event, place, &error);
            #[cfg(feature = "index")]
            if let (HookError::NoAnswer(NoAnswer::Late(_)), Ok(vault)) = (&error, &place.vault) {
                behind::bring_up(vault);
            }
            String::new()
        }
    };
    if let Some(input) = heard.get() {
        keep(event, place, input, patience.saturating_sub(begun.elapsed()).max(AT_LEAST));
    }
    line
}

/// Keeps the session, where the settings want that. What isn't done in time is done by a process beside this one.
fn keep(event: Event, place: &Place, input: &Input, time: Duration) {
    // Settings that can't be read are the answer's to report, where it needs any.
    let Ok(vault) = &place.vault else { return };
    if !Settings::load(vault).is_ok_and(|settings| settings.hooks.archive) {
        return;
    }
    let (at, said) = (place.clone(), input.clone());
    let kept = within(time, move || archive::hand::see_to(event, &at, &said, time));
    match kept.map_err(HookError::from).and_then(|kept| kept) {
        Ok(()) => {}
        Err(HookError::NoAnswer(NoAnswer::Late(_))) => {
            if let Some(request) = archive::hand::request(event, input) {
                archive::hand::beside(vault, &request);
            }
        }
        Err(error) => note(event, place, &error),
    }
}

/// A line in the log.
fn note(event: Event, place: &Place, error: &HookError) {
    if let Some(dir) = log_dir(place.vault.as_deref().ok()) {
        log::note(&dir, place.clock.now(), event, &error.to_string());
    }
}

/// Answers one message.
fn answer(event: Event, place: &Place, input: &Input) -> Result<Answer, HookError> {
    // Small talk is most of what comes: nothing is opened for it.
    if event == Event::UserPromptSubmit && gate(input.prompt.as_deref().unwrap_or_default()) != Gate::Open
        || event == Event::Stop && input.stop_hook_active == Some(true)
    {
        return Ok(Answer::nothing());
    }
    let dir = place.vault.clone().map_err(HookError::NoVault)?;
    let workspace = Arc::new(Workspace::open(&dir, Arc::clone(&place.clock))?);
    workspace.editor.count_as_settled(true);
    match event {
        #[cfg(feature = "index")]
        Event::SessionStart => start::run(&workspace, input),
        #[cfg(feature = "index")]
        Event::UserPromptSubmit => prompt::run(&workspace, input),
        #[cfg(not(feature = "index"))]
        Event::SessionStart | Event::UserPromptSubmit => Ok(Answer::nothing()),
        Event::Stop => stop::run(&workspace, input),
        Event::PreCompact => compact::run(&workspace, input),
        Event::SessionEnd => end::run(&workspace, input),
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

/// What makes a memory the same one: lines move when a note is edited, words stay.
#[cfg(feature = "index")]
fn memory_name(path: &str, text: &str) -> String {
    format!("{path}\n{text}")
}

/// The scope that a session works in: its project, as a rule.
fn scope(input: &Input) -> Scope {
    derive(&here(input), |name| std::env::var(name).ok())
}

fn here(input: &Input) -> PathBuf {
    input.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The scopes whose memories a session may see.
#[cfg(feature = "index")]
fn scopes(input: &Input) -> Vec<Scope> {
    let before = derived_before(&here(input), |name| std::env::var(name).ok());
    accessible(&scope(input), Some(CLIENT)).into_iter().chain(before).collect()
}

/// Who writes, when a hook does.
fn origin(input: &Input) -> Origin {
    Origin::new(Actor::Hook).client(CLIENT).conversation(input.session())
}

fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}
