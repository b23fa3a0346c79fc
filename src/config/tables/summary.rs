//! Reads `[summary]`: whether long conversations are summarised, and by which brain.

use crate::defaults::defaults;
use serde::Deserialize;

defaults! {
    /// Summaries of logs.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct SummarySettings {
        /// Whether the daemon writes any.
        pub enabled: bool = true,
        /// The brain that writes them; none: those that would answer, in their order. Without any brain they are extracts.
        pub brain: Option<String>,
    }
}
