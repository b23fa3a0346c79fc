//! Defines the errors about reminders, in words for people.

use crate::format::ReminderId;
use crate::vault::{EditError, NotePath, VaultError};
use crate::when::WhenError;

/// The result of an operation on a reminder.
pub(crate) type Result<T, E = ReminderError> = std::result::Result<T, E>;

/// A reminder was not added, changed or removed; the note is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReminderError {
    /// No line has that id.
    #[error("no reminder in `{path}` has the id `{id}`{}", near_text(.near.as_ref()))]
    NoSuchId {
        /// The note.
        path: NotePath,
        /// The given id.
        id: String,
        /// The nearest id that is there.
        near: Option<ReminderId>,
    },
    /// Different lines have that id, so it is ambiguous.
    #[error("the id `{id}` stands in more than one line of `{path}`:{}", lines_text(.lines))]
    Disputed {
        /// The note.
        path: NotePath,
        /// The id.
        id: ReminderId,
        /// The lines: number and text.
        lines: Vec<(usize, String)>,
    },
    /// The message can't stand in a reminder line.
    #[error("that is no message for a reminder: {0}")]
    Message(String),
    /// The time can't be read, or has passed.
    #[error(transparent)]
    When(#[from] WhenError),
    /// The note ends inside a comment or a code block, where a line would never fire.
    #[error(
        "`{0}` ends inside a comment, a code block or its frontmatter, where a reminder would never fire; close that first"
    )]
    EndsInside(NotePath),
    /// Nothing was asked to be changed.
    #[error("nothing to change: give a time, a message or a recurrence")]
    NothingToChange,
    /// The line changed between reading and writing.
    #[error("the line of `{1}` in `{0}` was changed in the meantime; nothing was written")]
    Changed(NotePath, String),
    /// The note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The operating system gives no random numbers for an id.
    #[error("no random numbers for an id: {0}")]
    Random(String),
}

fn near_text(near: Option<&ReminderId>) -> String {
    near.map_or_else(String::new, |id| format!("; did you mean `{id}`?"))
}

fn lines_text(lines: &[(usize, String)]) -> String {
    lines.iter().map(|(number, text)| format!("\n  line {number}: {text}")).collect()
}

impl ReminderError {
    /// A remedy, where the message has none.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::When(error) => Some(error.hint()),
            Self::NoSuchId { .. } => Some("`vault-agent remind list` shows all ids"),
            Self::Disputed { .. } => Some("delete ` id=…` from one of the lines; it gets an id of its own"),
            _ => None,
        }
    }

    /// Whether the request is wrong, rather than the vault.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::When(_) | Self::Message(_) | Self::NothingToChange)
    }
}
