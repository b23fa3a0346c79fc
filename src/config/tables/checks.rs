//! Checks values that several tables of the settings have: web addresses, and numbers within a range.

use crate::config::ConfigError;

/// Whether `url` is a web address: it begins with `https://` or `http://`.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Whether a number is from `low` to `high`; else the key and the error.
pub(in crate::config) fn in_range(key: &str, value: usize, low: usize, high: usize) -> Validation {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    wrong(key, format!("`{key}` is {value}, out of range"), format!("give a number from {low} to {high}"))
}

/// A setting that stands; else its key, and what is wrong with it.
pub(in crate::config) type Validation = Result<(), (String, ConfigError)>;

/// Refuses the setting `key`, and says what to do.
pub(in crate::config) fn wrong(
    key: impl Into<String>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Validation {
    Err((key.into(), ConfigError::new(message).suggest(hint)))
}
