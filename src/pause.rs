//! Pausing all that is done without being asked for, and going on: two keys of the settings, which a daemon reads at once.
//!
//! Routines, captures, summaries, working memory, followed folders and words by a brain wait; reminders and follow-ups wait
//! only where that is asked for. What fell into a pause is handled as after an absence. The keys travel with the vault, so
//! a pause holds on every machine.

use jiff::civil;

use crate::config::{self, FILE_NAME, PAUSE_REMINDERS, PAUSED_UNTIL, PausedUntil};
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
}

/// Ends a pause. Returns whether the settings named one.
///
/// # Errors
/// The settings can't be read or written.
pub fn resume(workspace: &Workspace, origin: &Origin) -> Result<bool, PauseError> {
    if workspace.settings.paused_until.is_none() {
        return Ok(false);
    }
    change(workspace, origin, "resumed", |text| config::without(text, &[PAUSED_UNTIL, PAUSE_REMINDERS]))?;
    Ok(true)
}

fn change(
    workspace: &Workspace,
    origin: &Origin,
    subject: &str,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<(), PauseError> {
    let path = workspace.note(FILE_NAME);
    let why = origin.why(subject);
    let before = match workspace.vault.read(&path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| PauseError::Text(format!("`{FILE_NAME}` is not UTF-8 text")))?,
        Err(VaultError::NotFound(_)) => {
            let text = edit("").map_err(PauseError::Text)?;
            workspace.editor.create(&path, text.as_bytes(), &why)?;
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let after = edit(&before).map_err(PauseError::Text)?;
    if after == before {
        return Ok(());
    }
    replace(workspace, &path, before, after, &why)
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
