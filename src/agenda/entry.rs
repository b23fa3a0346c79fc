//! Defines an entry of the agenda: a reminder, follow-up, task or routine at one time, with its state.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::format::reminder::RemindersFile;
use crate::memory::MemoryError;
use crate::reminders::{ReminderError, rfc3339};
use crate::sqlite::DatabaseError;
use crate::vault::VaultError;
use crate::words::words;

/// A past delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeliveryDetail {
    /// When, in the vault's zone.
    pub at: Option<String>,
    /// How late that was, in seconds.
    pub late_seconds: i64,
    /// How many earlier occurrences were folded into it.
    pub missed: u32,
    /// By which ways: the one that counted first. Empty where the journal is older than this was noted.
    pub by: Vec<String>,
    /// The reason why it was not sent, or the outcome of a routine's run.
    pub outcome: Option<String>,
}

/// The most entries of one answer; it says where there are more.
pub const MOST_ENTRIES: usize = 5_000;

words! {
    /// The kind of an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum EntryKind, as_str {
        /// A reminder.
        Reminder = "reminder",
        /// A follow-up.
        FollowUp = "follow-up",
        /// A task of another plugin.
        Task = "task",
        /// A routine.
        Routine = "routine",
    }
}

words! {
    /// How an entry stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EntryState, as_str {
        /// It will be sent, or run.
        Coming = "coming",
        /// A further time of another plugin's task: it comes once the time before it is done.
        IfDone = "if-done",
        /// Its time has come, and it is not sent yet.
        Late = "late",
        /// It was sent.
        Told = "told",
        /// It was not sent, and won't be.
        NotTold = "not-told",
        /// A routine ran, or runs.
        Ran = "ran",
    }
}

/// One time of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgendaEntry {
    /// Its kind.
    pub kind: EntryKind,
    /// Its id, once it has one; a routine's name.
    pub id: Option<String>,
    /// Its text.
    pub msg: String,
    /// Its note.
    pub path: String,
    /// Its line there, from 1, where it stands there now.
    pub line: Option<usize>,
    /// When it is or was due, in the vault's zone.
    pub at: String,
    /// The local day of that.
    pub date: Date,
    /// The local time of that, `HH:MM`.
    pub time: String,
    /// Its recurrence; `None` for a one-off.
    pub recur: Option<String>,
    /// How many times this stands for: of a routine that comes more than four times a day, all of the day.
    pub times: usize,
    /// How it stands.
    pub state: EntryState,
    /// Its delivery.
    pub told: Option<DeliveryDetail>,
    /// When it is or was due, as an instant.
    #[serde(skip)]
    pub instant: Timestamp,
}

impl AgendaEntry {
    pub(super) fn new(
        kind: EntryKind,
        id: Option<String>,
        msg: String,
        at: Timestamp,
        tz: &TimeZone,
    ) -> Self {
        let local = tz.to_datetime(at);
        Self {
            kind,
            id,
            msg,
            path: String::new(),
            line: None,
            at: rfc3339(at, tz),
            date: local.date(),
            time: local.strftime("%H:%M").to_string(),
            recur: None,
            times: 1,
            state: EntryState::Coming,
            told: None,
            instant: at,
        }
    }
}

/// Some days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Agenda {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// Coming and past entries, in order of time.
    pub entries: Vec<AgendaEntry>,
    /// Whether there are more entries than the limit.
    pub more: bool,
    /// Notes that couldn't be read.
    pub problems: Vec<String>,
    /// The note of reminders, as it was read.
    #[serde(skip)]
    pub reminders: RemindersFile,
}

/// Why there is no agenda, or no list of what ran and will run.
#[derive(Debug, thiserror::Error)]
pub enum AgendaError {
    /// A note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The follow-ups can't be read.
    #[error(transparent)]
    Commitments(#[from] MemoryError),
    /// The reminders can't be read.
    #[error(transparent)]
    Reminders(#[from] ReminderError),
    /// The delivery journal can't be read.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
}

#[cfg(feature = "assistant")]
impl From<crate::routines::ListError> for AgendaError {
    fn from(error: crate::routines::ListError) -> Self {
        match error {
            crate::routines::ListError::Notes(error) => Self::Vault(error),
            crate::routines::ListError::Journal(error) => Self::Journal(error),
        }
    }
}
