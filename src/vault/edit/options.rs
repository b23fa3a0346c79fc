//! Holds the editor's options: strategy, waits, limits.

use std::time::Duration;

pub use crate::config::EditStrategy;

/// The editor's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditOptions {
    /// The way in which it writes.
    pub strategy: EditStrategy,
    /// For how long to try while another program has the file open.
    pub patience: Duration,
    /// Whether the swap asks the kernel if another program has the file open for writing, on systems that can say so
    /// (Linux). If off, it does what it can do on macOS; tests measure that.
    pub ask_for_writers: bool,
}

impl Default for EditOptions {
    fn default() -> Self {
        Self { strategy: EditStrategy::Auto, patience: Duration::from_millis(1_500), ask_for_writers: true }
    }
}
