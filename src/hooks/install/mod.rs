//! Installs our entries in a host's settings file, updates and removes them.
//!
//! The file's text comes in; a new text goes out, and every byte that isn't ours stays as it was.
//! - [`entries`]: adds and removes entries, pure; [`json`]: finds a value's byte range and the file's layout;
//! - [`settings_file`]: reads and replaces the file on disk;
//! - [`memories`]: the setting that moves the host's own memories into the vault.

mod entries;
mod json;
pub mod memories;
pub mod settings_file;

pub use entries::{HookCaller, caller, install, installed, is_all_ours, uninstall};
pub use json::SettingsError;
pub use settings_file::{host_folder, user_settings};
