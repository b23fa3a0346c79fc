//! Defines the agenda's values. An entry is a reminder, follow-up, task or routine at one time, with its state. Also
//! defines the interval of instants that a range of days covers.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::Serialize;

use crate::format::reminder::RemindersFile;
use crate::reminders::rfc3339;
use crate::schedule;
use crate::words::words;
use crate::workspace::Workspace;

/// A past delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeliveryDetail {
    /// When it was sent, in the vault's zone.
    pub at: Option<String>,
    /// How late that was, in seconds.
    pub late_seconds: i64,
    /// How many earlier occurrences were folded into it.
    pub missed: u32,
    /// The notifiers that took it, the counting one first. Empty for rows that an earlier version of the journal wrote.
    pub by: Vec<String>,
    /// The reason why it was not sent, or the outcome of a routine's run.
    pub outcome: Option<String>,
}

/// The most entries of one answer; it says where there are more.
pub const MOST_ENTRIES: usize = 5_000;

words! {
    /// The kind of an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum EntryKind, as_str {
        /// A reminder.
        Reminder = "reminder",
        /// A follow-up.
        FollowUp = "follow-up",
        /// A task of another plugin.
        Task = "task",
        /// A routine.
        Routine = "routine",
    }
}

words! {
    /// The state of an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EntryState, as_str {
        /// It will be sent, or run.
        Coming = "coming",
        /// A later occurrence of another plugin's task: it comes only once the occurrence before it is done.
        IfDone = "if-done",
        /// Its time has come, and it is not sent yet.
        Late = "late",
        /// It was sent.
        Told = "told",
        /// It was not sent, and won't be.
        NotTold = "not-told",
        /// A routine ran, or runs.
        Ran = "ran",
    }
}

/// One item at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgendaEntry {
    /// Its kind.
    pub kind: EntryKind,
    /// Its id, once it has one; a routine's name.
    pub id: Option<String>,
    /// Its text.
    pub msg: String,
    /// Its note.
    pub path: String,
    /// Its line in that note, from 1, if the note still has it.
    pub line: Option<usize>,
    /// When it is or was due, in the vault's zone.
    pub at: String,
    /// The local day of that.
    pub date: Date,
    /// The local time of that, `HH:MM`.
    pub time: String,
    /// Its recurrence; `None` for a one-off.
    pub recur: Option<String>,
    /// How many occurrences the entry stands for: one entry holds a whole day of a routine that runs more than four
    /// times a day.
    pub times: usize,
    /// Its state.
    pub state: EntryState,
    /// Its delivery.
    pub told: Option<DeliveryDetail>,
    /// When it is or was due, as an instant.
    #[serde(skip)]
    pub instant: Timestamp,
    /// The local time as its line has it: another than `time` where the clocks leave that out.
    #[serde(skip)]
    pub written: DateTime,
}

impl AgendaEntry {
    pub(super) fn new(
        kind: EntryKind,
        id: Option<String>,
        msg: String,
        at: Timestamp,
        tz: &TimeZone,
    ) -> Self {
        let local = tz.to_datetime(at);
        Self {
            kind,
            id,
            msg,
            path: String::new(),
            line: None,
            at: rfc3339(at, tz),
            date: local.date(),
            time: local.strftime("%H:%M").to_string(),
            recur: None,
            times: 1,
            state: EntryState::Coming,
            told: None,
            instant: at,
            written: local,
        }
    }
}

/// The agenda of a range of days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Agenda {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// Coming and past entries, in order of time.
    pub entries: Vec<AgendaEntry>,
    /// Whether there are more entries than the limit.
    pub more: bool,
    /// Notes that couldn't be read.
    pub problems: Vec<String>,
    /// The note of reminders, as it was read.
    #[serde(skip)]
    pub reminders: RemindersFile,
}

/// The instants of a range of days, and the present.
pub(super) struct DaySpan<'w> {
    pub workspace: &'w Workspace,
    /// The first day's midnight.
    pub from: Timestamp,
    /// The midnight after the last day.
    pub to: Timestamp,
    /// The present.
    pub now: Timestamp,
}

impl<'w> DaySpan<'w> {
    /// Of the days from `from` to `to`, both included.
    pub fn new(workspace: &'w Workspace, from: Date, to: Date) -> Self {
        let midnight = |date: Date| schedule::resolve(&workspace.zone, date.to_datetime(Time::midnight()));
        let after = to.tomorrow().map_or(Timestamp::MAX, midnight);
        Self { workspace, from: midnight(from), to: after, now: workspace.clock.now() }
    }

    /// The instant just before the first coming entry.
    pub fn last_past_instant(&self) -> Timestamp {
        let just_before = self.from.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(self.from);
        just_before.max(self.now)
    }

    /// Whether an instant lies in it.
    pub fn holds(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

/// The first and the last day of a month, given as `2026-12`.
pub fn month(text: &str) -> Option<(Date, Date)> {
    let (year, month) = text.split_once('-').filter(|(year, month)| (year.len(), month.len()) == (4, 2))?;
    let first = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    Some((first, first.last_of_month()))
}

/// Monday and Sunday of the week of a day.
pub fn week(day: Date) -> (Date, Date) {
    let back = i64::from(day.weekday().to_monday_zero_offset());
    let monday = day.saturating_sub(back.days());
    (monday, monday.saturating_add(6.days()))
}

/// Occurrences by their day; of a day with more than four, the first stands for all.
#[cfg_attr(not(feature = "assistant"), allow(dead_code))]
pub(super) fn by_day(
    all: impl Iterator<Item = Timestamp>,
    tz: &TimeZone,
) -> impl Iterator<Item = (Timestamp, usize)> {
    let mut days: BTreeMap<Date, Vec<Timestamp>> = BTreeMap::new();
    for at in all {
        days.entry(tz.to_datetime(at).date()).or_default().push(at);
    }
    days.into_values().flat_map(|day| match day.len() {
        0..=4 => day.into_iter().map(|at| (at, 1)).collect::<Vec<_>>(),
        count => vec![(day[0], count)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_weeks_are_days() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(month("2024-02"), Some((day("2024-02-01"), day("2024-02-29"))));
        for text in ["", "2024", "2024-13", "24-02", "2024-2", "2024-02-01"] {
            assert_eq!(month(text), None, "{text}");
        }
        assert_eq!(week(day("2026-12-01")), (day("2026-11-30"), day("2026-12-06")));
        assert_eq!(week(day("2026-12-06")), (day("2026-11-30"), day("2026-12-06")));
    }

    #[test]
    fn what_comes_often_in_a_day_is_one() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let often = (0..24).map(|hour| at(&format!("2026-12-01T{hour:02}:30:00Z")));
        let all: Vec<_> = by_day(often.chain([at("2026-12-02T08:00:00Z")]), &TimeZone::UTC).collect();
        assert_eq!(all, [(at("2026-12-01T00:30:00Z"), 24), (at("2026-12-02T08:00:00Z"), 1)]);
    }
}
