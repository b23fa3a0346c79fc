//! Reads the tables of `vault-agent.toml`: their keys, with their defaults and their checks.
//!
//! Values as serde reads them come in; checked values go out, or an error that names the key and the remedy. No file is
//! read here.
//! - [`notes`], [`memory`]: the agent's notes, and search and memory over them; [`notify`]: notifiers;
//! - [`assistant`], [`brains`], [`allow`]: brains, and calls that need no approval; [`mcp`]: other MCP servers;
//! - [`doors`]: the Discord bot, the hooks of coding agents, the web page; [`machines`]: several machines with one
//!   vault.

/// Declares tables of the settings, all of whose keys are optional, with their defaults as in [`defaults`].
///
/// [`defaults`]: crate::defaults
macro_rules! settings {
    ($($(#[$attribute:meta])* pub struct $name:ident $fields:tt)+) => {$(
        $crate::defaults::defaults! {
            $(#[$attribute])*
            #[derive(Debug, Clone, PartialEq, serde::Deserialize)]
            #[serde(deny_unknown_fields, default)]
            pub struct $name $fields
        }
    )+};
}
pub(super) use settings;

pub mod allow;
pub(super) mod assistant;
mod brains;
pub(super) mod doors;
mod machines;
pub(super) mod mcp;
pub(super) mod memory;
pub(super) mod notes;
pub(super) mod notify;

pub use assistant::*;
pub use brains::*;
pub use doors::*;
pub use machines::*;
pub use mcp::*;
pub use memory::*;
pub use notes::*;
pub use notify::*;

use super::ConfigError;

/// Whether `url` is a web address: it begins with `https://` or `http://`.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The result of a check; the error is the key of a wrong setting, and its fault.
pub(super) type Validation = Result<(), (String, ConfigError)>;

/// Refuses the setting `key`, and says what to do.
pub(super) fn wrong(
    key: impl Into<String>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Validation {
    Err((key.into(), ConfigError::new(message).suggest(hint)))
}

/// Refuses the setting `key` unless it is fine.
pub(super) fn ensure(fine: bool, key: &str, message: impl Into<String>, hint: &str) -> Validation {
    if fine { Ok(()) } else { wrong(key, message, hint) }
}

/// Whether a number is from `low` to `high`; else the key and the error.
pub(super) fn in_range(key: &str, value: usize, low: usize, high: usize) -> Validation {
    let message = format!("`{key}` is {value}, out of range");
    ensure((low..=high).contains(&value), key, message, &format!("give a number from {low} to {high}"))
}
