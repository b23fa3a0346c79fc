//! Opens the history of a vault at its first use: the first edit, or the first query.
//!
//! Most commands read a note and end; opening a repository would cost more than their work.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Clock;
use crate::config::Settings;
use crate::history::error::Result;
use crate::history::take::History;
use crate::vault::{ChangeObserver, ObservedChange, Vault};

/// Opens the history when it is first needed, and hears of edits in its place.
#[derive(Debug)]
pub struct LazyHistory {
    vault: Vault,
    settings: Settings,
    state: PathBuf,
    clock: Arc<dyn Clock>,
    opened: Mutex<Option<Arc<History>>>,
}

impl LazyHistory {
    /// The history of `vault` in the state directory `state`.
    pub fn new(vault: Vault, settings: Settings, state: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { vault, settings, state, clock, opened: Mutex::new(None) }
    }

    /// The history.
    ///
    /// # Errors
    /// It can't be opened or made; the next call tries again.
    pub fn get(&self) -> Result<Arc<History>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(history) = &*opened {
            return Ok(Arc::clone(history));
        }
        let history = History::open(&self.vault, &self.settings, &self.state, Arc::clone(&self.clock))?;
        Ok(Arc::clone(opened.insert(Arc::new(history))))
    }
}

impl ChangeObserver for LazyHistory {
    fn changed(
        &self,
        change: &ObservedChange<'_>,
    ) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.get()?.changed(change)
    }
}
