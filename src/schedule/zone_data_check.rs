//! Compares our zone database with another one, for `doctor`.
//!
//! Governments change their clocks at a few weeks' notice, so zone data can be out of date. chrono-tz carries a release
//! of its own; `doctor` shows the dates at which the two differ for the user's zone.
//!
//! `tools/build/zones.rs` asks chrono-tz when the program is built and writes a text. chrono-tz's own tables have a pointer
//! for each change of a clock, and the system sets all of them when a program starts: a sixth of the time of each start.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::Zone;

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

/// The release of chrono-tz, and the first second that the table knows and the first that it doesn't; then a line for all
/// zones with the same offsets: from which second on each counts, and the zones' names.
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
    let both_offsets = |second| both_offsets(zone, other.as_deref(), second);

    let mut differences: Vec<Difference> = Vec::new();
    let mut begin = from.as_second().max(first);
    while begin < end {
        let change = next_change(begin, end, &both_offsets);
        let (ours, theirs) = both_offsets(begin);
        if theirs != Some(ours) {
            differences.push(Difference {
                from: instant(begin),
                until: (change < end).then(|| instant(change)),
                ours,
                theirs,
            });
        }
        begin = change;
    }
    differences
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

/// The first second after `begin` with other opinions than at `begin`, or `end`. Opinions that change
/// and change back within six hours would be overlooked; no zone has done so.
fn next_change(begin: i64, end: i64, both_offsets: &impl Fn(i64) -> BothOffsets) -> i64 {
    const STRIDE: i64 = 6 * 3600;
    let at_begin = both_offsets(begin);
    let mut same = begin;
    loop {
        let probe = (same + STRIDE).min(end);
        if both_offsets(probe) != at_begin {
            return bisect(same, probe, |second| both_offsets(second) == at_begin);
        }
        if probe == end {
            return end;
        }
        same = probe;
    }
}

/// The first second for which `holds` is false, given that it is true at `low` and false at `high`.
fn bisect(mut low: i64, mut high: i64, holds: impl Fn(i64) -> bool) -> i64 {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    high
}

fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}
