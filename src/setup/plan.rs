//! What `setup` is about to write: settings, secrets, a service. Values alone; it is shown before any of it is done.

use std::path::PathBuf;

use secrecy::SecretString;

use crate::schedule::Zone;

/// What will be written.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The vault's folder.
    pub root: PathBuf,
    /// The zone of its times.
    pub zone: Zone,
    /// The settings file as it is, if it is there.
    pub before: Option<String>,
    /// The settings file as it will be, or why it can't be changed.
    pub settings: Result<String, String>,
    /// Files with secrets, outside the vault.
    pub secrets: Vec<SecretFile>,
    /// Whether a service is installed.
    pub service: bool,
    /// What it comes to, a line each.
    pub lines: Vec<String>,
}

/// A file that only its owner can read.
#[derive(Debug, Clone)]
pub struct SecretFile {
    /// Where.
    pub path: PathBuf,
    /// What stands in its first line.
    pub value: SecretString,
}
