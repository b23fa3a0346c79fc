//! What the daemon remembers between passes: how long a note and its new lines have been still.
//!
//! Nothing here decides what fires, and losing it costs five seconds.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use crate::deliver::journal::LineHash;
use crate::vault::NotePath;

/// A note that was the same for so long counts as still: longer than Obsidian's 2 s until it saves.
const STILL: SignedDuration = SignedDuration::from_secs(5);

/// A rewrite waits no longer than this for a note to be still.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// What one daemon remembers between passes.
#[derive(Debug, Default)]
pub struct Memory {
    notes: HashMap<NotePath, Seen>,
    lines: HashMap<LineHash, Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    content: LineHash,
    since: Timestamp,
    wanted_since: Option<Timestamp>,
}

/// How long it has been since `then`; a clock that was put back begins anew.
fn elapsed(then: &mut Timestamp, now: Timestamp) -> SignedDuration {
    *then = (*then).min(now);
    then.duration_until(now)
}

impl Memory {
    /// Whether a note, read as `bytes` at `now`, may be rewritten; else when to look again. Asking is
    /// wanting: the wait for a note that is never still begins with the first call.
    pub(super) fn may_write(&mut self, path: &NotePath, bytes: &[u8], now: Timestamp) -> Result<(), Timestamp> {
        let content = LineHash::of(bytes);
        let fresh = Seen { content, since: now, wanted_since: None };
        let seen = self.notes.entry(path.clone()).or_insert(fresh);
        if seen.content != content {
            (seen.content, seen.since) = (content, now);
        }
        let mut wanted = seen.wanted_since.unwrap_or(now);
        let still = elapsed(&mut seen.since, now);
        let waited = elapsed(&mut wanted, now);
        seen.wanted_since = Some(wanted);
        if still >= STILL || waited >= PATIENCE {
            return Ok(());
        }
        let left = (STILL - still).min(PATIENCE - waited);
        Err(now.saturating_add(left).unwrap_or(now))
    }

    /// Notes that a note was rewritten.
    pub(super) fn written(&mut self, path: &NotePath) {
        if let Some(seen) = self.notes.get_mut(path) {
            seen.wanted_since = None;
        }
    }

    /// Which of these lines without an id stood there, the same, five seconds ago. Lines that are not
    /// among them are forgotten.
    pub(super) fn settled_lines(&mut self, lines: &[LineHash], now: Timestamp) -> Vec<bool> {
        let mut kept = HashMap::with_capacity(lines.len());
        let settled = lines
            .iter()
            .map(|line| {
                let since = kept.entry(*line).or_insert_with(|| self.lines.get(line).copied().unwrap_or(now));
                elapsed(since, now) >= STILL
            })
            .collect();
        self.lines = kept;
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    #[test]
    fn a_note_is_still_after_five_seconds_or_never_and_a_minute() {
        let path = NotePath::new("Reminders.md").unwrap();
        let mut memory = Memory::default();
        assert_eq!(memory.may_write(&path, b"a", at(0)), Err(at(5)));
        assert_eq!(memory.may_write(&path, b"b", at(4)), Err(at(9)));
        assert_eq!(memory.may_write(&path, b"b", at(8)), Err(at(9)));
        assert_eq!(memory.may_write(&path, b"b", at(9)), Ok(()));
        memory.written(&path);
        for second in 10..70 {
            assert!(memory.may_write(&path, &[second as u8], at(second)).is_err(), "{second}");
        }
        assert_eq!(memory.may_write(&path, b"z", at(70)), Ok(()));
    }

    #[test]
    fn a_clock_put_back_begins_anew() {
        let path = NotePath::new("Reminders.md").unwrap();
        let mut memory = Memory::default();
        assert!(memory.may_write(&path, b"a", at(1000)).is_err());
        assert_eq!(memory.may_write(&path, b"a", at(0)), Err(at(5)));
        assert_eq!(memory.may_write(&path, b"a", at(5)), Ok(()));
    }

    #[test]
    fn a_line_must_be_read_twice() {
        let (a, b) = (LineHash::of(b"a"), LineHash::of(b"b"));
        let mut memory = Memory::default();
        assert_eq!(memory.settled_lines(&[a], at(0)), [false]);
        assert_eq!(memory.settled_lines(&[a, b], at(5)), [true, false]);
        assert_eq!(memory.settled_lines(&[b], at(10)), [true]);
        assert_eq!(memory.settled_lines(&[a, b], at(11)), [false, true]);
    }
}
