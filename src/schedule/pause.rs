//! Decides whether a pause is in force at an instant, and describes the pause in words. A pause stops the work that the
//! program does unasked; it stops reminders and follow-ups only if [`Pause::reminders`] is set.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A pause of all unasked work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Its end, which is no part of it; without one it holds until it is ended.
    pub until: Option<Timestamp>,
    /// Whether reminders and follow-ups wait too.
    pub reminders: bool,
}

impl Pause {
    /// Whether the pause is in force at an instant.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// `paused until 2026-12-24 18:00`, with the work that goes on and the command that ends the pause.
    pub fn words(&self, tz: &TimeZone) -> String {
        let until = match self.until {
            Some(until) => tz.to_datetime(until).strftime("until %Y-%m-%d %H:%M").to_string(),
            None => "until it is resumed".to_owned(),
        };
        let reminders = if self.reminders { "reminders too" } else { "reminders go on" };
        format!("paused {until}, {reminders} (`vault-agent resume` ends it)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_no_part_of_it() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let pause = Pause { until: Some(at("2026-12-24T18:00:00Z")), reminders: false };
        assert!(pause.holds(at("2026-12-24T17:59:59Z")) && !pause.holds(at("2026-12-24T18:00:00Z")));
        assert!(Pause { until: None, ..pause }.holds(Timestamp::MAX));
        assert!(pause.words(&TimeZone::UTC).starts_with("paused until 2026-12-24 18:00, reminders go on"));
    }
}
