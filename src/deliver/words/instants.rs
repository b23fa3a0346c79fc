//! Formats instants for people: the local time, and the distance from now. Also rewrites the RFC 3339 instants inside a
//! text.
//!
//! A [`ShownInstant`] is an instant in the vault's zone: RFC 3339 for programs (`--json`), words for people.

use jiff::{SignedDuration, Timestamp, Zoned};
use serde::{Serialize, Serializer};

use super::compose;
use crate::deliver::prelude::*;

/// An instant in the vault's zone: RFC 3339 for programs, [`format_instant`] for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownInstant(Zoned);

impl ShownInstant {
    /// The instant in a zone.
    pub fn new(at: Timestamp, tz: &TimeZone) -> Self {
        Self(at.to_zoned(tz.clone()))
    }

    /// The instant.
    pub fn at(&self) -> Timestamp {
        self.0.timestamp()
    }

    /// As [`format_instant`].
    pub fn for_people(&self, now: Timestamp) -> String {
        format_instant(self.0.timestamp(), now, self.0.time_zone())
    }
}

impl Serialize for ShownInstant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0.timestamp(), self.0.time_zone()))
    }
}

/// `09:30 (3 min ago)`, `Tue 8 Dec 09:30 (in 7 days)`: the day only where it isn't today.
pub fn format_instant(at: Timestamp, now: Timestamp, tz: &TimeZone) -> String {
    let local = compose::moment(tz.to_datetime(at), tz.to_datetime(now).date());
    format!("{local} ({})", distance(at, now))
}

/// Rewrites each instant of RFC 3339 in a text as [`format_instant`]: a daemon part's own report, for people.
pub fn format_instants_in(words: &str, now: Timestamp, tz: &TimeZone) -> String {
    let shown = |word: &str| {
        let bare = word.trim_end_matches([';', ',', '.', ')']);
        let at: Timestamp = bare.parse().ok()?;
        Some(format!("{}{}", format_instant(at, now, tz), &word[bare.len()..]))
    };
    words.split(' ').map(|word| shown(word).unwrap_or_else(|| word.to_owned())).collect::<Vec<_>>().join(" ")
}

/// `3 min ago`, `in 2 h`, `now`: in the largest whole unit.
pub fn distance(at: Timestamp, now: Timestamp) -> String {
    let ahead = now.duration_until(at);
    match ahead.as_secs() {
        0 => "now".to_owned(),
        1.. => format!("in {}", length(ahead)),
        _ => format!("{} ago", length(ahead.abs())),
    }
}

fn length(length: SignedDuration) -> String {
    let seconds = length.as_secs();
    let (amount, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..172_800 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{amount} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_said_in_the_largest_whole_unit() {
        let now: Timestamp = "2026-12-01T12:00:00.123456789Z".parse().unwrap();
        let at = |seconds| distance(now + SignedDuration::from_secs(seconds), now);
        assert_eq!(
            [-5, -65, -3700, -90_000, -180_000, 0, 3, 180_000].map(at),
            ["5 s ago", "1 min ago", "1 h ago", "25 h ago", "2 days ago", "now", "in 3 s", "in 2 days"]
        );
    }

    #[test]
    fn instants_in_words_are_retold() {
        let tz = TimeZone::get("Europe/Berlin").unwrap();
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        let words =
            "a new one begins; last snapshot 2026-12-01T11:59:50.123456789Z, 12 files at 12:00 (of 2026)";
        let said = "a new one begins; last snapshot 12:59 (9 s ago), 12 files at 12:00 (of 2026)";
        assert_eq!(format_instants_in(words, now, &tz), said);
    }

    #[test]
    fn an_instant_is_local_time_for_people_and_rfc_3339_for_programs() {
        let tz = TimeZone::get("Asia/Tokyo").unwrap();
        let now: Timestamp = "2026-12-01T12:00:00.123456789Z".parse().unwrap();
        let shown = ShownInstant::new("2026-12-01T11:57:00Z".parse().unwrap(), &tz);
        assert_eq!(shown.for_people(now), "20:57 (3 min ago)");
        assert_eq!(serde_json::to_string(&shown).unwrap(), "\"2026-12-01T20:57:00+09:00\"");
        let shown = ShownInstant::new("2026-12-09T00:30:00Z".parse().unwrap(), &tz);
        assert_eq!(shown.for_people(now), "Wed 9 Dec 09:30 (in 7 days)");
    }
}
