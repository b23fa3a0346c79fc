//! Formats an understood time for confirmation: `Mon 30 Nov 09:00, in 8 days`.
//!
//! If the printed day and time are typed again, they mean the same local time. The year is printed only if the day lies
//! in the past or more than a year ahead.

use jiff::civil::DateTime;
use jiff::tz::AmbiguousOffset;
use jiff::{SignedDuration, Timestamp, ToSpan};

use crate::format::reminder::Recur;
use crate::schedule::{self, Zone};

/// A local time with its weekday and its distance from now; and a remark if a clock change affects it.
///
/// `Mon 30 Nov 09:00, in 8 days`.
pub fn confirmation(local: DateTime, now: Timestamp, zone: &Zone) -> String {
    confirmation_of((local, schedule::resolve(zone, local)), now, zone)
}

/// The same for a local time with its instant, which may be in the second hour of a clock that goes back.
pub fn confirmation_of((local, at): (DateTime, Timestamp), now: Timestamp, zone: &Zone) -> String {
    let (day, far) = (day_and_time(local, now, zone), distance((local, at), now, zone));
    format!("{day}, {far}{}", remark((local, at), zone))
}

/// [`confirmation`] with the recurrence: `Fri 27 Nov 17:00, in 5 days, then weekly`.
pub fn confirmation_with(local: DateTime, recur: Recur, now: Timestamp, zone: &Zone) -> String {
    let said = confirmation(local, now, zone);
    if recur == Recur::None { said } else { format!("{said}, then {recur}") }
}

/// `Mon 30 Nov 09:00`; with its year if that isn't the next 30 November.
pub fn day_and_time(local: DateTime, now: Timestamp, zone: &Zone) -> String {
    let today = zone.tz().to_datetime(now).date();
    let next = today.checked_add(1.year()).is_ok_and(|end| (today..end).contains(&local.date()));
    local.strftime(if next { "%a %-d %b %H:%M" } else { "%a %-d %b %Y %H:%M" }).to_string()
}

/// The distance of a local time from now: `in 8 days`, `tomorrow`, `in 3 h 10 min`, `2 days ago`.
pub fn distance((local, at): (DateTime, Timestamp), now: Timestamp, zone: &Zone) -> String {
    let length = now.duration_until(at);
    let today = zone.tz().to_datetime(now).date();
    let days = today.until(local.date()).map_or(0, |span| span.get_days());
    let near = length.abs() < SignedDuration::from_hours(12) || days == 0;
    match (days, near) {
        (_, true) => near_by(length),
        (1, _) => "tomorrow".to_owned(),
        (-1, _) => "yesterday".to_owned(),
        (2.., _) => format!("in {days} days"),
        _ => format!("{} days ago", -days),
    }
}

fn near_by(length: SignedDuration) -> String {
    let minutes = length.abs().as_mins();
    let shown = match (minutes / 60, minutes % 60) {
        (0, 0) if length.is_positive() => "1 min".to_owned(),
        (0, 0) => return "now".to_owned(),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    };
    if length.is_negative() { format!("{shown} ago") } else { format!("in {shown}") }
}

/// A remark on a local time that the clocks skip or show twice.
fn remark((local, at): (DateTime, Timestamp), zone: &Zone) -> String {
    match zone.tz().to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { .. } => String::new(),
        AmbiguousOffset::Gap { .. } => {
            let comes = zone.tz().to_datetime(at);
            format!(" (the clocks skip that time: it comes at {})", comes.strftime("%H:%M"))
        }
        AmbiguousOffset::Fold { .. } => {
            let which = if schedule::resolve(zone, local) < at { "second" } else { "first" };
            format!(" (the {which} of the two that the clocks show)")
        }
    }
}
