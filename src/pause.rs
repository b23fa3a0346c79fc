//! Pausing all that is done without being asked for, and going on: two keys of the settings, which a daemon reads at once.
//!
//! Routines, captures, summaries, working memory, followed folders and words by a brain wait; reminders and follow-ups wait
//! only where that is asked for. What fell into a pause is handled as after an absence. The keys travel with the vault, so
//! a pause holds on every machine.

use jiff::civil;
use serde::Serialize;

use crate::config::{self, FILE_NAME, PAUSE_REMINDERS, PAUSED_UNTIL, PausedUntil};
use crate::reminders::rfc3339;
use crate::vault::{EditError, NotePath, Operation, Origin, VaultError};
use crate::workspace::Workspace;

/// Why nothing was paused or resumed.
#[derive(Debug, thiserror::Error)]
pub enum PauseError {
    /// The settings can't be read.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// The settings can't be changed, with the reason.
    #[error("{0}")]
    Text(String),
    /// Somebody changed the settings at this moment.
    #[error("`{FILE_NAME}` was changed by someone just now; nothing of it was touched: try again")]
    Changed,
    /// The settings can't be written.
    #[error(transparent)]
    Write(#[from] EditError),
}

/// How it stands, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Paused {
    /// Whether a pause holds.
    pub paused: bool,
    /// Its end in the vault's zone; none where it is to be resumed.
    pub until: Option<String>,
    /// Whether reminders wait too.
    pub reminders: bool,
}

impl Paused {
    /// How it stands by the settings of a workspace.
    pub fn of(workspace: &Workspace) -> Self {
        let pause = workspace.pause().filter(|_| workspace.is_paused());
        let until = pause.and_then(|pause| pause.until).map(|at| rfc3339(at, workspace.zone.tz()));
        Self { paused: pause.is_some(), until, reminders: pause.is_some_and(|pause| pause.reminders) }
    }
}

/// Pauses until a local time, or until it is resumed; with `reminders`, these wait too. A pause that holds is replaced.
///
/// # Errors
/// The settings can't be read or written.
pub fn pause(
    workspace: &Workspace,
    until: Option<civil::DateTime>,
    reminders: bool,
    origin: &Origin,
) -> Result<(), PauseError> {
    let until = until.map_or(PausedUntil::Resumed, PausedUntil::At).to_string();
    let subject = match until.as_str() {
        "resumed" => "paused".to_owned(),
        until => format!("paused until {until}"),
    };
    change(workspace, origin, &subject, |text| {
        let text = if reminders { text.to_owned() } else { config::without(text, &[PAUSE_REMINDERS])? };
        let mut values = vec![(PAUSED_UNTIL, until.into())];
        values.extend(reminders.then(|| (PAUSE_REMINDERS, true.into())));
        config::with_values(&text, &values)
    })
    .map(|_| ())
}

/// Ends a pause. Returns whether the settings on disk named one.
///
/// # Errors
/// The settings can't be read or written.
pub fn resume(workspace: &Workspace, origin: &Origin) -> Result<bool, PauseError> {
    // By the file: the settings of a workspace may be older than a pause.
    change(workspace, origin, "resumed", |text| config::without(text, &[PAUSED_UNTIL, PAUSE_REMINDERS]))
}

/// Changes the settings on disk. Returns whether there was anything to change.
fn change(
    workspace: &Workspace,
    origin: &Origin,
    subject: &str,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<bool, PauseError> {
    let path = workspace.note(FILE_NAME);
    let why = origin.why(subject);
    let before = match workspace.vault.read(&path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| PauseError::Text(format!("`{FILE_NAME}` is not UTF-8 text")))?,
        Err(VaultError::NotFound(_)) => {
            let text = edit("").map_err(PauseError::Text)?;
            if text.is_empty() {
                return Ok(false);
            }
            workspace.editor.create(&path, text.as_bytes(), &why)?;
            return Ok(true);
        }
        Err(error) => return Err(error.into()),
    };
    let after = edit(&before).map_err(PauseError::Text)?;
    if after == before {
        return Ok(false);
    }
    replace(workspace, &path, before, after, &why).map(|()| true)
}

fn replace(
    workspace: &Workspace,
    path: &NotePath,
    before: String,
    after: String,
    why: &crate::vault::Why,
) -> Result<(), PauseError> {
    let with = Operation::ReplaceAll { expect: Some(before.into()), with: after.into() };
    match workspace.editor.edit(path, &[with], why)?.all_done() {
        true => Ok(()),
        false => Err(PauseError::Changed),
    }
}
