//! Reads `[capture]`: learning from conversations, its brain, and the categories that are kept without a person's tick.

use serde::Deserialize;

use crate::format::candidate::Category;

/// Learning from conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaptureSettings {
    /// Whether the logs are looked through; `false` turns it off.
    pub enabled: Option<bool>,
    /// The brain that finds what could be remembered; rules, where none is named.
    pub brain: Option<String>,
    /// The categories that are let in at once, without a tick.
    pub auto: Vec<Category>,
}
