//! Computes the occurrence that is due at an instant, and the next one after that instant. An occurrence that was
//! missed while the machine was off is due, too.
//!
//! Any occurrence up to the instant is due, however old. Several missed occurrences of a series become one: the latest,
//! with the number of the earlier ones ([`DueReminder::missed`]). The caller says which occurrences were sent
//! ([`DueInstant::due_after`]); `deliver::pass` asks its journal for that. The latest occurrence is found by arithmetic
//! on the local date and a check of its neighbours; no series is walked from its start.

use jiff::{SignedDuration, Timestamp, civil};

use super::{Series, Zone, resolve};
use crate::format::reminder::Reminder;
use crate::format::task::local_time;

/// One time at which a reminder is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The local date and time as the line says it, also where the clocks skip it.
    pub local: civil::DateTime,
    /// The instant that it is due.
    pub at: Timestamp,
    /// The day of the month that was meant, where the month lacks it (`day=`).
    pub day: Option<i8>,
}

/// A reminder that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueReminder {
    /// The one that the notification is for: of a recurring reminder the latest.
    pub occurrence: Occurrence,
    /// How many earlier ones are folded into it.
    pub missed: u32,
    /// The line's next occurrence after now. `None` for a one-off, whose line is deleted, and for a reminder at the end
    /// of the calendar.
    pub next: Option<Occurrence>,
}

/// An instant in a zone, prepared for asking about many reminders.
#[derive(Debug, Clone, Copy)]
pub struct DueInstant<'z> {
    zone: &'z Zone,
    now: Timestamp,
    local: civil::DateTime,
}

impl<'z> DueInstant<'z> {
    /// The instant `now` in `zone`.
    pub fn new(zone: &'z Zone, now: Timestamp) -> Self {
        Self { zone, now, local: zone.tz().to_datetime(now) }
    }

    /// The due occurrence of a reminder; see [`super::due`].
    pub fn due(&self, reminder: &Reminder) -> Option<DueReminder> {
        let series = reminder.into();
        let latest = self.latest(&series)?;
        self.fold(&series, 0, latest)
    }

    /// Its due occurrence among those after the local time `sent`.
    ///
    /// This is for a line that was delivered but not yet rewritten (a crash, a file that isn't quiet): occurrences that
    /// the journal has as sent are neither due again nor counted as missed.
    pub fn due_after(&self, reminder: &Reminder, sent: civil::DateTime) -> Option<DueReminder> {
        let series = reminder.into();
        let latest = self.latest(&series)?;
        let done = index_at(&series, |local| local <= sent, sent);
        let first = done.map_or(0, |index| index + 1);
        if first > latest {
            return None;
        }
        self.fold(&series, first, latest)
    }

    /// Whether one of its occurrences has this local time.
    pub fn has_occurrence(&self, reminder: &Reminder, local: civil::DateTime) -> bool {
        let series = reminder.into();
        let index = index_at(&series, |at| at <= local, local);
        index.and_then(|index| series.step(index)).is_some_and(|step| step.local == local)
    }

    /// The first occurrence of it after this instant.
    pub fn next(&self, reminder: &Reminder) -> Option<Occurrence> {
        self.occurrences(reminder).next()
    }

    /// The occurrences of it after this instant, in order.
    pub fn occurrences(&self, reminder: &Reminder) -> impl Iterator<Item = Occurrence> + use<'z> {
        let series = reminder.into();
        let index = self.latest(&series).map_or(0, |latest| latest + 1);
        occurrences_from(self.zone, series, index)
    }

    /// The index of the latest occurrence up to now.
    fn latest(&self, series: &Series) -> Option<u32> {
        index_at(series, |local| resolve(self.zone, local) <= self.now, self.local)
    }

    /// The occurrences from index `first` to index `latest` as one.
    fn fold(&self, series: &Series, first: u32, latest: u32) -> Option<DueReminder> {
        let from = occurrence(self.zone, series, first)?;
        let occurrence = occurrence(self.zone, series, latest)?;
        let joined = joined(self.zone, series, from, occurrence);
        Some(DueReminder {
            occurrence,
            missed: (latest - first).saturating_sub(joined),
            next: occurrences_from(self.zone, *series, latest + 1).next(),
        })
    }
}

/// The greatest index whose occurrence is `past`, searched around the local time `near`.
fn index_at(series: &Series, past: impl Fn(civil::DateTime) -> bool, near: civil::DateTime) -> Option<u32> {
    let is_past = |index| series.step(index).is_some_and(|step| past(step.local));
    let mut index = series.index_near(near);
    while !is_past(index) {
        index = index.checked_sub(1)?;
    }
    while is_past(index + 1) {
        index += 1;
    }
    Some(index)
}

fn occurrence(zone: &Zone, series: &Series, index: u32) -> Option<Occurrence> {
    let step = series.step(index)?;
    Some(Occurrence { local: step.local, at: resolve(zone, step.local), day: step.day })
}

/// A zone has fewer listed changes of its clocks than this. Its rules for all years after them skip no day.
const LISTED_CHANGES: usize = 1_000;

/// How many of the occurrences from one to another share their instant with the one after them, because the calendar
/// skipped their day, as at the date line: all but the last of those that fall into the gap or on its end.
fn joined(zone: &Zone, series: &Series, from: Occurrence, to: Occurrence) -> u32 {
    if !series.is_daily() {
        return 0;
    }
    // The first one may stand in a gap itself: then its instant is the end of it.
    let begin = from.at.checked_sub(SignedDuration::from_mins(1)).unwrap_or(Timestamp::MIN);
    let mut before = zone.tz().to_offset(begin);
    let changes = zone.tz().following(begin).take(LISTED_CHANGES);
    let shared = changes.take_while(|change| change.timestamp() <= to.at).map(|change| {
        let (at, after) = (change.timestamp(), change.offset());
        let start = before.to_datetime(at);
        let length = std::mem::replace(&mut before, after).duration_until(after);
        if length < SignedDuration::from_hours(24) {
            return 0;
        }
        let (first, last) = (start.max(from.local), local_time::end_of_gap(at, after).0.min(to.local));
        let days = first.date().series(jiff::Span::new().days(1)).take_while(|day| *day <= last.date());
        let inside = days.map(|day| day.to_datetime(series.time())).filter(|at| first <= *at && *at <= last);
        u32::try_from(inside.count()).unwrap_or(u32::MAX).saturating_sub(1)
    });
    shared.sum()
}

/// The occurrences of a reminder, in order, from one index on; see [`super::occurrences`].
pub(super) fn occurrences_from(
    zone: &Zone,
    series: Series,
    mut index: u32,
) -> impl Iterator<Item = Occurrence> {
    std::iter::from_fn(move || {
        let mut found = occurrence(zone, &series, index)?;
        index += 1;
        // Of two that share their instant, the later counts.
        while let Some(later) = occurrence(zone, &series, index).filter(|later| later.at == found.at) {
            found = later;
            index += 1;
        }
        Some(found)
    })
}
