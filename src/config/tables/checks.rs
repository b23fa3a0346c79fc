//! Checks values that several tables of the settings have: web addresses, and numbers within a range.

use crate::config::ConfigError;

/// Whether `url` is a web address: it begins with `https://` or `http://`.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Whether a number is from `low` to `high`; else the key and the error.
pub(in crate::config) fn within(
    key: &str,
    value: usize,
    low: usize,
    high: usize,
) -> Result<(), (String, ConfigError)> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let error = ConfigError::new(format!("`{key}` is {value}, out of range"))
        .suggest(format!("give a number from {low} to {high}"));
    Err((key.to_owned(), error))
}
