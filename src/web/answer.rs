//! Defines a place's answer: a view, a finished change, or a problem, each as HTML and as JSON.

use maud::Markup;

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
    /// Done; `to` is a path of the page.
    pub fn new(to: impl Into<String>, said: impl Into<String>) -> Self {
        Self { to: to.into(), sentence: said.into() }
    }
}

/// Why a page can't be shown, or a change isn't made.
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

impl PageError {
    #[expect(clippy::needless_pass_by_value, reason = "errors are given as they come")]
    fn new(status: u16, message: impl ToString) -> Self {
        Self { status, message: message.to_string(), hints: Vec::new(), way: None }
    }

    /// The request can't be understood.
    pub fn bad(message: impl ToString) -> Self {
        Self::new(400, message)
    }

    /// There is no such thing.
    pub fn not_found(message: impl ToString) -> Self {
        Self::new(404, message)
    }

    /// It changed meanwhile.
    pub fn changed(message: impl ToString) -> Self {
        Self::new(409, message)
    }

    /// Something is wrong with the vault or the machine.
    pub fn failed(message: impl ToString) -> Self {
        Self::new(500, message)
    }

    /// The request isn't let through.
    pub(super) fn refused(status: u16, message: impl ToString) -> Self {
        Self::new(status, message)
    }

    /// A form asks for what its place doesn't do.
    pub fn no_such_action(name: &str) -> Self {
        Self::bad(format!("there is nothing called {} to do here", crate::format::quote(name)))
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

impl From<crate::memory::MemoryError> for PageError {
    fn from(error: crate::memory::MemoryError) -> Self {
        use crate::memory::MemoryError as Error;
        let near = error
            .nearest()
            .iter()
            .map(|one| format!("line {}: {}", one.line, crate::format::quote(&one.text)));
        let hints: Vec<String> = error.hint().map(str::to_owned).into_iter().chain(near).collect();
        let status = match &error {
            Error::Vault(error) => status_of_vault(error),
            Error::Edit(error) => status_of_edit(error),
            Error::NoSuchDay(_) | Error::NoSuchFollowUp { .. } | Error::NoSuchPin(_) => 404,
            Error::NotOurs(_) | Error::NotANote(_) | Error::WorkingOff => 400,
            error if error.is_usage() => 400,
            _ => 409,
        };
        Self::new(status, error).hints(hints)
    }
}

fn status_of_vault(error: &crate::vault::VaultError) -> u16 {
    use crate::vault::VaultError as Error;
    match error {
        Error::NotFound(_) | Error::NotAFile { .. } => 404,
        Error::Escapes(_) | Error::Loop(_) => 403,
        Error::TooLarge { .. } | Error::Placeholder(_) => 409,
        Error::Gone(_) | Error::NotAFolder(_) | Error::Io { .. } | Error::Root { .. } => 500,
    }
}

fn status_of_edit(error: &crate::vault::EditError) -> u16 {
    use crate::vault::EditError as Error;
    match error {
        Error::Vault(error) => status_of_vault(error),
        Error::Refused(_) | Error::Busy { .. } | Error::Exists(_) => 409,
        Error::NoLease(_) | Error::Write { .. } | Error::Journal { .. } => 500,
    }
}

impl From<crate::vault::EditError> for PageError {
    fn from(error: crate::vault::EditError) -> Self {
        Self::new(status_of_edit(&error), error)
    }
}

impl From<crate::reminders::ReminderError> for PageError {
    fn from(error: crate::reminders::ReminderError) -> Self {
        use crate::reminders::ReminderError as Error;
        let status = match &error {
            Error::Changed { .. } | Error::Disputed { .. } | Error::EndsInside(_) => 409,
            Error::NoSuchId { .. } => 404,
            Error::Message(_) | Error::When(_) | Error::NothingToChange => 400,
            Error::Vault(error) => status_of_vault(error),
            Error::Edit(error) => status_of_edit(error),
            Error::Random(_) => 500,
        };
        let hint = error.hint();
        Self::new(status, error).hints(hint)
    }
}

impl From<crate::tasks::TaskError> for PageError {
    fn from(error: crate::tasks::TaskError) -> Self {
        use crate::tasks::TaskError as Error;
        let status = match &error {
            Error::NoSuchId(_) => 404,
            Error::Vault(error) => status_of_vault(error),
            Error::Edit(error) => status_of_edit(error),
            Error::Plugins(_) => 500,
            _ => 409,
        };
        let hint = error.hint();
        Self::new(status, error).hints(hint)
    }
}

impl From<crate::capture::InboxError> for PageError {
    fn from(error: crate::capture::InboxError) -> Self {
        match error {
            crate::capture::InboxError::Memory(error) => error.into(),
            crate::capture::InboxError::NoSuch { .. } => Self::not_found(error),
            other => Self::changed(other),
        }
    }
}

impl From<crate::vault::VaultError> for PageError {
    fn from(error: crate::vault::VaultError) -> Self {
        use crate::vault::VaultError as Error;
        let status = status_of_vault(&error);
        match error {
            Error::NotAFile(path, what) => Self::not_found(format!("`{path}` is {what}, and no note")),
            error if status == 500 => Self::failed(error).hint(
                "is the vault's folder there? a disk that is away, or a sync that is at it, brings this",
            ),
            error => Self::new(status, error),
        }
    }
}
