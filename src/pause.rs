//! Pauses and resumes automatic work, by two keys of the settings. A running daemon notices their change immediately.
//!
//! Paused are routines, captures, summaries, working memory, followed folders, and the rewording of reminders by a
//! brain (a language model). Notifications of reminders, follow-ups and tasks are paused only on request. After the
//! pause, its occurrences are handled like those that were missed while the program was not running. The keys travel
//! with the vault, so a pause holds on every machine.

use jiff::civil;
use serde::Serialize;

use crate::config::{self, PAUSE_REMINDERS, PAUSED_UNTIL, PausedUntil};
use crate::reminders::rfc3339;
use crate::vault::Origin;
use crate::workspace::{SettingsFileError, Workspace};

/// The state of the pause, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Paused {
    /// Whether a pause holds.
    pub paused: bool,
    /// Its end in the vault's zone; none if only `resume` ends it.
    pub until: Option<String>,
    /// Whether reminders wait too.
    pub reminders: bool,
}

impl Paused {
    /// The state by the settings of a workspace.
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
) -> Result<(), SettingsFileError> {
    let until = until.map_or(PausedUntil::Resumed, PausedUntil::At).to_string();
    let subject = match until.as_str() {
        "resumed" => "paused".to_owned(),
        until => format!("paused until {until}"),
    };
    workspace
        .change_settings(origin, &subject, |text| {
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
pub fn resume(workspace: &Workspace, origin: &Origin) -> Result<bool, SettingsFileError> {
    // By the file: the settings of a workspace may be older than a pause.
    workspace
        .change_settings(origin, "resumed", |text| config::without(text, &[PAUSED_UNTIL, PAUSE_REMINDERS]))
}
