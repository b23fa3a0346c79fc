//! Converts local times of a zone to instants and back, also at clock changes. Pure.
//!
//! A local time that the clocks skip is converted to the first whole minute after the gap. A local time that occurs
//! twice is converted to the earlier instant.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};

/// The instant of the local time `local`.
///
/// A time that the clocks skip (spring forward) is the first valid minute after the gap: on 2026-03-29 in London 01:00,
/// 01:30 and 01:59 are all 02:00 BST. A time that comes twice (fall back) is the earlier of the two. Instants outside
/// those that can be represented (the last hours of year 9999) become the nearest that can.
pub fn resolve(tz: &TimeZone, local: DateTime) -> Timestamp {
    match tz.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => ordinary(local, offset),
        AmbiguousOffset::Fold { before, .. } => ordinary(local, before),
        AmbiguousOffset::Gap { before, after } => after_gap(tz, local, before, after),
    }
}

/// The local time that [`resolve`] takes for this instant, or the first one that it takes for a later instant: local
/// times that come twice mean the first of the two, so for the second one it is the end of that hour.
pub fn local_time(tz: &TimeZone, at: Timestamp) -> DateTime {
    let local = tz.to_datetime(at);
    let AmbiguousOffset::Fold { before, after } = tz.to_ambiguous_timestamp(local).offset() else {
        return local;
    };
    let just_after = at.saturating_add(1.second()).unwrap_or(at);
    let change = tz.preceding(just_after).next().filter(|_| tz.to_offset(at) == after);
    let end = change.and_then(|change| change.timestamp().checked_add(after.duration_until(before)).ok());
    end.map_or(local, |end| tz.to_datetime(end))
}

/// `local` at a fixed offset, held within what a timestamp can represent.
fn ordinary(local: DateTime, offset: Offset) -> Timestamp {
    offset.to_timestamp(local).unwrap_or(if local.year() < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// The end of the gap that holds `local`. Read with the later offset `local` lies before the change,
/// read with the earlier one it lies at or after it; so the change is the first one to `after` from
/// there on.
fn after_gap(tz: &TimeZone, local: DateTime, before: Offset, after: Offset) -> Timestamp {
    let (earliest, latest) = (ordinary(local, after), ordinary(local, before));
    tz.following(earliest)
        .take_while(|change| change.timestamp() <= latest)
        .find(|change| change.offset() == after)
        .map_or(latest, |change| end_of_gap(change.timestamp(), after).1)
}

/// The first whole local minute at or after the change at `at` to `offset`, and its instant. (Before
/// standard time some zones jumped by odd seconds.)
pub(crate) fn end_of_gap(at: Timestamp, offset: Offset) -> (DateTime, Timestamp) {
    let local = offset.to_datetime(at);
    let odd = i64::from(local.second());
    let wait = SignedDuration::from_secs(if odd == 0 { 0 } else { 60 - odd });
    (local.saturating_add(wait), at.saturating_add(wait).unwrap_or(Timestamp::MAX))
}
