//! Defines the error of a tool, for a model: the fault, the argument, and a remedy.
//!
//! A wrong argument or a refused edit is the tool's own answer (`isError`, its type in `_meta`), because a model can
//! read and repair it. Protocol errors are for faults that no model can repair: an unknown tool, a malformed request.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::json;

use super::untrusted;
use crate::format::{capitalised, invisible};
use crate::memory::{MemoryError, WordsError};
use crate::reminders::ReminderError;
use crate::search::IndexError;
use crate::sqlite::DatabaseError;
use crate::tasks::TaskError;
use crate::vault::{EditError, PathError, VaultError};

/// The key of the error's type in `_meta`.
pub const META_KEY: &str = "vault-agent/error";

/// What a tool gives.
pub type Result<T, E = ToolFailure> = std::result::Result<T, E>;

/// The error of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// A stable name for programs, in `snake_case`.
    pub kind: &'static str,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
    /// The argument that is wrong, where it is one.
    pub argument: Option<String>,
}

impl ToolFailure {
    /// A failure of this kind.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, argument: None }
    }

    /// The same with what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, blamed on an argument.
    #[must_use]
    pub fn of(mut self, argument: impl Into<String>) -> Self {
        self.argument = Some(argument.into());
        self
    }

    /// The fault and, on a line of its own, the remedy.
    pub fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\n{hint}"));
        format!("{}{}", self.message, hint.unwrap_or_default())
    }

    /// As the tool's answer.
    pub fn into_result(self) -> CallToolResult {
        let text = self.text();
        let mut meta = JsonObject::new();
        let error = json!({
            "type": self.kind, "message": self.message, "hint": self.hint, "argument": self.argument,
        });
        meta.insert(META_KEY.to_owned(), error);
        if text.contains(untrusted::NOTICE) {
            meta.extend(untrusted::meta().0);
        }
        CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(MetaObject(meta)))
    }
}

impl From<MemoryError> for ToolFailure {
    fn from(error: MemoryError) -> Self {
        let hint = match &error {
            MemoryError::NoSuchFollowUp { .. } => {
                Some("call `memory_list` with scope `commitment` for the ids")
            }
            MemoryError::NoSuchPin(_) | MemoryError::AmbiguousPin { .. } => {
                Some("call `memory_get` with the path of the pins for their exact words")
            }
            MemoryError::Other { near, .. } if near.is_empty() => {
                Some("nothing there is like it: search for it")
            }
            MemoryError::Other { .. } => Some("these are near; give the words of one exactly"),
            MemoryError::Vault(VaultError::NotFound(_)) => {
                Some("`memory_search`, `memory_list` and resources/list give paths that exist")
            }
            error => error.hint(),
        };
        let argument = match &error {
            MemoryError::Words(
                WordsError::Section { .. } | WordsError::Character { what: "section", .. },
            ) => Some("key"),
            MemoryError::Words(_) => Some("content"),
            MemoryError::Path(_) | MemoryError::NotANote(_) => Some("path"),
            MemoryError::BadLines { .. } => Some("lines"),
            MemoryError::Other { .. } | MemoryError::Several { .. } => Some("text"),
            MemoryError::Newer { .. } => Some("expected"),
            MemoryError::BadPlace(..) => Some("commitment_scope"),
            _ => None,
        };
        let mut hint = hint.map(|hint| format!("{}.", capitalised(hint)));
        if let Some(shown) = shown(&error) {
            let marked = untrusted::marked(&invisible::strip(&shown));
            hint = Some(format!("{}\n{marked}", hint.unwrap_or_default()));
        }
        Self { kind: error.code(), message: error.to_string(), hint, argument: argument.map(str::to_owned) }
    }
}

/// The part of a note that an error shows: memories that are near, or the note as it is now.
fn shown(error: &MemoryError) -> Option<String> {
    if let MemoryError::Newer { text, .. } = error {
        return Some(text.clone());
    }
    let lines: Vec<String> =
        error.nearest().iter().map(|one| format!("line {}: {}", one.line, one.text)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Errors that fail as a [`MemoryError`] does.
macro_rules! as_memory_errors {
    ($($error:ident),*) => {$(
        impl From<$error> for ToolFailure {
            fn from(error: $error) -> Self {
                MemoryError::from(error).into()
            }
        }
    )*};
}

as_memory_errors!(PathError, VaultError, EditError);

impl From<ReminderError> for ToolFailure {
    fn from(error: ReminderError) -> Self {
        let (kind, hint) = match error {
            ReminderError::Vault(error) => return error.into(),
            ReminderError::Edit(error) => return error.into(),
            ReminderError::NoSuchId { .. } => ("no_such_id", "Call `reminder_list` for the ids."),
            ReminderError::Disputed { .. } => {
                ("disputed_id", "Nothing was written. The user must take the id out of one of the lines.")
            }
            ReminderError::Message(_) => ("bad_message", "A reminder's message is one line of text."),
            ReminderError::When(ref error) => ("bad_time", error.hint()),
            ReminderError::EndsInside(_) => ("refused", "Nothing was written. Tell the user."),
            ReminderError::NothingToChange => ("nothing_to_change", "Give `when`, `message` or `recur`."),
            ReminderError::Changed { .. } => ("changed_meanwhile", "Call `reminder_list` and look again."),
            ReminderError::Random(_) => ("internal", "Nothing was written."),
        };
        let hint = match hint {
            crate::when::WHEN_HINT => format!("Times: {hint}."),
            _ => hint.to_owned(),
        };
        let said = error.to_string();
        // It shows the lines.
        let said = if kind == "disputed_id" { untrusted::marked(&invisible::strip(&said)) } else { said };
        Self::new(kind, said).hint(hint)
    }
}

impl From<TaskError> for ToolFailure {
    fn from(error: TaskError) -> Self {
        let code = match error {
            TaskError::Vault(error) => return error.into(),
            TaskError::Edit(error) => return error.into(),
            TaskError::Off(_) => "tasks_off",
            TaskError::NoSuchId(_) => "no_such_id",
            TaskError::Disputed(_) => "disputed_id",
            TaskError::Repeat { .. }
            | TaskError::Once(_)
            | TaskError::Unwritable(_)
            | TaskError::Plugins(_) => "refused",
        };
        let hint = error.hint().unwrap_or("Nothing was written. Tell the user.");
        let said = error.to_string();
        // It shows the task's words.
        let said = if code == "refused" { untrusted::marked(&invisible::strip(&said)) } else { said };
        Self::new(code, said).hint(hint)
    }
}

impl From<IndexError> for ToolFailure {
    fn from(error: IndexError) -> Self {
        if let IndexError::Model(error) = error {
            return Self::new("model_unavailable", error.to_string())
                .hint("The user must look at `[embed]` in `vault-agent.toml`.");
        }
        Self::new("index_unavailable", error.to_string())
            .hint("`memory_get` and `memory_list` work without the index.")
    }
}

impl From<DatabaseError> for ToolFailure {
    fn from(error: DatabaseError) -> Self {
        Self::new("journal_unavailable", error.to_string())
    }
}
