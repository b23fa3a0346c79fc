//! Resolves times of day: the minutes of a day that a clock's words can mean.

use super::{NoMeaning, Resolver, reason};
use crate::when::day_part::Part;
use crate::when::phrase::{Clock, Day};

/// The time of day of a phrase that names a day and no time: 09:00.
const MORNING: u16 = 540;

impl Resolver<'_> {
    /// The minutes of the day, each with the days to go on from the one that is named (1 for its end).
    pub(super) fn times(
        &self,
        clock: Option<Clock>,
        part: Option<Part>,
        day: Option<&Day>,
    ) -> Vec<Result<(u16, i32), NoMeaning>> {
        let given = match clock {
            None => {
                let default = if self.here.past { 0 } else { MORNING };
                return vec![Ok((part.map_or(default, Part::default), 0))];
            }
            Some(Clock::Midnight) => return midnights(part, day),
            Some(Clock::Noon) => vec![720],
            Some(Clock::At(minute)) => vec![minute],
            Some(Clock::Half(minute)) if part.is_none() => vec![minute],
            Some(Clock::Half(minute) | Clock::Dial(minute)) => vec![minute % 720, minute % 720 + 720],
        };
        let Some(part) = part else { return given.into_iter().map(|minute| Ok((minute, 0))).collect() };
        let (first, last) = part.range();
        let fit: Vec<_> = given.iter().filter(|minute| (first..=last).contains(*minute)).collect();
        if fit.is_empty() {
            let shown = given
                .first()
                .map_or_else(String::new, |minute| format!("{:02}:{:02}", minute / 60, minute % 60));
            return vec![Err(reason(format!("`{shown}` is not in the {}", part.name())))];
        }
        fit.into_iter().map(|minute| Ok((*minute, 0))).collect()
    }
}

/// A day has a midnight at each end; alone, and with its evening, the one to come is meant.
fn midnights(part: Option<Part>, day: Option<&Day>) -> Vec<Result<(u16, i32), NoMeaning>> {
    match (part, day) {
        (None, None) => vec![Ok((0, 0))],
        (None, Some(_)) => vec![Ok((0, 0)), Ok((0, 1))],
        (Some(Part::Evening | Part::Night), Some(_)) => vec![Ok((0, 1))],
        (Some(part), _) => vec![Err(reason(format!("midnight is not in the {}", part.name())))],
    }
}
