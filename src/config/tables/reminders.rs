//! Reads `[reminders]`: which task lines of other plugins, by their syntax, give notifications.

use serde::Deserialize;

use super::checks::{Validation, wrong};
use crate::defaults::defaults;
use crate::format::task::TaskFormat;

defaults! {
    /// Which task lines are told besides our own reminders.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct ReminderSettings {
        /// The forms; none is on unless it is named.
        pub also: Vec<TaskFormat>,
        /// The time of day, `HH:MM`, of a date without one.
        pub default_time: String = "09:00".to_owned(),
        /// Glob patterns of the notes in which tasks are told; none means all notes.
        pub from: Vec<String>,
    }
}

impl ReminderSettings {
    /// The time of day of a date without one.
    pub fn time(&self) -> jiff::civil::Time {
        let nine = jiff::civil::Time::constant(9, 0, 0, 0);
        jiff::civil::Time::strptime("%H:%M", &self.default_time).unwrap_or(nine)
    }

    pub(in crate::config) fn validate(&self) -> Validation {
        let time = &self.default_time;
        if time.len() != 5 || jiff::civil::Time::strptime("%H:%M", time).is_err() {
            let message = format!("`reminders.default_time` is `{time}`, which is no time of day");
            return wrong("reminders.default_time", message, "write hours and minutes, such as `09:00`");
        }
        for pattern in &self.from {
            if let Err(error) = globset::Glob::new(pattern) {
                let message =
                    format!("`reminders.from` holds `{pattern}`, which is no pattern: {}", error.kind());
                return wrong("reminders.from", message, "write a folder's notes as `Projects/**`");
            }
        }
        Ok(())
    }
}
