//! Resolves times of day: the minutes of a day that a clock's words can mean.

use super::{NoMeaning, Resolver, reason};
use crate::when::day_part::DayPart;
use crate::when::phrase::{DayPhrase, TimePhrase};

/// The time of day of a phrase that names a day and no time: 09:00.
const MORNING: i32 = 540;

impl Resolver<'_> {
    /// The minutes of the day, each with the days to go on from the one that is named (1 for its end).
    pub(super) fn times(
        &self,
        clock: Option<TimePhrase>,
        part: Option<DayPart>,
        day: Option<DayPhrase>,
    ) -> Result<Vec<(i32, i32)>, NoMeaning> {
        let given = match clock {
            None => {
                let default = if self.here.is_past { 0 } else { MORNING };
                return Ok(vec![(part.map_or(default, DayPart::default), 0)]);
            }
            Some(TimePhrase::Midnight) => return midnights(part, day),
            Some(TimePhrase::Noon) => vec![720],
            Some(TimePhrase::At(minute)) => vec![minute],
            Some(TimePhrase::Half(minute)) if part.is_none() => vec![minute],
            Some(TimePhrase::Half(minute) | TimePhrase::Dial(minute)) => {
                vec![minute % 720, minute % 720 + 720]
            }
        };
        let fits =
            |minute: &&i32| part.is_none_or(|part| (part.range().0..=part.range().1).contains(*minute));
        let fit: Vec<(i32, i32)> = given.iter().filter(fits).map(|minute| (*minute, 0)).collect();
        if let ([], [minute, ..], Some(part)) = (&fit[..], &given[..], part) {
            let shown = format!("{:02}:{:02}", minute / 60, minute % 60);
            return Err(reason(format!("`{shown}` is not in the {}", part.name())));
        }
        Ok(fit)
    }
}

/// A day has a midnight at each end; alone, and with its evening, the one to come is meant.
fn midnights(part: Option<DayPart>, day: Option<DayPhrase>) -> Result<Vec<(i32, i32)>, NoMeaning> {
    match (part, day) {
        (None, None) => Ok(vec![(0, 0)]),
        (None, Some(_)) => Ok(vec![(0, 0), (0, 1)]),
        (Some(DayPart::Evening | DayPart::Night), Some(_)) => Ok(vec![(0, 1)]),
        (Some(part), _) => Err(reason(format!("midnight is not in the {}", part.name()))),
    }
}
