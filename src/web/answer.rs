//! Defines the answer of one of the page's addresses: a view, a finished change, or a problem. Each of the three is
//! HTML or JSON; a view may also be a file of the vault, or a redirect.

use std::error::Error;

use maud::Markup;

use crate::agent::rebuild_request::RebuildError;
use crate::capture::InboxError;
use crate::error_rules::error_rules;
use crate::format::quote;
use crate::history::HistoryError;
use crate::memory::MemoryError;
use crate::reminders::ReminderError;
use crate::routines::EnableError;
use crate::sqlite::DatabaseError;
use crate::tasks::TaskError;
use crate::vault::{EditError, PathError, VaultError};

/// The view of a place.
#[derive(Debug)]
pub enum PageView {
    /// A page with its title, for a person.
    Page(String, Markup),
    /// The same as data, for a program.
    Json(serde_json::Value),
    /// The page has it at another address.
    Elsewhere(String),
    /// A file of the vault: its bytes, its type, and whether it is only to be saved.
    File {
        /// The bytes.
        bytes: Vec<u8>,
        /// The MIME type.
        kind: &'static str,
        /// Whether the browser may only save it.
        is_download: bool,
    },
}

/// A change that is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeChange {
    /// The page that shows it.
    pub to: String,
    /// The change, in a sentence.
    pub sentence: String,
}

impl MadeChange {
    /// A change that is made; the browser goes on to `to`, a path of the page.
    pub fn new(to: impl Into<String>, said: impl Into<String>) -> Self {
        Self { to: to.into(), sentence: said.into() }
    }
}

/// The error of a page that can't be shown, or of a change that isn't made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The status of HTTP.
    pub status: u16,
    /// The problem.
    pub message: String,
    /// The remedies.
    pub hints: Vec<String>,
    /// A page that goes on from here, with its words; none for the first page.
    pub way: Option<(String, &'static str)>,
}

/// The result of a place.
pub type Result<T, E = PageError> = std::result::Result<T, E>;

impl PageError {
    #[expect(clippy::needless_pass_by_value, reason = "errors are given as they come")]
    pub(super) fn new(status: u16, message: impl ToString) -> Self {
        Self { status, message: message.to_string(), hints: Vec::new(), way: None }
    }

    /// The error that the request can't be understood.
    pub fn bad(message: impl ToString) -> Self {
        Self::new(400, message)
    }

    /// The error that there is no such item.
    pub fn not_found(message: impl ToString) -> Self {
        Self::new(404, message)
    }

    /// The error that the item has changed meanwhile.
    pub fn changed(message: impl ToString) -> Self {
        Self::new(409, message)
    }

    /// The error of a fault of the vault or the machine.
    pub fn failed(message: impl ToString) -> Self {
        Self::new(500, message)
    }

    /// The error of a form with an action that its place doesn't have.
    pub fn no_such_action(name: &str) -> Self {
        Self::bad(format!("this page has no action {}", quote(name)))
    }

    /// The same with what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same with the page that goes on from here.
    #[must_use]
    pub fn link(mut self, to: impl Into<String>, words: &'static str) -> Self {
        self.way = Some((to.into(), words));
        self
    }

    /// The same with what to do, where that is known.
    #[must_use]
    pub fn hints(mut self, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }
}

impl<E: Error + 'static> From<E> for PageError {
    fn from(error: E) -> Self {
        of(&error)
    }
}

/// An error of any room, with the status and the remedies that fit it.
fn of(error: &(dyn Error + 'static)) -> PageError {
    error_rules! { error;
        one => of_vault(one),
        one => PageError::not_found(one as &PathError),
        one => PageError::new(status_of_edit(one), one),
        one => of_memory(one),
        one => of_reminder(one),
        one => of_task(one),
        InboxError::Memory(error) => of_memory(error),
        one @ InboxError::NoSuch { .. } => PageError::not_found(one),
        one => PageError::changed(one as &InboxError),
        one => of_history(one),
        one => PageError::failed(one).hints(DatabaseError::hint(one)),
        crate::workspace::ReadError::Journal(error) => of(error),
        EnableError::Read(error) => of_vault(error),
        EnableError::Write(error) => of(error),
        one @ EnableError::Unknown { .. } => PageError::not_found(one),
        one @ EnableError::NotUnderstood(..) => PageError::changed(one),
        RebuildError::Unknown(_) | RebuildError::NotAsked(_) | RebuildError::NotLogged(_) => PageError::not_found(error),
    }
    PageError::failed(error)
}

fn of_task(error: &TaskError) -> PageError {
    let status = match error {
        TaskError::NoSuchId(_) => 404,
        TaskError::Vault(error) => status_of_vault(error),
        TaskError::Edit(error) => status_of_edit(error),
        TaskError::Plugins(_) => 500,
        _ => 409,
    };
    PageError::new(status, error).hints(error.hint())
}

fn of_memory(error: &MemoryError) -> PageError {
    let near = error.nearest().iter().map(|one| format!("line {}: {}", one.line, quote(&one.text)));
    let hints = error.hint().map(str::to_owned).into_iter().chain(near);
    let status = match error {
        MemoryError::Vault(error) => status_of_vault(error),
        MemoryError::Edit(error) => status_of_edit(error),
        MemoryError::NoSuchDay(_) | MemoryError::NoSuchFollowUp { .. } | MemoryError::NoSuchPin(_) => 404,
        MemoryError::NotOurs(_) | MemoryError::NotANote(_) | MemoryError::WorkingOff => 400,
        error if error.is_usage() => 400,
        _ => 409,
    };
    PageError::new(status, error).hints(hints)
}

fn status_of_vault(error: &VaultError) -> u16 {
    match error {
        VaultError::NotFound(_) | VaultError::NotAFile { .. } => 404,
        VaultError::Io(_, why) if why.kind() == std::io::ErrorKind::InvalidFilename => 404,
        VaultError::Escapes(_) | VaultError::Loop(_) => 403,
        VaultError::TooLarge { .. } | VaultError::Placeholder(_) => 409,
        VaultError::Gone(_) | VaultError::NotAFolder(_) | VaultError::Io { .. } | VaultError::Root { .. } => {
            500
        }
    }
}

fn status_of_edit(error: &EditError) -> u16 {
    match error {
        EditError::Vault(error) => status_of_vault(error),
        EditError::Refused(_) | EditError::Busy { .. } | EditError::Exists(_) => 409,
        EditError::NoLease(_)
        | EditError::Write { .. }
        | EditError::Unfinished(..)
        | EditError::Journal { .. } => 500,
    }
}

fn of_reminder(error: &ReminderError) -> PageError {
    let status = match error {
        ReminderError::Changed { .. } | ReminderError::Disputed { .. } | ReminderError::EndsInside(_) => 409,
        ReminderError::NoSuchId { .. } => 404,
        ReminderError::Message(_) | ReminderError::When(_) | ReminderError::NothingToChange => 400,
        ReminderError::Vault(error) => status_of_vault(error),
        ReminderError::Edit(error) => status_of_edit(error),
        ReminderError::Random(_) => 500,
    };
    PageError::new(status, error).hints(error.hint())
}

fn of_vault(error: &VaultError) -> PageError {
    match (error, status_of_vault(error)) {
        (VaultError::NotAFile(path, what), _) => {
            PageError::not_found(format!("`{path}` is {what}, and no note"))
        }
        (error, 500) => PageError::failed(error)
            .hint("check that the vault's folder is available (disk mounted, sync finished)"),
        (error, status) => PageError::new(status, error),
    }
}

fn of_history(error: &HistoryError) -> PageError {
    match error {
        HistoryError::When(when) => PageError::bad(error).hint(when.hint()),
        HistoryError::UnknownPoint(_) | HistoryError::Outside(..) | HistoryError::BeyondHistory(_) => {
            PageError::bad(error)
        }
        HistoryError::Empty | HistoryError::NotInSnapshot(..) | HistoryError::NoPart(_) => {
            PageError::not_found(error)
        }
        HistoryError::Changed(_) | HistoryError::Edit(..) | HistoryError::NotUndoable(_) => {
            PageError::changed(error)
        }
        _ => PageError::failed(error),
    }
}
