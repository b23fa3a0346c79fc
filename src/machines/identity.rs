//! Stores a machine's own id, and the highest epoch of the lease that it saw, in `machines.json` of the state
//! directory.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::config::json_file;

/// The file's name in the state directory.
pub const FILE_NAME: &str = "machines.json";

/// This machine's own id, and the highest epoch that it saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Made once; no other machine has it.
    pub machine: String,
    /// The highest epoch of the lease that was ever seen, 0 for none: entries with a lower one were restored.
    #[serde(default)]
    pub highest: u64,
}

/// 16 letters and digits, 80 random bits: an id or a nonce that no other machine makes.
pub(super) fn random() -> String {
    ulid::Ulid::generate().to_string()[10..].to_owned()
}

impl Identity {
    /// The identity that is kept in `state`; a new one where there is none, on disk when this returns.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn of(state: &Path) -> io::Result<Self> {
        let path = state.join(FILE_NAME);
        if let Some(known) = json_file::load::<Self>(&path).filter(|known| !known.machine.is_empty()) {
            return Ok(known);
        }
        let new = Self { machine: random(), highest: 0 };
        new.keep(state)?;
        Ok(new)
    }

    /// Whether the machine with this state directory took part before.
    pub fn is_kept(state: &Path) -> bool {
        state.join(FILE_NAME).exists()
    }

    /// Saves it in `state`.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn keep(&self, state: &Path) -> io::Result<()> {
        json_file::save(&state.join(FILE_NAME), self)
    }
}
