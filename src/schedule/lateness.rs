//! Decides whether a reminder counts as missed, and whether missed reminders are combined in one message (a digest).
//!
//! A reminder counts as missed if it is more than five minutes late. Missed reminders make a digest if their number
//! exceeds `digest_over`, or if one of them is later than `digest_after_hours`.
//!
//! Lateness doesn't decide whether a reminder is sent: everything at or before now is due, and a key that the delivery
//! journal has as sent is never sent again. So a clock that jumps forward or back loses and repeats nothing.

use jiff::SignedDuration;

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

/// Whether a delivery with this lateness counts as missed, which is so from more than five minutes on.
pub fn is_missed(lateness: SignedDuration) -> bool {
    lateness > LATENESS
}

/// Whether the missed ones among deliveries that are `lateness` late (in any order) make a digest.
///
/// A reminder on time, or a few minutes late ([`is_missed`]), neither counts nor belongs into it: five
/// reminders for the same minute are five messages.
pub fn needs_digest(rule: &DigestRule, lateness: &[SignedDuration]) -> bool {
    let missed = lateness.iter().filter(|late| is_missed(**late));
    missed.clone().count() > rule.over || missed.clone().any(|late| *late > rule.after)
}

/// Up to this far behind, something is late, and no more is said of it.
const LATENESS: SignedDuration = SignedDuration::from_mins(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_three_or_older_than_a_day() {
        let rule = DigestRule::default();
        let hours = |hours: &[i64]| hours.iter().map(|h| SignedDuration::from_hours(*h)).collect::<Vec<_>>();
        assert!(!needs_digest(&rule, &[]));
        assert!(!needs_digest(&rule, &hours(&[1, 2, 24])));
        assert!(needs_digest(&rule, &hours(&[1, 2, 3, 4])));
        assert!(needs_digest(&rule, &[SignedDuration::from_hours(24) + SignedDuration::from_secs(1)]));
    }

    #[test]
    fn what_is_on_time_is_no_part_of_it() {
        let rule = DigestRule::default();
        let five_minutes = SignedDuration::from_mins(5);
        assert!(!needs_digest(&rule, &[five_minutes; 50]));
        let mut some = vec![SignedDuration::ZERO; 10];
        some.extend([five_minutes + SignedDuration::from_secs(1); 3]);
        assert!(!needs_digest(&rule, &some));
        some.push(SignedDuration::from_mins(6));
        assert!(needs_digest(&rule, &some));
    }

    #[test]
    fn the_settings_are_followed() {
        let always = DigestRule { over: 0, after: SignedDuration::MAX };
        assert!(needs_digest(&always, &[SignedDuration::from_mins(6)]));
        let never = DigestRule { over: usize::MAX, after: SignedDuration::MAX };
        assert!(!needs_digest(&never, &[SignedDuration::from_hours(1_000_000); 10]));
    }
}
