//! Defines the errors about tasks, in words for people.

use super::task_ref::TaskRef;
use crate::format::task::repeat::RepeatError;
use crate::vault::{EditError, VaultError};

/// The result of an operation on a task.
pub(crate) type Result<T, E = TaskError> = std::result::Result<T, E>;

/// A task was not changed; its note is as it was.
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
    #[error("the task comes again `{0}`, and {1}")]
    Repeat(String, RepeatError),
    /// It comes once.
    #[error("the task comes once, or not again after its next time: {0}")]
    Once(String),
    /// The new line can't be read as the same task.
    #[error("this task can't be written in the form that its plugin's settings say: {0}")]
    Unwritable(String),
    /// The plugins' settings can't be read.
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
    pub(super) fn gone(meant: &TaskRef<'_>) -> Self {
        Self::NoSuchId(meant.id.to_owned())
    }

    /// A remedy, where the message has none.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Off(_) => Some("name the forms that you use in `[reminders] also`"),
            Self::NoSuchId(_) | Self::Disputed(_) => {
                Some("`vault-agent remind list --all` shows all tasks with their ids")
            }
            Self::Repeat { .. } => Some("tick it in Obsidian, where its plugin makes the next one"),
            Self::Once(_) => Some("move it to another day, or remove it"),
            Self::Unwritable(_) => Some("change the line in Obsidian"),
            _ => None,
        }
    }
}
