//! Names the kinds of recurrence of a reminder.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a reminder comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recur {
    /// Once.
    #[default]
    None,
    /// Every day at the same local time.
    Daily,
    /// Every seven days.
    Weekly,
    /// Every month on the same day, or on the last one of a month that lacks it.
    Monthly,
}

impl Recur {
    /// All of them, in the order of the grammar.
    pub const ALL: [Recur; 4] = [Recur::None, Recur::Daily, Recur::Weekly, Recur::Monthly];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; Recur::ALL.len()] = {
        let mut names = [""; Recur::ALL.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = Recur::ALL[at].name();
            at += 1;
        }
        names
    };

    /// Their names as a sentence lists them: "`none`, `daily`, `weekly` and `monthly`" with this word before the last.
    pub fn listed(word: &str) -> String {
        let quoted = Recur::NAMES.map(|name| format!("`{name}`"));
        let (last, others) = quoted.split_last().expect("there are recurrences");
        format!("{} {word} {last}", others.join(", "))
    }

    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Recur::None => "none",
            Recur::Daily => "daily",
            Recur::Weekly => "weekly",
            Recur::Monthly => "monthly",
        }
    }
}

impl fmt::Display for Recur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
        Recur::ALL.into_iter().find(|recur| recur.name() == text).ok_or_else(|| RecurError {
            shown: crate::format::quote(text),
            hint: crate::format::nearest(text, &Recur::NAMES)
                .map(|name| format!("; did you mean `{name}`?"))
                .unwrap_or_default(),
        })
    }
}
