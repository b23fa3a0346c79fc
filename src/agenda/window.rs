//! Computes the span of instants of some days. Pure.

use std::collections::BTreeMap;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use crate::schedule;
use crate::workspace::Workspace;

/// The instants of some days, and the present.
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
    pub fn before_coming(&self) -> Timestamp {
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
