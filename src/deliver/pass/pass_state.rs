//! Remembers between passes how long a note and its new lines have been unchanged.
//!
//! The rules for firing use this but are elsewhere. A due line without an id that was just written fires once it has
//! been the same for five seconds, or after a minute of changes, since a person may still be typing it.

use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};

use super::planned::UnsentOccurrence;
use crate::vault::{NotePath, QuietTracker, SteadyLines};

/// The longest wait of a due line that is being edited.
const AT_MOST: SignedDuration = SignedDuration::from_secs(60);

/// The memory of one daemon between passes.
#[derive(Debug, Default)]
pub struct PassState {
    /// The tasks of the notes, as they were last read.
    pub(super) tasks: crate::tasks::Scanner,
    notes: QuietTracker,
    lines: SteadyLines,
    /// Whether the lines were read before.
    has_looked: bool,
    /// Since when due lines wait to be the same, without a break.
    waiting: Option<Timestamp>,
    /// Occurrences within a day of the last pass, by key, if there are several machines; `None` before the first.
    pub(super) near: Option<HashMap<String, UnsentOccurrence>>,
    /// The lines that other machines are to rewrite (order and claim), and since when they are the same.
    awaited: Option<(BTreeSet<(u64, String)>, Timestamp)>,
}

impl PassState {
    /// A note was read at `now`.
    pub(super) fn observe(&mut self, path: &NotePath, bytes: &[u8], now: Timestamp) {
        self.notes.observe(path, blake3::hash(bytes), now);
    }

    /// The reminders without an id, read at `now`: those that were just written, and until when each waits should it be
    /// due. Lines of the first reading count as written before, so a daemon that is restarted again and again still
    /// fires.
    pub(super) fn observe_lines_without_id<'l>(
        &mut self,
        lines: Option<impl Iterator<Item = &'l [u8]> + Clone>,
        now: Timestamp,
    ) -> HashMap<Vec<u8>, Timestamp> {
        let is_first = !std::mem::replace(&mut self.has_looked, true);
        // A note that wasn't read has the lines that it had.
        let Some(lines) = lines else { return HashMap::new() };
        self.lines.observe(lines.clone(), now);
        if is_first {
            return HashMap::new();
        }
        let latest = self.waiting.and_then(|since| since.checked_add(AT_MOST).ok()).unwrap_or(Timestamp::MAX);
        let until = |line: &[u8]| Some((line.to_vec(), self.lines.steady_at(line)?.min(latest)));
        lines.filter_map(until).filter(|(_, until)| *until > now).collect()
    }

    /// Whether due lines wait, at `now`, to be the same. The minute counts from the first pass in which one does.
    pub(super) fn note_waiting(&mut self, is_waiting: bool, now: Timestamp) {
        // A clock that was put back makes no line wait longer.
        self.waiting = is_waiting.then(|| self.waiting.map_or(now, |since| since.min(now)));
    }

    /// Whether a note may be rewritten; else when to look again. Asking is wanting: the wait for a
    /// note that is never still begins with the first call.
    pub(super) fn may_write(&mut self, path: &NotePath, now: Timestamp) -> Result<(), Timestamp> {
        self.notes.start_waiting(path, now);
        match self.notes.ready_at(path) {
            Some(at) if at > now => Err(at),
            _ => Ok(()),
        }
    }

    /// Notes that a note was rewritten, and is now `bytes`.
    pub(super) fn record_own_write(&mut self, path: &NotePath, bytes: &[u8]) {
        self.notes.record_own_write(path, blake3::hash(bytes));
    }

    /// Since when the same lines wait for other machines to rewrite them.
    pub(super) fn awaited_since(&mut self, awaited: BTreeSet<(u64, String)>, now: Timestamp) -> Timestamp {
        match &self.awaited {
            Some((before, since)) if *before == awaited => *since,
            _ => self.awaited.insert((awaited, now)).1,
        }
    }

    /// Whether a line without an id stood there, the same, five seconds ago.
    pub(super) fn is_steady(&self, line: &[u8], now: Timestamp) -> bool {
        self.lines.is_steady(line, now)
    }
}
