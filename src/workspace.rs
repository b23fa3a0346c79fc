//! One opened vault with all that a front door needs: settings, zone, directories, clock, editor.
//!
//! The command line, the daemon, the MCP server and the hooks all begin here, so that a vault is opened
//! in one way only. Opening reads the settings and nothing else: no note, no database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock::Clock;
use crate::config::{ConfigError, Dirs, Settings};

/// An opened vault.
#[derive(Debug)]
pub struct Workspace {
    /// The vault's folder, canonical.
    pub root: PathBuf,
    /// Its settings.
    pub settings: Settings,
    /// Where its state and cache are.
    pub dirs: Dirs,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Workspace {
    /// Opens the vault at `dir`.
    ///
    /// # Errors
    /// `dir` is no folder, the settings are wrong, or the directories can't be made.
    pub fn open(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let root = dir.canonicalize().map_err(|error| {
            ConfigError::new(format!("can't open the vault `{}`: {error}", dir.display()))
        })?;
        let settings = Settings::load(&root)?;
        let dirs = Dirs::for_vault(&root)?;
        dirs.create()?;
        Ok(Self { root, settings, dirs, clock })
    }
}
