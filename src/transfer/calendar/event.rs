//! Writes calendar events: one for each reminder, one for each pending follow-up.

use std::collections::{HashMap, HashSet};

use jiff::{Timestamp, civil};

use super::text::CalendarWriter;
use super::zone::local;
use crate::format::commitment::Commitment;
use crate::format::reminder::{DateText, Recur, Reminder, ReminderLine, TimeText};
use crate::schedule::{self, Series, Zone};

/// Of a daily reminder, so many occurrences are looked at for clock changes: four years of them.
const MAX_OCCURRENCES: usize = 4 * 366;

/// Writes events.
pub(super) struct Events<'a> {
    zone: &'a Zone,
    stamp: String,
    last_year: i16,
    out: &'a mut CalendarWriter,
    /// How often each id was used: two lines that differ may bear the same.
    used: HashMap<String, usize>,
    /// Identical lines are one reminder.
    seen: HashSet<Vec<u8>>,
}

impl<'a> Events<'a> {
    pub(super) fn new(zone: &'a Zone, now: Timestamp, last_year: i16, out: &'a mut CalendarWriter) -> Self {
        Self { zone, stamp: utc(now), last_year, out, used: HashMap::new(), seen: HashSet::new() }
    }

    pub(super) fn reminder(&mut self, line: &ReminderLine) {
        if !self.seen.insert(line.text.clone()) {
            return;
        }
        let reminder = &line.reminder;
        // A line that has no id yet is known by its words until it gets one.
        let id = reminder
            .id
            .map_or_else(|| blake3::hash(&line.text).to_hex()[..16].to_owned(), |id| id.to_string());
        let series = Series::from(reminder);
        let mut start = series.start();
        if reminder.recur == Recur::None {
            // The time at which it really comes, should the clocks skip the one that the line says.
            start = self.zone.tz().to_datetime(schedule::resolve(self.zone, start));
        }
        self.begin(&id);
        self.out.line(&format!("DTSTART;TZID={}", self.zone.name()), &local(start));
        if let Some(rule) = rule(reminder) {
            self.out.line("RRULE", &rule);
        }
        let note = self.first_differing_date(reminder);
        self.end(&reminder.msg, note.as_deref(), "Reminder");
    }

    pub(super) fn commitment(&mut self, commitment: &Commitment) {
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

    /// The dates at which clocks skip the time of a recurring reminder, so that a calendar may show another time.
    fn first_differing_date(&self, reminder: &Reminder) -> Option<String> {
        if reminder.recur == Recur::None {
            return None;
        }
        let differs = |occurrence: &schedule::Occurrence| {
            let told = self.zone.tz().to_datetime(occurrence.at);
            (told != occurrence.local).then_some((occurrence.local, told))
        };
        let near = schedule::occurrences(self.zone, reminder).take(MAX_OCCURRENCES);
        let mut near = near.take_while(|occurrence| occurrence.local.year() <= self.last_year);
        let (said, told) = near.find_map(|occurrence| differs(&occurrence))?;
        let day = |at: civil::DateTime| format!("{} {}", DateText(at.date()), TimeText(at.time()));
        Some(format!("The clocks skip {}: vault-agent tells this at {}.", day(said), day(told)))
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
            let days: Vec<String> = (28..=meant).map(|day| day.to_string()).collect();
            if meant <= 28 {
                format!("FREQ=MONTHLY;BYMONTHDAY={meant}")
            } else {
                format!("FREQ=MONTHLY;BYMONTHDAY={};BYSETPOS=-1", days.join(","))
            }
        }
    })
}

/// `20261201T093000Z`.
fn utc(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}
