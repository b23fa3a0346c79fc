//! Defines the error of the command line: a message, hints, and an exit code (2 for a wrong command or settings, else
//! 1).
//!
//! `?` converts the errors of all parts of the program into this error. [`advice`] decides whether the request itself
//! was wrong, and lists the remedies.

use std::error::Error;
use std::fmt;
use std::path::Path;

use crate::capture::InboxError;
use crate::config::ConfigError;
use crate::conflicts::ConflictError;
use crate::daemon::DaemonError;
use crate::error_rules::error_rules;
use crate::format::quote;
use crate::history::HistoryError;
use crate::instance::{LockError, ONE_STATE};
use crate::machines::engine::EngineError;
use crate::mcp::HttpError;
use crate::memory::MemoryError;
use crate::reminders::ReminderError;
use crate::search::IndexError;
use crate::sqlite::DatabaseError;
use crate::tasks::TaskError;
use crate::transfer::TransferError;
use crate::when::WhenError;
use crate::workspace::ReadError;
#[cfg(feature = "assistant")]
use crate::{
    agent::rebuild_request::RebuildError, routines::EnableError, summary::SummaryError, turn::UnknownBrain,
    web::WebError,
};

/// How a command ended that could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Exit code 0.
    Fine,
    /// Exit code 1: the command did its work and found a problem.
    Problem,
}

/// An error as a person reads it. It doesn't implement [`Error`], so that every error can be converted to it.
#[derive(Debug)]
pub struct CommandError {
    /// Whether the command or the settings are wrong (exit code 2), and not the vault or the machine (exit code 1).
    pub is_usage: bool,
    /// The problem and its place.
    pub message: String,
    /// Remedies.
    pub hints: Vec<String>,
}

impl Status {
    /// Fine, or a problem.
    pub fn of(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Problem }
    }
}

/// The result of a step of a command.
pub type Result<T, E = CommandError> = std::result::Result<T, E>;

/// The result of a command.
pub type CommandResult = Result<Status>;

impl CommandError {
    /// Something is wrong with the vault or the machine.
    pub fn problem(message: impl fmt::Display) -> Self {
        Self { is_usage: false, message: message.to_string(), hints: Vec::new() }
    }

    /// The command or the settings are wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { is_usage: true, ..Self::problem(message) }
    }

    /// The file or folder at `path` can't be written.
    pub fn unwritable(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| {
            Self::problem(format!("can't write `{}`: {error}", path.display()))
                .hint("free some space, or give yourself the right to write there")
        }
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
        1 + u8::from(self.is_usage)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Error + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let (is_usage, hints) = advice(&error);
        let own = if is_usage { Self::usage(error) } else { Self::problem(error) };
        own.hints(hints)
    }
}

/// Whether the request itself is wrong, and the remedies.
type Advice = (bool, Vec<String>);

fn hinted(is_usage: bool, hint: Option<&str>) -> Advice {
    (is_usage, hint.map(str::to_owned).into_iter().collect())
}

/// The advice about an error, besides its own words. An error that isn't listed is no fault of the request.
fn advice(error: &(dyn Error + 'static)) -> Advice {
    let usage = |hint: &str| hinted(true, Some(hint));
    let problem = |hint: &str| hinted(false, Some(hint));
    error_rules! { error;
        ConfigError { suggestion, .. } => hinted(true, suggestion.as_deref()),
        one => hinted(false, DatabaseError::hint(one)),
        one => hinted(false, TaskError::hint(one)),
        one => hinted(ReminderError::is_usage(one), one.hint()),
        one => hinted(TransferError::is_usage(one), one.hint()),
        one => usage(WhenError::hint(one)),
        one => of_memory(one),
        ReadError::Journal(error) => advice(error),
        InboxError::Memory(error) => advice(error),
        one => hinted(false, InboxError::hint(one)),
        IndexError::Model(_) => usage("see `[embed]` in `vault-agent.toml`"),
        IndexError::Scope { .. } => hinted(true, None),
        ConflictError::NoCopy(_) => usage("`vault-agent conflicts list` shows the copies"),
        ConflictError::History(error) => advice(error),
        HistoryError::When(when) => usage(when.hint()),
        HistoryError::UnknownPoint(_) | HistoryError::Outside(..) => hinted(true, None),
        HistoryError::Empty => problem("`vault-agent run` takes snapshots; so does `history`"),
        HistoryError::NotInSnapshot(..) => problem("`vault-agent history PATH` shows when it was there"),
        HistoryError::Disabled => problem("set `[history] enabled = true` in `vault-agent.toml`"),
        DaemonError::Lock(LockError::Held(_)) =>
            problem("stop the other one first; `vault-agent status` tells what it is doing"),
        DaemonError::Lock(error) => advice(error),
        LockError::Elsewhere(_) => problem(ONE_STATE),
        HttpError::Remote(_) => usage("listen on `127.0.0.1`, or add `--allow-remote` if that is meant"),
        HttpError::Token(error) => advice(error),
        HttpError::Listen { .. } => problem("is the port taken? 0 takes a free one"),
        EngineError::Unreachable(_) | EngineError::Unknown(_) =>
            problem("nothing was changed for certain: try again when it is reached"),
        EngineError::Refused(_) => problem("see docs/machines.md on what the store has to allow"),
    }
    #[cfg(feature = "assistant")]
    error_rules! { error;
        SummaryError::Pattern(..) => hinted(true, None),
        SummaryError::Empty => usage("give words that must all occur, or a pattern with `--regex`"),
        SummaryError::Unknown(_) => problem("`vault-agent lcm grep WORDS --scope summaries` shows ids"),
        RebuildError::Unknown(_) => problem("`vault-agent turns` lists the latest"),
        EnableError::Unknown { .. } => problem("`vault-agent routine list` shows all"),
        WebError::Listen { .. } => problem("another program has it: change `[web] listen`; port 0 takes a free one"),
        UnknownBrain { .. } => hinted(true, None),
    }
    Advice::default()
}

fn of_memory(error: &MemoryError) -> Advice {
    let hint = match error {
        MemoryError::NoSuchFollowUp { .. } => Some("`vault-agent commitment list --all` shows all ids"),
        error => error.hint(),
    };
    let (is_usage, mut hints) = hinted(error.is_usage(), hint);
    hints.extend(error.nearest().iter().map(|one| format!("line {}: {}", one.line, quote(&one.text))));
    (is_usage, hints)
}
