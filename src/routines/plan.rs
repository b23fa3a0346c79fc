//! Computes a routine's due run from its schedule, the journal and the time. Pure.

use jiff::{SignedDuration, Timestamp};

use crate::deliver::journal::RoutineProgress;
use crate::format::routine::RoutineSchedule;
use crate::schedule::{Occurrence, Timetable, Zone};

/// An occurrence to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    /// The latest that came.
    pub occurrence: Occurrence,
    /// How many earlier ones are folded into it.
    pub missed: u32,
}

/// The instant from which the occurrences of a new routine count: its note's last change,
/// rounded down to the minute, so that an occurrence of now is due; or after the last one that its logs show as
/// `answered`, if that is later.
pub fn counted_from(changed: Option<Timestamp>, answered: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let since = changed.map_or(now, |changed| changed.min(now));
    let minute = since.as_second().div_euclid(60) * 60;
    let since = Timestamp::from_second(minute).unwrap_or(since);
    let after = answered.and_then(|at| at.checked_add(SignedDuration::from_secs(1)).ok());
    after.map_or(since, |after| after.max(since))
}

/// A routine's due run: the latest of all occurrences that were neither run nor had nothing to do.
pub fn due(
    zone: &Zone,
    schedule: &RoutineSchedule,
    known: &RoutineProgress,
    now: Timestamp,
) -> Option<PlannedRun> {
    let table = Timetable::new(zone, schedule);
    let before = known.since.saturating_sub(SignedDuration::from_millis(1)).unwrap_or(known.since);
    let after = known.handled.map_or(before, |handled| handled.max(before));
    let occurrence = table.latest(now).filter(|latest| latest.at > after)?;
    let missed = table.count(after, occurrence.at).saturating_sub(1);
    Some(PlannedRun { occurrence, missed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn told(since: &str, handled: Option<&str>, now: &str) -> Option<(String, u32)> {
        let known = RoutineProgress { since: at(since), handled: handled.map(at), ran: None, baseline: None };
        let schedule = "daily 08:00".parse().unwrap();
        let planned = due(&Zone::get("Europe/London").unwrap(), &schedule, &known, at(now))?;
        Some((planned.occurrence.local.to_string(), planned.missed))
    }

    #[test]
    fn what_was_missed_comes_as_one_and_what_came_never_again() {
        let one = |local: &str, missed| Some((local.to_owned(), missed));
        let day = "2026-12-01T00:00:00Z";
        assert_eq!(told(day, None, "2026-12-01T07:59:59Z"), None);
        assert_eq!(told(day, None, "2026-12-01T08:00:00Z"), one("2026-12-01T08:00:00", 0));
        assert_eq!(told(day, None, "2026-12-05T09:00:00Z"), one("2026-12-05T08:00:00", 4));
        let handled = Some("2026-12-05T08:00:00Z");
        assert_eq!(told(day, handled, "2026-12-05T09:00:00Z"), None);
        // The clock went back: nothing comes again.
        assert_eq!(told(day, handled, "2026-12-03T09:00:00Z"), None);
        assert_eq!(told(day, handled, "2026-12-06T08:00:01Z"), one("2026-12-06T08:00:00", 0));
    }

    #[test]
    fn a_routine_counts_from_the_minute_of_its_last_change() {
        let changed = Some(at("2026-12-01T08:00:40Z"));
        let since = |answered, now| counted_from(changed, answered, at(now));
        assert_eq!(since(None, "2026-12-01T08:00:50Z"), at("2026-12-01T08:00:00Z"));
        assert_eq!(since(None, "2026-11-01T08:00:50Z"), at("2026-11-01T08:00:00Z"));
        assert_eq!(
            since(Some(at("2026-11-30T08:00:00Z")), "2026-12-02T08:00:50Z"),
            at("2026-12-01T08:00:00Z")
        );
        assert_eq!(
            since(Some(at("2026-12-02T08:00:00Z")), "2026-12-02T09:00:50Z"),
            at("2026-12-02T08:00:01Z")
        );
        assert_eq!(told("2026-12-01T08:00:00Z", None, "2026-12-01T08:00:50Z").unwrap().1, 0);
        assert_eq!(told("2026-12-01T08:01:00Z", None, "2026-12-01T08:01:50Z"), None);
    }
}
