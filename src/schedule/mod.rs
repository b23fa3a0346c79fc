//! Computes times: local times in any zone, the dates of a recurrence, and which occurrence is due, was missed or comes
//! next.
//!
//! Pure: no clock, no file, no zone database of the machine. The zones come from the IANA database bundled with jiff
//! ([`database_version`]), so the same lines have the same instants on every machine.
//!
//! A reminder line holds a *local* date and time. The engine never adds seconds to an instant. It steps civil dates
//! ([`Series`]) and converts each date by itself to an instant in the zone ([`resolve`]). So a recurrence keeps its
//! local time of day across clock changes. Three rules differ from those of other tools:
//!
//! - A local time that the clocks skip becomes the first valid minute after the gap (not the time shifted by the gap's
//!   length). A local time that occurs twice means its first occurrence.
//! - A monthly reminder on a day that the month lacks comes on the month's last day (RFC 7529 `SKIP=BACKWARD`). It then
//!   returns to the day that was meant, which `day=` remembers.
//! - Where the calendar itself skips a whole day (Pacific/Apia had no 2011-12-30), that day's occurrence of a daily
//!   reminder comes at the first minute of the next day. If the next day's own occurrence falls on the same instant
//!   (`time=00:00`), the two are one occurrence with the later date. So a reminder never has two notifications at one
//!   instant, and the earlier date doesn't count as missed.
//!
//! The index of the occurrence at an instant is computed, never searched from the start, so an old reminder costs
//! hardly more than a new one.
//!
//! - `zone`: zones, from local time to instants, and the check of the zones' data;
//! - `reminder_dates`: the dates of a reminder ([`Series`]); [`task_dates`]: the dates of other plugins' task lines;
//!   `routine_times`: the occurrences of routines;
//! - `due`: due occurrences; `lateness`: which occurrences count as missed, and digests of them;
//! - `pause`: the span in which the program does no unasked work.

mod due;
mod lateness;
mod pause;
mod reminder_dates;
mod routine_times;
pub mod task_dates;
mod zone;

pub use due::{DueInstant, DueReminder, Occurrence};
pub use lateness::{DigestRule, is_missed, needs_digest};
pub use pause::Pause;
pub use reminder_dates::Series;
pub use routine_times::Timetable;
pub use zone::{
    Difference, Zone, compare_zone_data, database_version, exact_instant, other_database_version, resolve,
};

use jiff::Timestamp;

use crate::format::reminder::Reminder;

/// The occurrences of `reminder` in order, from its own date on; one for a one-off.
///
/// Lazy and finite: it ends with the calendar, in year 9999.
pub fn occurrences<'z>(zone: &'z Zone, reminder: &Reminder) -> impl Iterator<Item = Occurrence> + use<'z> {
    due::occurrences_from(zone, reminder.into(), 0)
}

/// The due occurrence of `reminder` at `now`, if there is one.
///
/// For many reminders at one instant make a [`DueInstant`] once and ask that.
pub fn due(zone: &Zone, reminder: &Reminder, now: Timestamp) -> Option<DueReminder> {
    DueInstant::new(zone, now).due(reminder)
}

/// The first occurrence of `reminder` strictly after the instant `after`.
pub fn next_occurrence(zone: &Zone, reminder: &Reminder, after: Timestamp) -> Option<Occurrence> {
    DueInstant::new(zone, after).next(reminder)
}
