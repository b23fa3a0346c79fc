//! Keeps, for each channel, the message up to which its history was read.
//!
//! The file is in the state directory and may be lost: without it the logs show where to begin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::config::json_file;

/// The cursors of all channels.
#[derive(Debug)]
pub struct Cursors {
    path: PathBuf,
    known: Mutex<BTreeMap<u64, u64>>,
}

impl Cursors {
    /// Reads them from the state directory; none if the file is missing or broken.
    pub fn load(state: &Path) -> Self {
        let path = state.join("discord-cursors.json");
        let known = json_file::load(&path).unwrap_or_default();
        Self { path, known: Mutex::new(known) }
    }

    /// A channel's cursor.
    pub fn get(&self, channel: u64) -> Option<u64> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&channel).copied()
    }

    /// The channels that have one.
    pub fn channels(&self) -> Vec<u64> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// Moves a channel's cursor forward.
    pub fn set(&self, channel: u64, to: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = known.get(&channel).copied();
        if now.is_some_and(|now| now >= to) {
            return;
        }
        known.insert(channel, to);
        if let Err(error) = json_file::save(&self.path, &*known) {
            tracing::warn!(path = %self.path.display(), %error, "the place reached in Discord's history can't be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_only_moves_forward_and_survives() {
        let dir = tempfile::tempdir().unwrap();
        let cursors = Cursors::load(dir.path());
        cursors.set(1, 10);
        cursors.set(1, 5);
        assert_eq!(Cursors::load(dir.path()).get(1), Some(10));
        std::fs::write(dir.path().join("discord-cursors.json"), "{").unwrap();
        assert_eq!(Cursors::load(dir.path()).get(1), None);
    }
}
