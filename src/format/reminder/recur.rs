//! Names the kinds of recurrence of a reminder.

use std::str::FromStr;

use crate::words::words;

words! {
    /// How a reminder comes again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Recur, name {
        /// Once.
        #[default]
        None = "none",
        /// Every day at the same local time.
        Daily = "daily",
        /// Every seven days.
        Weekly = "weekly",
        /// Every month on the same day, or on the last one of a month that lacks it.
        Monthly = "monthly",
    }
}

impl Recur {
    /// Their names as a sentence lists them: "`none`, `daily`, `weekly` and `monthly`" with this word before the last.
    pub fn listed(word: &str) -> String {
        let quoted = Recur::NAMES.map(|name| format!("`{name}`"));
        let (last, others) = quoted.split_last().expect("there are recurrences");
        format!("{} {word} {last}", others.join(", "))
    }
}

/// Text that names no recurrence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not a recurrence: one of {}{hint}", Recur::NAMES.map(|name| format!("`{name}`")).join(", "))]
pub struct RecurError {
    pub(super) shown: String,
    pub(super) hint: String,
}

impl FromStr for Recur {
    type Err = RecurError;

    fn from_str(text: &str) -> Result<Recur, RecurError> {
        Recur::named(text).ok_or_else(|| RecurError {
            shown: crate::format::quote(text),
            hint: crate::format::nearest(text, &Recur::NAMES)
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default(),
        })
    }
}
