//! What the daemon remembers between passes: how long a note and its new lines have been still.
//!
//! Nothing here decides what fires, and losing it costs five seconds.

use jiff::Timestamp;

use crate::vault::{NotePath, QuietTracker, SteadyLines};

/// What one daemon remembers between passes.
#[derive(Debug, Default)]
pub struct Memory {
    /// What the notes said of tasks when they were last read.
    pub(super) tasks: crate::tasks::Scanner,
    notes: QuietTracker,
    lines: SteadyLines,
}

impl Memory {
    /// A note was read at `now`.
    pub(super) fn observe(&mut self, path: &NotePath, bytes: &[u8], now: Timestamp) {
        self.notes.observe(path, blake3::hash(bytes), now);
    }

    /// The reminders without an id, read at `now`.
    pub(super) fn observe_nameless<'a>(&mut self, lines: impl IntoIterator<Item = &'a [u8]>, now: Timestamp) {
        self.lines.observe(lines, now);
    }

    /// Whether a note may be rewritten; else when to look again. Asking is wanting: the wait for a
    /// note that is never still begins with the first call.
    pub(super) fn may_write(&mut self, path: &NotePath, now: Timestamp) -> Result<(), Timestamp> {
        self.notes.want(path, now);
        match self.notes.ready_at(path) {
            Some(at) if at > now => Err(at),
            _ => Ok(()),
        }
    }

    /// Notes that a note was rewritten, and is now `bytes`.
    pub(super) fn wrote(&mut self, path: &NotePath, bytes: &[u8]) {
        self.notes.wrote(path, blake3::hash(bytes));
    }

    /// Whether a line without an id stood there, the same, five seconds ago.
    pub(super) fn is_steady(&self, line: &[u8], now: Timestamp) -> bool {
        self.lines.is_steady(line, now)
    }
}
