//! Decides whether a reminder counts as missed, and whether missed ones are combined in one message; and detects jumps
//! of the wall clock, by a suspend or a correction.
//!
//! The daemon compares the wall clock with its expectation: its last reading plus the time that the monotonic clock
//! says has passed. Firing doesn't depend on it: everything at or before now is due, and the delivery journal never
//! sends a key twice, so a clock that goes back repeats nothing. The kind of a jump only changes messages and logs.

use jiff::{SignedDuration, Timestamp};

/// The settings `[schedule] digest_over` and `digest_after_hours`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigestRule {
    /// More missed reminders than this come together.
    pub over: usize,
    /// So do all missed ones where one is later than this.
    pub after: SignedDuration,
}

impl Default for DigestRule {
    /// More than three, or anything older than a day.
    fn default() -> Self {
        Self { over: 3, after: SignedDuration::from_hours(24) }
    }
}

/// Whether something that is delivered so late was missed: up to five minutes is mere lateness.
pub fn is_missed(lateness: SignedDuration) -> bool {
    lateness > LATENESS
}

/// Whether the missed ones among deliveries that are `lateness` late (in any order) make a digest.
///
/// A reminder on time, or a few minutes late ([`is_missed`]), neither counts nor belongs into it: five
/// reminders for the same minute are five messages.
pub fn digest(rule: &DigestRule, lateness: &[SignedDuration]) -> bool {
    let missed = lateness.iter().filter(|late| is_missed(**late));
    missed.clone().count() > rule.over || missed.clone().any(|late| *late > rule.after)
}

/// A difference up to this is how clocks are: read a moment apart, slewed by NTP.
pub const STEADY_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// Up to this far behind, something is late, and no more is said of it.
pub const LATENESS: SignedDuration = SignedDuration::from_mins(5);

/// Further forward than this (cron's limit too) is a machine that was off.
pub const MISSED_AFTER: SignedDuration = SignedDuration::from_hours(3);

/// The kind of the wall clock's step against the expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// It is where it should be.
    Steady,
    /// Forward by up to [`LATENESS`]: items that became due in between come at once, as if on time.
    Late(SignedDuration),
    /// Forward by up to [`MISSED_AFTER`]: the same, each saying when it was due.
    Skipped(SignedDuration),
    /// Forward by more: items that became due in between were missed while the machine was off.
    Missed(SignedDuration),
    /// Backward, by so much: times that come again have fired already and don't fire again.
    Backward(SignedDuration),
}

/// The kind of the step from the instant that was `expected` to the one that the clock shows.
pub fn step_kind(expected: Timestamp, actual: Timestamp) -> StepKind {
    let step = expected.duration_until(actual);
    if step.abs() <= STEADY_WITHIN {
        StepKind::Steady
    } else if step.is_negative() {
        StepKind::Backward(step.abs())
    } else if step <= LATENESS {
        StepKind::Late(step)
    } else if step <= MISSED_AFTER {
        StepKind::Skipped(step)
    } else {
        StepKind::Missed(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_three_or_older_than_a_day() {
        let rule = DigestRule::default();
        let hours = |hours: &[i64]| hours.iter().map(|h| SignedDuration::from_hours(*h)).collect::<Vec<_>>();
        assert!(!digest(&rule, &[]));
        assert!(!digest(&rule, &hours(&[1, 2, 24])));
        assert!(digest(&rule, &hours(&[1, 2, 3, 4])));
        assert!(digest(&rule, &[SignedDuration::from_hours(24) + SignedDuration::from_secs(1)]));
    }

    #[test]
    fn what_is_on_time_is_no_part_of_it() {
        let rule = DigestRule::default();
        let five_minutes = SignedDuration::from_mins(5);
        assert!(!digest(&rule, &[five_minutes; 50]));
        let mut some = vec![SignedDuration::ZERO; 10];
        some.extend([five_minutes + SignedDuration::from_secs(1); 3]);
        assert!(!digest(&rule, &some));
        some.push(SignedDuration::from_mins(6));
        assert!(digest(&rule, &some));
    }

    #[test]
    fn the_settings_are_followed() {
        let always = DigestRule { over: 0, after: SignedDuration::MAX };
        assert!(digest(&always, &[SignedDuration::from_mins(6)]));
        let never = DigestRule { over: usize::MAX, after: SignedDuration::MAX };
        assert!(!digest(&never, &[SignedDuration::from_hours(1_000_000); 10]));
    }

    #[test]
    fn each_kind_has_its_range() {
        let expected: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        let kind = |seconds| step_kind(expected, expected + SignedDuration::from_secs(seconds));
        let secs = SignedDuration::from_secs;
        assert_eq!(kind(0), StepKind::Steady);
        assert_eq!(kind(1), StepKind::Steady);
        assert_eq!(kind(-1), StepKind::Steady);
        assert_eq!(kind(2), StepKind::Late(secs(2)));
        assert_eq!(kind(300), StepKind::Late(secs(300)));
        assert_eq!(kind(301), StepKind::Skipped(secs(301)));
        assert_eq!(kind(3 * 3600), StepKind::Skipped(secs(3 * 3600)));
        assert_eq!(kind(3 * 3600 + 1), StepKind::Missed(secs(3 * 3600 + 1)));
        assert_eq!(kind(-2), StepKind::Backward(secs(2)));
        assert_eq!(kind(-100 * 86400), StepKind::Backward(secs(100 * 86400)));
        assert!(matches!(step_kind(Timestamp::MIN, Timestamp::MAX), StepKind::Missed(_)));
        assert!(matches!(step_kind(Timestamp::MAX, Timestamp::MIN), StepKind::Backward(_)));
    }
}
