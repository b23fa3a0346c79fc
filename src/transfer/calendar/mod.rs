//! Writes iCalendar (RFC 5545): reminders and follow-ups for a phone's calendar to subscribe to.
//!
//! A reminder is an event at its local time in the vault's zone, with an alarm; what recurs has a rule.
//! The zone's own rules come with it ([`zone`]), from the same database that the scheduler uses. A
//! follow-up that waits is an event at its instant.
//!
//! Three things to know about how a calendar reads this:
//!
//! - "The 31st" is written as the last of the days 28 to 31 (`BYMONTHDAY=28,29,30,31;BYSETPOS=-1`), which
//!   hits the last day of a shorter month, as the scheduler does. RFC 7529's `SKIP` would say it in one
//!   word, and calendars don't know it.
//! - A local time that the clocks skip: RFC 5545 has a calendar leave that occurrence out, or shift it by
//!   the gap's length; vault-agent tells it at the end of the gap. A one-off is therefore written at the
//!   time that it really comes, and a recurring event says in its description where the two differ.
//! - An event has no length: a reminder is a moment.

mod event;
pub mod text;
pub mod zone;

use jiff::Timestamp;
use jiff::civil::Date;

use self::text::CalendarWriter;
use super::VaultContents;
use crate::format::commitment::CommitmentStatus;

/// How a calendar of ours begins.
pub const FIRST: &str = "BEGIN:VCALENDAR";
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
        zone::write(&contents.zone, first.year(), last_year, &mut out);
    }
    let mut events = event::Events::new(&contents.zone, now, last_year, &mut out);
    reminders.iter().for_each(|line| events.reminder(line));
    let waiting = contents.commitments.1.blocks.iter().map(|block| &block.commitment);
    for commitment in waiting.filter(|commitment| commitment.status == CommitmentStatus::Pending) {
        events.commitment(commitment);
    }
    out.line("END", "VCALENDAR");
    out.finish()
}
