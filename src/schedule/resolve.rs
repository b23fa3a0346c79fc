//! Resolves a local date and time to an instant, also at a change of the clocks (daylight saving time).
//!
//! A time that the clocks skip becomes the first valid minute after the gap; a time that comes twice is the earlier of
//! the two. Pure.

use jiff::tz::{AmbiguousOffset, Offset};
use jiff::{Timestamp, civil};

use super::zone::{Zone, end_of_gap};

/// The instant of the local time `local` in `zone`.
///
/// A time that the clocks skip (spring forward) is the first valid minute after the gap: on
/// 2026-03-29 in London 01:00, 01:30 and 01:59 are all 02:00 BST. A time that comes twice (fall
/// back) is the earlier of the two. Instants outside those that can be represented (the last hours of
/// year 9999) become the nearest that can.
pub fn resolve(zone: &Zone, local: civil::DateTime) -> Timestamp {
    match zone.tz().to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => ordinary(local, offset),
        AmbiguousOffset::Fold { before, .. } => ordinary(local, before),
        AmbiguousOffset::Gap { before, after } => after_gap(zone, local, before, after),
    }
}

/// `local` at a fixed offset, held within what a timestamp can represent.
fn ordinary(local: civil::DateTime, offset: Offset) -> Timestamp {
    offset.to_timestamp(local).unwrap_or(if local.year() < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// The end of the gap that holds `local`. Read with the later offset `local` lies before the change,
/// read with the earlier one it lies at or after it; so the change is the first one to `after` from
/// there on.
fn after_gap(zone: &Zone, local: civil::DateTime, before: Offset, after: Offset) -> Timestamp {
    let earliest = ordinary(local, after);
    let latest = ordinary(local, before);
    zone.tz()
        .following(earliest)
        .take_while(|change| change.timestamp() <= latest)
        .find(|change| change.offset() == after)
        .map_or(latest, |change| end_of_gap(change.timestamp(), after).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(zone: &str, local: &str) -> String {
        resolve(&Zone::get(zone).unwrap(), local.parse().unwrap()).to_string()
    }

    #[test]
    fn a_gap_of_odd_seconds_ends_at_the_next_whole_minute() {
        // London's clocks went from local mean time to GMT, 75 seconds on, at midnight.
        assert_eq!(at("Europe/London", "1847-11-30T23:59"), "1847-12-01T00:00:15Z");
        assert_eq!(at("Europe/London", "1847-12-01T00:00"), "1847-12-01T00:02:00Z");
        assert_eq!(at("Europe/London", "1847-12-01T00:01"), "1847-12-01T00:02:00Z");
        assert_eq!(at("Europe/London", "1847-12-01T00:02"), "1847-12-01T00:02:00Z");
    }

    #[test]
    fn the_ends_of_time_are_held_not_overrun() {
        assert_eq!(at("America/New_York", "9999-12-31T23:59"), Timestamp::MAX.to_string());
        assert_eq!(at("Asia/Tokyo", "-009999-01-01T00:00"), Timestamp::MIN.to_string());
        assert_eq!(at("UTC", "0000-01-01T00:00"), "0000-01-01T00:00:00Z");
    }
}
