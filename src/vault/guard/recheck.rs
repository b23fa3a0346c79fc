//! Schedules the checks of a written note, because an editor's older buffer or a sync may undo the write.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::vault::path::NotePath;

/// How long after a write to look again.
pub const LOOKS: [SignedDuration; 2] = [SignedDuration::from_secs(5), SignedDuration::from_secs(60)];

/// The pending checks. Pure: time is an argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FollowUps {
    looks: BTreeSet<(Timestamp, NotePath)>,
}

impl FollowUps {
    /// A note was written at `now`: look at it again 5 s and 60 s later.
    pub fn record_write(&mut self, path: &NotePath, now: Timestamp) {
        for after in LOOKS {
            if let Ok(at) = now.checked_add(after) {
                self.looks.insert((at, path.clone()));
            }
        }
    }

    /// Takes the notes to check now, each once. Checks that a clock set back has moved more than a minute away are due
    /// at once.
    pub fn due(&mut self, now: Timestamp) -> BTreeSet<NotePath> {
        let horizon = now.checked_add(LOOKS[1]).unwrap_or(Timestamp::MAX);
        let (due, later): (BTreeSet<_>, BTreeSet<_>) =
            std::mem::take(&mut self.looks).into_iter().partition(|(at, _)| *at <= now || *at > horizon);
        self.looks = later;
        due.into_iter().map(|(_, path)| path).collect()
    }

    /// When the next look is due.
    pub fn next(&self) -> Option<Timestamp> {
        self.looks.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_looked_at_twice() {
        let note = NotePath::new("Reminders.md").unwrap();
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let mut looks = FollowUps::default();
        looks.record_write(&note, at(0));
        assert_eq!(looks.next(), Some(at(5)));
        assert!(looks.due(at(4)).is_empty());
        assert_eq!(looks.due(at(5)).len(), 1);
        assert!(looks.due(at(59)).is_empty());
        assert_eq!(looks.due(at(60)).len(), 1);
        assert_eq!(looks.next(), None);
    }

    #[test]
    fn a_clock_set_back_brings_them_forward() {
        let note = NotePath::new("Reminders.md").unwrap();
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let mut looks = FollowUps::default();
        looks.record_write(&note, at(0));
        assert_eq!(looks.due(at(-3_600)).len(), 1);
        assert_eq!(looks.next(), None);
    }
}
