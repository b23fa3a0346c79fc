//! Installs our entries in a host's settings file, updates and removes them.
//!
//! The file's text comes in; a new text goes out, and every byte that isn't ours stays as it was.
//! - [`entries`]: adding and removing. Pure; [`json`] and [`layout`] say where a value stands and how the file is laid
//!   out;
//! - [`settings_file`]: the file on disk;
//! - [`memories`]: the setting that moves what the host remembers by itself into the vault.

pub(super) mod entries;
mod json;
mod layout;
pub mod memories;
pub mod settings_file;

pub use entries::{Caller, SettingsError, install, installed, is_all_ours, uninstall};
pub use settings_file::{host_folder, user_settings};
