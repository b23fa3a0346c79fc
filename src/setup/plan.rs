//! Defines the plan of `setup`: the settings, secrets and service that it will write. Values alone, shown before any is
//! written.

use std::path::PathBuf;

use secrecy::SecretString;

use crate::schedule::Zone;

/// All that will be written.
#[derive(Debug, Clone)]
pub struct SetupPlan {
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
    /// A summary, a line each.
    pub lines: Vec<String>,
}

/// A file that only its owner can read.
#[derive(Debug, Clone)]
pub struct SecretFile {
    /// The path.
    pub path: PathBuf,
    /// The value of its first line.
    pub value: SecretString,
}
