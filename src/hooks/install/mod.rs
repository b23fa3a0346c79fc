//! Installs our entries in a host's settings file, updates and removes them.
//!
//! The file's text comes in; a new text goes out, and every byte that isn't ours stays as it was.
//! - [`entries`]: adding and removing entries. Pure; [`json`] finds a value's place and the file's layout;
//! - [`settings_file`]: the file on disk;
//! - [`memories`]: the setting that moves the host's own memories into the vault.

pub(super) mod entries;
mod json;
pub mod memories;
pub mod settings_file;

pub use entries::{HookCaller, install, installed, is_all_ours, uninstall};
pub use json::SettingsError;
pub use settings_file::{host_folder, user_settings};
