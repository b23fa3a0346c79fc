//! Classifies a jump of the wall clock: a suspend, a correction, or none.
//!
//! The daemon compares the wall clock with its expectation: its last reading plus the time that the monotonic clock
//! says has passed. Firing doesn't depend on it: everything at or before now is due, and the delivery journal never
//! sends a key twice, so a clock that goes back repeats nothing. The kind only changes messages and logs.

use jiff::{SignedDuration, Timestamp};

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
