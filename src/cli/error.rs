//! Defines the error of the command line: whose fault it is, which decides the exit code, a message, and hints.
//!
//! Any error of a room becomes one by `?`; [`advice`] says of each whether the request itself is wrong, and what to do.

use std::error::Error;
use std::fmt;

use crate::agenda::AgendaError;
use crate::capture::InboxError;
use crate::config::ConfigError;
use crate::conflicts::ConflictError;
use crate::daemon::DaemonError;
use crate::format::quote;
use crate::history::HistoryError;
use crate::instance::{LockError, ONE_STATE};
use crate::machines::engine::EngineError;
use crate::mcp::HttpError;
use crate::memory::MemoryError;
use crate::reminders::ReminderError;
use crate::search::{IndexError, RecallError};
use crate::sqlite::DatabaseError;
use crate::tasks::TaskError;
use crate::transfer::TransferError;
use crate::when::WhenError;

/// How a command ended that could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Exit code 0.
    Fine,
    /// Exit code 1: the command did its work and found a problem.
    Problem,
}

/// An error as a person reads it; no [`Error`] itself, so that any one becomes it.
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

/// The result of a command.
pub type CommandResult = Result<Status, CommandError>;

impl CommandError {
    /// Something is wrong with the vault or the machine.
    pub fn problem(message: impl fmt::Display) -> Self {
        Self { is_usage: false, message: message.to_string(), hints: Vec::new() }
    }

    /// The command or the settings are wrong.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { is_usage: true, ..Self::problem(message) }
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

/// What a person is told besides an error's own words. One that isn't listed is no fault of the request.
fn advice(error: &(dyn Error + 'static)) -> Advice {
    if let Some(error) = error.downcast_ref::<ConfigError>() {
        hinted(true, error.suggestion.as_deref())
    } else if let Some(error) = error.downcast_ref::<DatabaseError>() {
        hinted(false, error.hint())
    } else if let Some(error) = error.downcast_ref::<TaskError>() {
        hinted(false, error.hint())
    } else if let Some(error) = error.downcast_ref::<ReminderError>() {
        hinted(error.is_usage(), error.hint())
    } else if let Some(error) = error.downcast_ref::<TransferError>() {
        hinted(error.is_usage(), error.hint())
    } else if let Some(error) = error.downcast_ref::<WhenError>() {
        hinted(true, Some(error.hint()))
    } else if let Some(error) = error.downcast_ref::<MemoryError>() {
        let hint = match error {
            MemoryError::NoSuchFollowUp { .. } => Some("`vault-agent commitment list --all` shows all ids"),
            error => error.hint(),
        };
        let (is_usage, mut hints) = hinted(error.is_usage(), hint);
        hints.extend(error.nearest().iter().map(|one| format!("line {}: {}", one.line, quote(&one.text))));
        (is_usage, hints)
    } else if let Some(error) = error.downcast_ref::<AgendaError>() {
        match error {
            AgendaError::Vault(error) => advice(error),
            AgendaError::Commitments(error) => advice(error),
            AgendaError::Reminders(error) => advice(error),
            AgendaError::Journal(error) => advice(error),
        }
    } else if let Some(error) = error.downcast_ref::<InboxError>() {
        match error {
            InboxError::Memory(error) => advice(error),
            other => hinted(false, other.hint()),
        }
    } else {
        of_search_and_history(error)
    }
}

fn of_search_and_history(error: &(dyn Error + 'static)) -> Advice {
    if let Some(error) = error.downcast_ref::<RecallError>() {
        match error {
            RecallError::Embed(_) => hinted(true, Some("see `[embed]` in `vault-agent.toml`")),
            RecallError::Index(error) => advice(error),
        }
    } else if let Some(IndexError::Scope { .. }) = error.downcast_ref() {
        hinted(true, None)
    } else if let Some(ConflictError::NoCopy(_)) = error.downcast_ref() {
        hinted(true, Some("`vault-agent conflicts list` shows the copies"))
    } else if let Some(ConflictError::History(error)) = error.downcast_ref() {
        advice(error)
    } else if let Some(error) = error.downcast_ref::<HistoryError>() {
        match error {
            HistoryError::When(when) => hinted(true, Some(when.hint())),
            HistoryError::UnknownPoint(_) | HistoryError::Outside(..) | HistoryError::Pattern(_) => {
                hinted(true, None)
            }
            HistoryError::Empty => {
                hinted(false, Some("`vault-agent run` takes snapshots; so does `history`"))
            }
            HistoryError::NotInSnapshot(..) => {
                hinted(false, Some("`vault-agent history PATH` shows when it was there"))
            }
            HistoryError::Disabled => {
                hinted(false, Some("set `[history] enabled = true` in `vault-agent.toml`"))
            }
            _ => hinted(false, None),
        }
    } else {
        of_daemon(error)
    }
}

fn of_daemon(error: &(dyn Error + 'static)) -> Advice {
    if let Some(DaemonError::Lock(LockError::Held(_))) = error.downcast_ref() {
        hinted(false, Some("stop the other one first; `vault-agent status` tells what it is doing"))
    } else if let Some(DaemonError::Lock(LockError::Elsewhere(_))) = error.downcast_ref() {
        hinted(false, Some(ONE_STATE))
    } else if let Some(error) = error.downcast_ref::<HttpError>() {
        match error {
            HttpError::Remote(_) => {
                hinted(true, Some("listen on `127.0.0.1`, or add `--allow-remote` if that is meant"))
            }
            HttpError::Token(error) => advice(error),
            HttpError::Listen { .. } => hinted(false, Some("is the port taken? 0 takes a free one")),
        }
    } else if let Some(error) = error.downcast_ref::<EngineError>() {
        let hint = match error {
            EngineError::Unreachable(_) | EngineError::Unknown(_) => {
                "nothing was changed for certain: try again when it is reached"
            }
            EngineError::Refused(_) => "see docs/machines.md on what the store has to allow",
            EngineError::Broken(_) => {
                "if that is meant, stop the daemon and take it so: `vault-agent machines join --as-it-is`"
            }
        };
        hinted(false, Some(hint))
    } else {
        of_assistant(error)
    }
}

#[cfg(feature = "assistant")]
fn of_assistant(error: &(dyn Error + 'static)) -> Advice {
    use crate::agent::rebuild_request::RebuildError;
    use crate::routines::{EnableError, ListError};
    use crate::summary::SummaryError;
    use crate::web::WebError;
    if let Some(SummaryError::Pattern(..)) = error.downcast_ref() {
        hinted(true, None)
    } else if let Some(SummaryError::Empty) = error.downcast_ref() {
        hinted(true, Some("give words that must all occur, or a pattern with `--regex`"))
    } else if let Some(SummaryError::Unknown(_)) = error.downcast_ref() {
        hinted(false, Some("`vault-agent lcm grep WORDS --scope summaries` shows ids"))
    } else if let Some(RebuildError::Unknown(_)) = error.downcast_ref() {
        hinted(false, Some("`vault-agent turns` lists the latest"))
    } else if let Some(EnableError::Unknown { .. }) = error.downcast_ref() {
        hinted(false, Some("`vault-agent routine list` shows all"))
    } else if let Some(WebError::Listen { .. }) = error.downcast_ref() {
        hinted(false, Some("another program has it: change `[web] listen`; port 0 takes a free one"))
    } else if let Some(ListError::Journal(error)) = error.downcast_ref() {
        advice(error)
    } else {
        hinted(error.is::<crate::turn::UnknownBrain>(), None)
    }
}

#[cfg(not(feature = "assistant"))]
fn of_assistant(_: &(dyn Error + 'static)) -> Advice {
    hinted(false, None)
}
