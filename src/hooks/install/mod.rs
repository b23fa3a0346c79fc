//! Our entries in a host's settings file: put in, brought up to date, taken out again.
//!
//! The file's text comes in; a new text goes out, and every byte that isn't ours stays as it was.
//! - [`entries`]: what is put in and taken out. Pure; [`json`] and [`layout`] say where a value stands and how the file is
//!   laid out;
//! - [`settings_file`]: the file on disk;
//! - [`memories`]: the setting that moves what the host remembers by itself into the vault.

pub(super) mod entries;
mod json;
mod layout;
pub mod memories;
pub mod settings_file;

pub use entries::{Caller, SettingsError, install, installed, is_all_ours, uninstall};
pub use settings_file::{host_folder, user_settings};
