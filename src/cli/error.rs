//! The error of the command line: a kind that decides the exit code, a message, and hints.

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
pub enum Kind {
    /// Something is wrong with the vault or the machine: exit code 1.
    Problem,
    /// The command or the settings are wrong: exit code 2.
    Usage,
}

/// An error as a person reads it.
#[derive(Debug)]
pub struct CommandError {
    /// The cause.
    pub kind: Kind,
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
        Self { kind: Kind::Problem, message: message.to_string(), hints: Vec::new() }
    }

    /// The command or the settings are wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { kind: Kind::Usage, message: message.to_string(), hints: Vec::new() }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Problem => 1,
            Kind::Usage => 2,
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
        let mut out = Self::usage(error);
        out.hints.extend(hint);
        out
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::problem(error)
    }
}

impl From<crate::vault::VaultError> for CommandError {
    fn from(error: crate::vault::VaultError) -> Self {
        Self::problem(error)
    }
}

impl From<crate::vault::EditError> for CommandError {
    fn from(error: crate::vault::EditError) -> Self {
        Self::problem(error)
    }
}

impl From<crate::workspace::SettingsFileError> for CommandError {
    fn from(error: crate::workspace::SettingsFileError) -> Self {
        match error {
            crate::workspace::SettingsFileError::Read(error) => error.into(),
            crate::workspace::SettingsFileError::Write(error) => error.into(),
            error => Self::problem(error),
        }
    }
}

impl From<crate::deliver::JournalError> for CommandError {
    fn from(error: crate::deliver::JournalError) -> Self {
        Self::problem(error).hint("nothing is sent without the delivery journal; look at its folder")
    }
}

impl From<crate::doctor::ReportError> for CommandError {
    fn from(error: crate::doctor::ReportError) -> Self {
        match error {
            crate::doctor::ReportError::Notes(error) => error.into(),
            crate::doctor::ReportError::Journal(error) => error.into(),
        }
    }
}

#[cfg(feature = "assistant")]
impl From<crate::routines::ListError> for CommandError {
    fn from(error: crate::routines::ListError) -> Self {
        match error {
            crate::routines::ListError::Notes(error) => error.into(),
            crate::routines::ListError::Journal(error) => error.into(),
        }
    }
}
