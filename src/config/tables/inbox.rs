//! Reads `[inbox]`: how many questions are asked in a day, and how many may be open at once.

use serde::Deserialize;

use super::checks::{Validation, in_range};
use crate::defaults::defaults;

defaults! {
    /// How much a person is asked; the best of what was found comes first, and the rest is not asked.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct InboxSettings {
        /// The most questions on one day, 0 to 1000.
        pub per_day: usize = 5,
        /// The most unanswered questions, 0 to 10,000.
        pub open: usize = 20,
    }
}

impl InboxSettings {
    pub(in crate::config) fn validate(&self) -> Validation {
        in_range("inbox.per_day", self.per_day, 0, 1000)?;
        in_range("inbox.open", self.open, 0, 10_000)
    }
}
