//! Computes when the scheduler runs: once a minute, on the minute, by the wall clock. Pure.
//!
//! The monotonic clock stops while the machine is suspended, and doesn't follow a wall clock that is set. So the
//! daemon sleeps for at most [`LONGEST_SLEEP`], and then reads the wall clock again.

use std::time::Duration;

use jiff::Timestamp;

/// The longest sleep of the daemon before it reads the wall clock again.
pub const LONGEST_SLEEP: Duration = Duration::from_secs(10);

/// Remembers the minute of the last pass.
#[derive(Debug, Default)]
pub struct Ticker {
    minute: Option<i64>,
}

impl Ticker {
    /// Whether a pass is due at `now`: the wall clock shows another minute than at the last one,
    /// whichever way it moved. The minute counts as seen from then on.
    pub fn is_due(&mut self, now: Timestamp) -> bool {
        let minute = now.as_second().div_euclid(60);
        self.minute.replace(minute) != Some(minute)
    }

    /// How long to sleep at `now`: to the next minute's boundary, or as long as is allowed; not at all if a minute began
    /// while a pass went on.
    pub fn sleep(&self, now: Timestamp) -> Duration {
        if self.minute.is_some_and(|minute| minute != now.as_second().div_euclid(60)) {
            return Duration::ZERO;
        }
        let since = now.as_millisecond().rem_euclid(60_000).unsigned_abs();
        Duration::from_millis(60_000 - since).min(LONGEST_SLEEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn each_minute_has_one_pass() {
        let mut ticker = Ticker::default();
        let due: Vec<_> =
            ["09:00:00.1", "09:00:10", "09:00:59.9", "09:01:00", "09:01:01", "10:00:00", "09:30:00"]
                .iter()
                .map(|time| ticker.is_due(at(&format!("2026-12-01T{time}Z"))))
                .collect();
        assert_eq!(due, [true, false, false, true, false, true, true]);
    }

    #[test]
    fn sleep_ends_on_the_boundary_and_is_never_long() {
        let mut ticker = Ticker::default();
        ticker.is_due(at("2026-12-01T09:00:00Z"));
        assert_eq!(ticker.sleep(at("2026-12-01T09:00:59.250Z")), Duration::from_millis(750));
        assert_eq!(ticker.sleep(at("2026-12-01T09:00:20Z")), LONGEST_SLEEP);
        assert_eq!(ticker.sleep(at("2026-12-01T09:00:00Z")), LONGEST_SLEEP);
        // A long pass ended in the next minute.
        assert_eq!(ticker.sleep(at("2026-12-01T09:01:08Z")), Duration::ZERO);
    }
}
