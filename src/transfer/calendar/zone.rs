//! Writes a zone's rules as a `VTIMEZONE`: each change of the clocks in a span of years, by its date.
//!
//! Dates and not rules: a zone whose changes follow the moon (Morocco) or a government has no rule, and the dates are
//! exactly those of the scheduler. Calendars that know the zone by its name use their own rules anyway.

use jiff::Timestamp;
use jiff::civil::{self, Date};
use jiff::tz::Offset;

use super::CalendarWriter;
use crate::schedule::Zone;

/// Changes from one offset to another, under one name.
#[derive(PartialEq)]
struct Observance {
    is_dst: bool,
    from: Offset,
    to: Offset,
    name: String,
}

/// Writes the zone's rules from the beginning of `first_year` to the end of `last_year`.
pub(super) fn write(zone: &Zone, first_year: i16, last_year: i16, out: &mut CalendarWriter) {
    out.line("BEGIN", "VTIMEZONE");
    out.line("TZID", zone.name());
    for (observance, starts) in observances(zone, first_year, last_year) {
        let kind = if observance.is_dst { "DAYLIGHT" } else { "STANDARD" };
        out.line("BEGIN", kind);
        out.line("DTSTART", &local(starts[0]));
        let more: Vec<String> = starts[1..].iter().map(|start| local(*start)).collect();
        if !more.is_empty() {
            out.line("RDATE", &more.join(","));
        }
        out.line("TZOFFSETFROM", &offset(observance.from));
        out.line("TZOFFSETTO", &offset(observance.to));
        out.text("TZNAME", &observance.name);
        out.line("END", kind);
    }
    out.line("END", "VTIMEZONE");
}

/// The observances at the beginning of the span and after each change, with the local times (by the
/// offset before) at which it begins.
fn observances(zone: &Zone, first_year: i16, last_year: i16) -> Vec<(Observance, Vec<civil::DateTime>)> {
    let year = |year: i16| Date::new(year.clamp(1, 9998), 1, 1).expect("every year has a first of January");
    let begin = year(first_year).to_datetime(civil::Time::midnight());
    let instant = |date: Date| {
        zone.tz().to_timestamp(date.to_datetime(civil::Time::midnight())).unwrap_or(Timestamp::MIN)
    };
    let (from, to) = (instant(year(first_year)), instant(year(last_year.saturating_add(1))));
    let at_first = zone.tz().to_offset_info(from);
    let mut before = at_first.offset();
    let first = Observance {
        is_dst: at_first.dst().is_dst(),
        from: before,
        to: before,
        name: at_first.abbreviation().to_owned(),
    };
    let mut all = vec![(first, vec![begin])];
    for change in zone.tz().following(from).take_while(|change| change.timestamp() < to) {
        let observance = Observance {
            is_dst: change.dst().is_dst(),
            from: before,
            to: change.offset(),
            name: change.abbreviation().to_owned(),
        };
        let start = before.to_datetime(change.timestamp());
        before = change.offset();
        match all.iter_mut().skip(1).find(|(known, _)| *known == observance) {
            Some((_, starts)) => starts.push(start),
            None => all.push((observance, vec![start])),
        }
    }
    all
}

/// A local time as RFC 5545 writes it.
pub(super) fn local(at: civil::DateTime) -> String {
    at.strftime("%Y%m%dT%H%M%S").to_string()
}

/// An offset as RFC 5545 writes it: `+0100`, with seconds only where there are any.
fn offset(offset: Offset) -> String {
    Timestamp::UNIX_EPOCH.to_zoned(offset.to_time_zone()).strftime("%z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, from: i16, to: i16) -> String {
        let mut out = CalendarWriter::default();
        write(&Zone::get(name).unwrap(), from, to, &mut out);
        out.0.replace("\r\n", "\n")
    }

    #[test]
    fn london_for_two_years() {
        insta::assert_snapshot!(written("Europe/London", 2026, 2027), @r"
        BEGIN:VTIMEZONE
        TZID:Europe/London
        BEGIN:STANDARD
        DTSTART:20260101T000000
        TZOFFSETFROM:+0000
        TZOFFSETTO:+0000
        TZNAME:GMT
        END:STANDARD
        BEGIN:DAYLIGHT
        DTSTART:20260329T010000
        RDATE:20270328T010000
        TZOFFSETFROM:+0000
        TZOFFSETTO:+0100
        TZNAME:BST
        END:DAYLIGHT
        BEGIN:STANDARD
        DTSTART:20261025T020000
        RDATE:20271031T020000
        TZOFFSETFROM:+0100
        TZOFFSETTO:+0000
        TZNAME:GMT
        END:STANDARD
        END:VTIMEZONE
        ");
    }

    #[test]
    fn a_zone_without_changes_has_one_observance() {
        insta::assert_snapshot!(written("Asia/Tokyo", 2026, 2046), @r"
        BEGIN:VTIMEZONE
        TZID:Asia/Tokyo
        BEGIN:STANDARD
        DTSTART:20260101T000000
        TZOFFSETFROM:+0900
        TZOFFSETTO:+0900
        TZNAME:JST
        END:STANDARD
        END:VTIMEZONE
        ");
    }
}
