//! Computes the occurrences of a routine in a time zone: the latest up to an instant, those after an instant, and their
//! number.
//!
//! A routine's schedule and a zone come in; local times with their instants go out. Each matching day is combined with
//! each time of the day, and each pair is converted to an instant by itself.
//!
//! The rules for clock changes are those of reminders. A local time that the clocks skip becomes the first valid minute
//! after the gap. A local time that occurs twice means its first occurrence. If several local times have the same
//! instant, they are one occurrence with the latest local time.

use jiff::civil::{Date, Time};
use jiff::{Span, Timestamp};

use super::{Occurrence, Zone, resolve};
use crate::format::routine::RoutineSchedule;

/// A date that comes at all comes within so many days: 29 February, over a year that is no leap year.
const FAR: usize = 9 * 366;

/// A routine's schedule in a zone.
#[derive(Debug, Clone)]
pub struct Timetable<'z> {
    zone: &'z Zone,
    schedule: &'z RoutineSchedule,
    times: Vec<Time>,
}

impl<'z> Timetable<'z> {
    /// Of this schedule.
    pub fn new(zone: &'z Zone, schedule: &'z RoutineSchedule) -> Self {
        Self { zone, schedule, times: schedule.times() }
    }

    /// The latest occurrence up to `now`.
    pub fn latest(&self, now: Timestamp) -> Option<Occurrence> {
        let today = self.zone.tz().to_datetime(now).date();
        let days = today.tomorrow().unwrap_or(today).series(Span::new().days(-1)).take(FAR);
        let mut all = days.filter(|date| self.schedule.comes_on(*date)).flat_map(|date| {
            let times = self.times.iter().rev();
            times.map(move |time| self.occurrence(date, *time))
        });
        all.find(|occurrence| occurrence.at <= now)
    }

    /// The occurrences after `after`, in order; it ends with the calendar.
    pub fn after(&self, after: Timestamp) -> impl Iterator<Item = Occurrence> + '_ {
        let today = self.zone.tz().to_datetime(after).date();
        let days = today.yesterday().unwrap_or(today).series(Span::new().days(1));
        let all = days.take(20 * FAR).filter(|date| self.schedule.comes_on(*date)).flat_map(move |date| {
            let times = self.times.iter();
            times.map(move |time| self.occurrence(date, *time))
        });
        let mut all = all.skip_while(move |occurrence| occurrence.at <= after).peekable();
        std::iter::from_fn(move || {
            let mut found = all.next()?;
            while let Some(later) = all.next_if(|later| later.at == found.at) {
                found = later;
            }
            Some(found)
        })
    }

    /// How many occurrences there are after `after`, up to `until`.
    pub fn count(&self, after: Timestamp, until: Timestamp) -> u32 {
        let all = self.after(after).take_while(|occurrence| occurrence.at <= until);
        u32::try_from(all.count()).unwrap_or(u32::MAX)
    }

    fn occurrence(&self, date: Date, time: Time) -> Occurrence {
        let local = date.to_datetime(time);
        Occurrence { local, at: resolve(self.zone, local), day: None }
    }
}
