//! Defines the error of the command line: a kind that decides the exit code, a message, and hints.

use std::fmt;

use crate::config::ConfigError;

/// How a command ended that could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Exit code 0.
    Fine,
    /// Exit code 1: the command did its work and found a problem.
    Problem,
}

/// The cause of an error, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something is wrong with the vault or the machine: exit code 1.
    Problem,
    /// The command or the settings are wrong: exit code 2.
    Usage,
}

/// An error as a person reads it.
#[derive(Debug)]
pub struct CommandError {
    /// The cause.
    pub kind: ErrorKind,
    /// The problem and its place.
    pub message: String,
    /// Remedies.
    pub hints: Vec<String>,
}

/// The result of a command.
pub type CommandResult = Result<Status, CommandError>;

impl CommandError {
    /// Something is wrong with the vault or the machine.
    pub fn problem(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Problem, message: message.to_string(), hints: Vec::new() }
    }

    /// The command or the settings are wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Usage, message: message.to_string(), hints: Vec::new() }
    }

    /// An error of the usage, or a problem.
    pub fn of(message: impl fmt::Display, is_usage: bool) -> Self {
        if is_usage { Self::usage(message) } else { Self::problem(message) }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds several remedies.
    #[must_use]
    pub fn hints(mut self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Problem => 1,
            ErrorKind::Usage => 2,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        let hint = error.suggestion.clone();
        Self::usage(error).hints(hint)
    }
}

impl From<crate::sqlite::DatabaseError> for CommandError {
    fn from(error: crate::sqlite::DatabaseError) -> Self {
        let hint = error.hint();
        Self::problem(error).hints(hint)
    }
}

/// Errors that know their hint, and whether the request itself is wrong.
macro_rules! hinted {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                let (hint, is_usage) = (error.hint(), error.is_usage());
                Self::of(error, is_usage).hints(hint)
            }
        }
    )*};
}

hinted!(crate::reminders::ReminderError, crate::transfer::TransferError);

/// Errors that are a problem of the vault or the machine, without a hint.
macro_rules! problems {
    ($($(#[$cfg:meta])* $error:ty),* $(,)?) => {$(
        $(#[$cfg])*
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::problem(error)
            }
        }
    )*};
}

problems!(
    std::io::Error,
    crate::vault::VaultError,
    crate::vault::EditError,
    crate::workspace::SettingsFileError,
    #[cfg(feature = "assistant")]
    crate::routines::RunError,
);

impl From<crate::agenda::AgendaError> for CommandError {
    fn from(error: crate::agenda::AgendaError) -> Self {
        use crate::agenda::AgendaError;
        match error {
            AgendaError::Vault(error) => error.into(),
            AgendaError::Commitments(error) => error.into(),
            AgendaError::Reminders(error) => error.into(),
            AgendaError::Journal(error) => error.into(),
        }
    }
}

#[cfg(feature = "assistant")]
impl From<crate::routines::ListError> for CommandError {
    fn from(error: crate::routines::ListError) -> Self {
        crate::agenda::AgendaError::from(error).into()
    }
}
