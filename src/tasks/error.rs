//! What can go wrong with a task, in words for people.

use super::meant::Meant;
use crate::format::task::repeat::RepeatError;
use crate::vault::{EditError, VaultError};

/// A task was not done or snoozed; its note is as it was.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// No form is on, so nothing is a task.
    #[error("no task lines are told in this vault, so none has the id `{0}`")]
    Off(String),
    /// No open task has that id.
    #[error("no open task has the id `{0}`: it was done or its words were changed")]
    NoSuchId(String),
    /// Several notes hold a task with these words, and none of them is where it was.
    #[error("the task stands in more than one note now: {}", .0.join(", "))]
    Disputed(Vec<String>),
    /// Its recurrence isn't one that can be worked out.
    #[error("the task comes again `{rule}`, and {error}")]
    Repeat {
        /// The rule as it stands there.
        rule: String,
        /// What is wrong.
        error: RepeatError,
    },
    /// What would be written can't be read as the same task.
    #[error("this task can't be written in the form that its plugin's settings say: {0}")]
    Unwritable(String),
    /// What the plugins' settings mean can't be found out.
    #[error("{0}")]
    Plugins(String),
    /// A note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl TaskError {
    pub(super) fn gone(meant: &Meant<'_>) -> Self {
        Self::NoSuchId(meant.id.to_owned())
    }

    /// What to do about it, where that isn't said yet.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Off(_) => Some("name the forms that you use in `[reminders] also`"),
            Self::NoSuchId(_) | Self::Disputed(_) => {
                Some("`vault-agent remind list --all` shows all tasks with their ids")
            }
            Self::Repeat { .. } => Some("tick it in Obsidian, where its plugin makes the next one"),
            Self::Unwritable(_) => Some("change the line in Obsidian"),
            _ => None,
        }
    }
}
