//! Holds the editor's options: strategy, waits, limits.

use std::time::Duration;

/// The way in which a note gets its new bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditStrategy {
    /// The lease where the system and the file allow one, else the swap.
    #[default]
    Auto,
    /// In place under a write lease, or not at all.
    Lease,
    /// A temporary file, exchanged with the note.
    Swap,
}

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
