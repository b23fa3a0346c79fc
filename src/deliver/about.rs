//! Which note a notification is about: pure.

use super::link::obsidian;
use super::notifier::{Fact, MessageKind, Outgoing};

/// Which note a notification is about, as a link; what the notifiers are given of the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// The name of the vault's folder.
    pub vault: String,
    /// The note of the reminders.
    pub reminders: String,
    /// The note of the follow-ups.
    pub commitments: String,
}

impl Links {
    /// The note that a message is about; none for what concerns no note.
    pub fn of(&self, message: &Outgoing) -> Option<String> {
        let follow_ups = |fact: &Fact| fact.kind == MessageKind::Commitment;
        let path = match message.facts.as_slice() {
            [] if message.kind == MessageKind::Confirmation => &self.reminders,
            [] => return None,
            facts if facts.iter().all(follow_ups) => &self.commitments,
            _ => &self.reminders,
        };
        Some(obsidian(&self.vault, path))
    }
}
