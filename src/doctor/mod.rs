//! Makes the report of `doctor`, checks with their remedies, and the report of `status`, the present state of all
//! parts.
//!
//! A workspace comes in; findings and a report go out, for the command line and the page alike. Most checks report
//! their subject even if all is well, so that a person sees that it was checked. No check changes a note or a setting,
//! or ends the other checks; a check of the directories writes and removes a probe file.
//!
//! - `directories`, `environment`: checks of this machine, and of the other machines that share the vault;
//! - `time_zone`, `history_and_index`, `notes`: checks of the subjects in their names;
//! - `assistant`: checks of brains, skills, the confinement of commands, other MCP servers and routines;
//! - `discord`: checks of the bot; `embeddings`: checks of the embedding model and the reranker. Both use the
//!   network; the caller (command line or page) decides whether they run;
//! - `status`: the report of `status`; [`losses`]: mass deletions in the folders of coding agents.

#[cfg(feature = "assistant")]
mod assistant;
mod directories;
#[cfg(feature = "assistant")]
mod discord;
mod embeddings;
mod environment;
mod history_and_index;
pub mod losses;
mod notes;
mod status;
mod time_zone;

use serde::Serialize;

use crate::config::{ConfigError, FILE_NAME, StrayKey, strays};
use crate::workspace::Workspace;

pub use crate::search::Severity;

#[cfg(feature = "assistant")]
pub use self::discord::checks as discord;
pub use self::embeddings::checks as embeddings;
pub use self::notes::moved;
#[cfg(all(feature = "assistant", unix))]
pub use self::status::McpServerStatus;
pub use self::status::{StatusReport, ago, report};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject.
    pub check: &'static str,
    /// Its severity.
    pub status: Severity,
    /// The finding.
    pub detail: String,
    /// The remedy, where something is wrong.
    pub fix: Option<String>,
    /// The part of the remedy that a front door can carry out.
    #[serde(skip)]
    pub mend: Option<Repair>,
}

/// A remedy that needs only a person's confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// The index is made anew.
    Reindex,
    /// The pause ends.
    Resume,
    /// A brain is asked again.
    ForgetFailure(String),
    /// A restore or an undo that was interrupted is finished, or taken back.
    Interrupted,
    /// Notes that are gone come back, or are recorded as gone.
    Gone,
    /// All of history is read, and its flaws are shown.
    Verify,
}

impl Check {
    /// All is well.
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, status: Severity::Ok, detail: detail.into(), fix: None, mend: None }
    }

    /// It works, but a person should look.
    pub fn warn(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Severity::Warn, detail: detail.into(), fix: Some(fix.into()), mend: None }
    }

    /// It doesn't work.
    pub fn fail(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Severity::Fail, detail: detail.into(), fix: Some(fix.into()), mend: None }
    }

    /// A setting or a secret can't be used; `otherwise` is the remedy where the error has none.
    fn unusable(check: &'static str, error: &ConfigError, otherwise: &str) -> Self {
        Self::fail(check, error.to_string(), error.suggestion.as_deref().unwrap_or(otherwise))
    }

    /// Adds the repair that a front door can carry out.
    #[must_use]
    pub fn fixed_by(self, mend: Repair) -> Self {
        Self { mend: Some(mend), ..self }
    }
}

/// A check that a front door adds: of its own, or one that asks over the network.
pub type ExtraCheck = fn(&Workspace) -> Vec<Check>;

/// The findings about a subject; the error is the one finding that prevents all others.
type Checked = Result<Vec<Check>, Check>;

fn all(checked: Checked) -> Vec<Check> {
    checked.unwrap_or_else(|failed| vec![failed])
}

/// How much is read for the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckExtent {
    /// Neither all notes nor the texts of the history: it takes as long in a large vault as in a small one.
    Quick,
    /// Everything.
    Whole,
}

/// All checks, in the order in which they are shown.
pub fn examine(workspace: &Workspace, look: CheckExtent, further: &[ExtraCheck]) -> Vec<Check> {
    let mut checks = settings(workspace);
    checks.extend(environment::checks(workspace, look));
    checks.extend(environment::machines(workspace));
    checks.extend(environment::notifiers(workspace));
    checks.extend(notes::checks(workspace, look));
    checks.extend(environment::sessions(workspace));
    #[cfg(feature = "assistant")]
    checks.extend(assistant::checks(workspace));
    checks.extend(environment::sandbox());
    checks.extend(further.iter().flat_map(|check| check(workspace)));
    checks.extend(all(history_and_index::history(workspace, look)));
    checks.extend(all(history_and_index::index(workspace, look)));
    checks
}

/// Checks the text of the settings for keys below a commented-out header. The settings themselves are valid.
fn settings(workspace: &Workspace) -> Vec<Check> {
    if let Err(error) = workspace.settings_on_disk() {
        return vec![settings_failure(&error)];
    }
    let read = workspace.vault.read(&workspace.note(FILE_NAME)).unwrap_or_default();
    let warn = |stray: StrayKey| {
        let table =
            stray.table.map_or_else(|| "the top of the file".to_owned(), |table| format!("`[{table}]`"));
        let (line, key, header) = (stray.line, stray.key, stray.header);
        let detail = format!(
            "{FILE_NAME}:{line}: `{key}` counts for {table}: the `{header}` above it is commented out"
        );
        let fix = format!("take the `#` from `{header}`, or move the line to where it belongs");
        Check::warn("settings", detail, fix)
    };
    let strays: Vec<Check> = strays(&String::from_utf8_lossy(&read)).into_iter().map(warn).collect();
    if strays.is_empty() { vec![Check::ok("settings", format!("{FILE_NAME} is understood"))] } else { strays }
}

/// The finding for settings that can't be read.
pub fn settings_failure(error: &ConfigError) -> Check {
    Check::unusable("settings", error, "fix the line that is named")
}
