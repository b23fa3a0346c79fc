//! Writes iCalendar (RFC 5545): reminders and follow-ups for a phone's calendar to subscribe to.
//!
//! A reminder is an event at its local time in the vault's zone, with an alarm; a recurring reminder has a rule. The
//! zone's clock changes are written, too, each by its date, because no rule describes the changes of some zones (such
//! as Morocco). A calendar that recognizes the zone by its name uses its own rules anyway. A pending follow-up is an
//! event at its instant.
//!
//! Three limits of calendars:
//!
//! - "The 31st" is written as the last of the days 28 to 31 (`BYMONTHDAY=28,29,30,31;BYSETPOS=-1`), which is the last
//!   day of a shorter month, as the scheduler does. RFC 7529's `SKIP` would be shorter, but calendars don't support it.
//! - If the clocks skip a local time, a calendar leaves that occurrence out, or shifts it by the gap's length (RFC
//!   5545). vault-agent notifies at the end of the gap. So a one-off is written at the time of its notification.
//! - An event has no length, because a reminder is a point in time.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::{self, Date};
use jiff::tz::Offset;

use super::VaultContents;
use crate::format::commitment::{Commitment, CommitmentStatus};
use crate::format::reminder::{Recur, Reminder, ReminderLine};
use crate::format::with_line_feeds;
use crate::reminders::distinct;
use crate::schedule::{self, Series, Zone};

/// The beginning of a calendar that this program writes, and no other.
pub(super) const FIRST: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//vault-agent//";
/// The rules of the zone are written down from the first event until so many years after now.
const YEARS_AHEAD: i16 = 20;

/// The calendar, as of `now`.
pub fn calendar(contents: &VaultContents, now: Timestamp) -> String {
    let mut out = CalendarWriter::default();
    out.line("BEGIN", "VCALENDAR");
    out.line("VERSION", "2.0");
    out.line("PRODID", concat!("-//vault-agent//vault-agent ", env!("CARGO_PKG_VERSION"), "//EN"));
    out.line("CALSCALE", "GREGORIAN");
    out.line("METHOD", "PUBLISH");
    // How a calendar is called and how often it is fetched: the standard's names, and those in use.
    out.text("NAME", &contents.name);
    out.text("X-WR-CALNAME", &contents.name);
    out.text("X-WR-TIMEZONE", contents.zone.name());
    out.line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H");
    out.line("X-PUBLISHED-TTL", "PT1H");
    let reminders = &contents.reminders.1.reminders;
    let today = contents.zone.tz().to_datetime(now).date();
    let first = reminders.iter().map(|line| line.reminder.date).fold(today, Date::min);
    let last_year = today.year().saturating_add(YEARS_AHEAD).min(9998);
    if !reminders.is_empty() {
        write_zone(&contents.zone, first.year(), last_year, &mut out);
    }
    let used = HashMap::new();
    let mut events = Events { zone: &contents.zone, stamp: utc(now), out: &mut out, used };
    distinct(&contents.reminders.1).for_each(|line| events.reminder(line));
    let waiting = contents.commitments.1.blocks.iter().map(|block| &block.commitment);
    for commitment in waiting.filter(|commitment| commitment.status == CommitmentStatus::Pending) {
        events.commitment(commitment);
    }
    out.line("END", "VCALENDAR");
    out.0
}

/// Writes events.
struct Events<'a> {
    zone: &'a Zone,
    stamp: String,
    out: &'a mut CalendarWriter,
    /// How often each id was used: two lines that differ may bear the same.
    used: HashMap<String, usize>,
}

impl Events<'_> {
    fn reminder(&mut self, line: &ReminderLine) {
        let reminder = &line.reminder;
        // A line that has no id yet is known by its words until it gets one.
        let id = reminder
            .id
            .map_or_else(|| blake3::hash(&line.text).to_hex()[..16].to_owned(), |id| id.to_string());
        let mut start = reminder.date.to_datetime(reminder.time);
        if reminder.recur == Recur::None {
            // The time at which it really comes, should the clocks skip the one that the line says.
            start = self.zone.tz().to_datetime(schedule::resolve(self.zone, start));
        }
        self.begin(&id);
        self.out.line(&format!("DTSTART;TZID={}", self.zone.name()), &local(start));
        if let Some(rule) = rule(reminder) {
            self.out.line("RRULE", &rule);
        }
        self.end(&reminder.msg, None, "Reminder");
    }

    fn commitment(&mut self, commitment: &Commitment) {
        let Some(due) = commitment.due else { return };
        let summary = commitment.text.lines().next().unwrap_or_default();
        self.begin(&commitment.id);
        self.out.line("DTSTART", &utc(due));
        let more = (summary != commitment.text).then_some(commitment.text.as_str());
        self.end(summary, more, "Follow-up");
    }

    fn begin(&mut self, id: &str) {
        let count = self.used.entry(id.to_owned()).or_default();
        *count += 1;
        let again = if *count == 1 { String::new() } else { format!("-{count}") };
        self.out.line("BEGIN", "VEVENT");
        self.out.text("UID", &format!("{id}{again}@vault-agent"));
        self.out.line("DTSTAMP", &self.stamp);
    }

    fn end(&mut self, summary: &str, description: Option<&str>, category: &str) {
        self.out.text("SUMMARY", summary);
        if let Some(description) = description {
            self.out.text("DESCRIPTION", description);
        }
        self.out.text("CATEGORIES", category);
        // A reminder doesn't block the calendar.
        self.out.line("TRANSP", "TRANSPARENT");
        self.out.line("BEGIN", "VALARM");
        self.out.line("ACTION", "DISPLAY");
        self.out.text("DESCRIPTION", summary);
        self.out.line("TRIGGER", "PT0S");
        self.out.line("END", "VALARM");
        self.out.line("END", "VEVENT");
    }
}

/// The rule of what comes again.
fn rule(reminder: &Reminder) -> Option<String> {
    Some(match reminder.recur {
        Recur::None => return None,
        Recur::Daily => "FREQ=DAILY".to_owned(),
        Recur::Weekly => "FREQ=WEEKLY".to_owned(),
        Recur::Monthly => {
            let meant = Series::from(reminder).meant();
            let days: Vec<String> = (meant.min(28)..=meant).map(|day| day.to_string()).collect();
            let last = if meant > 28 { ";BYSETPOS=-1" } else { "" };
            format!("FREQ=MONTHLY;BYMONTHDAY={}{last}", days.join(","))
        }
    })
}

/// `20261201T093000Z`.
fn utc(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The most octets of a line, without its end.
const FOLD_AT: usize = 75;

/// Writes content lines.
#[derive(Debug, Default)]
pub struct CalendarWriter(String);

impl CalendarWriter {
    /// A line with a value that needs no escaping.
    pub fn line(&mut self, name: &str, value: &str) {
        let mut room = FOLD_AT;
        for c in name.chars().chain([':']).chain(value.chars()) {
            if c.len_utf8() > room {
                // A folded line goes on behind one space, which counts.
                self.0.push_str("\r\n ");
                room = FOLD_AT - 1;
            }
            self.0.push(c);
            room -= c.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    /// A line with a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.line(name, &escape(text));
    }
}

/// A text as a value: line breaks, commas, semicolons and backslashes escaped; control characters, which
/// no value may hold, are spaces.
pub fn escape(text: &str) -> String {
    let text = with_line_feeds(text);
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push(c),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Changes from one offset to another, under one name.
#[derive(PartialEq)]
struct Observance {
    is_dst: bool,
    from: Offset,
    to: Offset,
    name: String,
}

/// Writes the zone's rules from the beginning of `first_year` to the end of `last_year`.
fn write_zone(zone: &Zone, first_year: i16, last_year: i16, out: &mut CalendarWriter) {
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
    let observance = |at: Timestamp, before: Option<Offset>| {
        let now = zone.tz().to_offset_info(at);
        let (is_dst, to) = (now.dst().is_dst(), now.offset());
        Observance { is_dst, from: before.unwrap_or(to), to, name: now.abbreviation().to_owned() }
    };
    let first = observance(from, None);
    let mut before = first.to;
    let mut all = vec![(first, vec![begin])];
    for change in zone.tz().following(from).take_while(|change| change.timestamp() < to) {
        let observance = observance(change.timestamp(), Some(before));
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
fn local(at: civil::DateTime) -> String {
    at.strftime("%Y%m%dT%H%M%S").to_string()
}

/// An offset as RFC 5545 writes it: `+0100`, with seconds only where there are any.
fn offset(offset: Offset) -> String {
    Timestamp::UNIX_EPOCH.to_zoned(offset.to_time_zone()).strftime("%z").to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_lines_are_folded_between_characters() {
        let mut out = CalendarWriter::default();
        out.text("SUMMARY", &format!("{}é;b\n", "a".repeat(66)));
        assert_eq!(out.0, format!("SUMMARY:{}\r\n é\\;b\\n\r\n", "a".repeat(66)));
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_nothing_is_lost(text in "\\PC{0,200}") {
            let mut out = CalendarWriter::default();
            out.line("X", &text);
            let out = out.0;
            prop_assert!(out.split("\r\n").all(|line| line.len() <= FOLD_AT));
            prop_assert_eq!(out.replace("\r\n ", ""), format!("X:{text}\r\n"));
        }
    }

    fn written(name: &str, from: i16, to: i16) -> String {
        let mut out = CalendarWriter::default();
        write_zone(&Zone::get(name).unwrap(), from, to, &mut out);
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
