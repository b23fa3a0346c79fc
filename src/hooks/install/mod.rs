//! Installs vault-agent's entries in a host's settings file, updates and removes them.
//!
//! The file's text comes in; a new text goes out. All bytes that aren't of these entries stay, except a value that the
//! setting for memories replaces.
//! - [`entries`]: adds and removes entries. Pure; [`json`]: finds a value's byte range and the file's layout;
//! - [`settings_file`]: reads and replaces the file on disk;
//! - [`memories`]: the setting that moves the host's own memories into the vault.

mod entries;
mod json;
pub mod memories;
pub mod settings_file;

pub use entries::{HookCaller, caller, install, installed, is_all_ours, uninstall};
pub use json::SettingsError;
pub use settings_file::{host_folder, user_settings};
