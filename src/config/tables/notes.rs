//! Reads `[paths]`, `[edit]`, `[history]`, `[reminders]` and `[schedule]`: the agent's notes, how they are edited and
//! kept in history, and how reminders in them fire.

use std::collections::BTreeMap;

use jiff::civil::Time;
use serde::Deserialize;

use super::{Validation, ensure};
use crate::format::task::TaskFormat;

settings! {
    /// Vault-relative paths of the agent's notes, with `/` between parts.
    #[derive(serde::Serialize)]
    pub struct PathSettings {
        /// One reminder a line.
        pub reminders: String = "Reminders.md".to_owned(),
        /// Follow-ups, one block each.
        pub commitments: String = "COMMITMENTS.md".to_owned(),
        /// Durable facts.
        pub memory: String = "MEMORY.md".to_owned(),
        /// Pinned memories.
        pub pinned: String = "Pinned.md".to_owned(),
        /// The folder of the days' notes.
        pub daily: String = "daily".to_owned(),
        /// The user's profile.
        pub profile: String = "user/profile.md".to_owned(),
        /// Working memory, with an expiry.
        pub working: String = "user/working.md".to_owned(),
        /// The folder of scheduled prompts.
        pub routines: String = "routines".to_owned(),
        /// The folder of transcripts.
        pub logs: String = "logs".to_owned(),
        /// The assistant's questions.
        pub approvals: String = "Approvals.md".to_owned(),
        /// The folder of skills.
        pub skills: String = "skills".to_owned(),
        /// The folder of summaries of transcripts.
        pub summaries: String = "summaries".to_owned(),
        /// Candidates for memories, to be ticked.
        pub inbox: String = "Inbox.md".to_owned(),
    }

    /// How notes are written.
    pub struct EditSettings {
        /// The way a note is replaced.
        pub strategy: EditStrategy,
    }

    /// Snapshots.
    pub struct HistorySettings {
        /// Whether snapshots are taken.
        pub enabled: bool = true,
        /// [Patterns](crate::config::PathPatterns) of further files to keep, beside notes, canvases, bases and settings.
        pub include: Vec<String>,
        /// Patterns of files and folders to leave out.
        pub exclude: Vec<String>,
        /// Larger files are left out and listed.
        pub max_file_bytes: u64 = 1 << 20,
        /// Whether images and other attachments are kept too.
        pub attachments: bool,
        /// A git remote that snapshots are pushed to.
        pub remote: Option<String>,
    }

    /// The machine that fires reminders, and the rule of digests.
    pub struct ScheduleSettings {
        /// The host name of the one machine that fires, where the vault is on several.
        pub host: Option<String>,
        /// More missed reminders than this come together as one digest.
        pub digest_over: usize = 3,
        /// A reminder that is later than this many hours comes in a digest.
        pub digest_after_hours: u32 = 24,
    }

    /// The task lines that are sent besides our own reminders.
    pub struct ReminderSettings {
        /// The forms; none is on unless it is named.
        pub also: Vec<TaskFormat>,
        /// The time of day, `HH:MM`, of a date without one.
        pub default_time: String = "09:00".to_owned(),
        /// [Patterns](crate::config::PathPatterns) of the notes in which tasks are told; none means all notes.
        pub from: Vec<String>,
    }
}

impl PathSettings {
    /// The folder of coding agents' sessions, with `/` at its end.
    pub fn sessions(&self) -> String {
        format!("{}/{}/", self.logs.trim_end_matches('/'), crate::format::log::SESSIONS)
    }

    /// Each with its key in the settings, in the order of the keys.
    pub fn all(&self) -> BTreeMap<String, String> {
        let table = toml::Table::try_from(self).ok();
        table.and_then(|table| table.try_into().ok()).expect("each is a text")
    }
}

/// The way in which a note gets its new bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditStrategy {
    /// The lease where the system and the file allow one, else the swap.
    #[default]
    Auto,
    /// In place under a write lease, or not at all.
    Lease,
    /// A temporary file, exchanged with the note.
    Swap,
}

impl ReminderSettings {
    /// The time of day of a date without one.
    pub fn time(&self) -> Time {
        Time::strptime("%H:%M", &self.default_time).unwrap_or(Time::constant(9, 0, 0, 0))
    }

    pub(in crate::config) fn validate(&self) -> Validation {
        let time = &self.default_time;
        ensure(
            time.len() == 5 && Time::strptime("%H:%M", time).is_ok(),
            "reminders.default_time",
            format!("`reminders.default_time` is `{time}`, which is no time of day"),
            "write hours and minutes, such as `09:00`",
        )
    }
}
