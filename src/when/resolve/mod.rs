//! Resolves a phrase for a time to the local times that it can mean, or to the reason why there is none.
//!
//! The phrase is read from a given instant and zone. A day or a time of day is read on the local clock. A length of
//! time in hours and minutes is added to the instant, so `in 2 hours` is two hours over a clock change, too. If a
//! phrase has several meanings (`next friday`, `midnight` of a day, `at 9`), all are returned.

mod day;

use jiff::civil::{self, DateTime};
use jiff::{SignedDuration, Span, Timestamp, Unit};

use super::lexicon::Language;
use super::phrase::{DayPhrase, Length, Moment, Phrase, RepeatPhrase, TimePhrase};
use super::term::DayPart;
use crate::format::reminder::Recur;
use crate::schedule::{self, Zone};

/// The time of day of a phrase that names a day and no time: 09:00.
const MORNING: i32 = 540;

/// One meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// The local time, in whole minutes.
    pub local: DateTime,
    /// The instant itself, to the second where the phrase counts from now.
    pub at: Timestamp,
    /// How it comes again.
    pub recur: Recur,
}

/// One meaning, or the reason in words why there is none.
pub type MeaningResult = Result<Meaning, String>;

/// The time and the zone that a phrase is read for.
#[derive(Debug, Clone, Copy)]
pub struct PhraseContext<'a> {
    /// The instant.
    pub now: Timestamp,
    /// The zone.
    pub zone: &'a Zone,
    /// Whether the past is meant: the last Friday, not the next.
    pub is_past: bool,
}

/// The rules of one language at one instant.
struct Resolver<'a> {
    here: PhraseContext<'a>,
    /// The local time now.
    local: DateTime,
    language: &'a Language,
}

/// All meanings of one reading of a phrase.
pub fn resolve(phrase: &Phrase, language: &Language, here: PhraseContext<'_>) -> Vec<MeaningResult> {
    let resolver = Resolver { here, local: here.zone.tz().to_datetime(here.now), language };
    match phrase {
        Phrase::Refused(why) => vec![Err(why.clone())],
        Phrase::Now => vec![of_instant(here.now, here)],
        Phrase::After(length) => vec![resolver.moved(*length)],
        Phrase::Moment(moment) => resolver.moments(*moment),
    }
}

fn beyond<E>(_: E) -> String {
    "it is beyond the calendar".to_owned()
}

/// Up to the next whole minute.
fn round_up(local: DateTime) -> Result<DateTime, String> {
    let up = civil::DateTimeRound::new().smallest(Unit::Minute).mode(jiff::RoundMode::Ceil);
    let local = local.round(up).map_err(beyond)?;
    if (1..=9999).contains(&local.year()) { Ok(local) } else { Err(beyond(())) }
}

/// A local time that was given in full, to the second.
pub fn of_local(local: DateTime, here: PhraseContext<'_>) -> MeaningResult {
    let at = schedule::resolve(here.zone, local);
    Ok(Meaning { local: round_up(local)?, at, recur: Recur::None })
}

/// The local time of an instant. If the clocks go back and show this local time for the second time, the local time
/// alone names the earlier instant.
pub fn of_instant(at: Timestamp, here: PhraseContext<'_>) -> MeaningResult {
    Ok(Meaning { local: round_up(here.zone.tz().to_datetime(at))?, at, recur: Recur::None })
}

impl Resolver<'_> {
    /// So much later than now: months and days on the calendar, the rest on the clock.
    fn moved(&self, length: Length) -> MeaningResult {
        let day = self.local.checked_add(length.span()?).map_err(beyond)?;
        if length.seconds == 0 {
            return of_local(day, self.here);
        }
        let from = if day == self.local { self.here.now } else { schedule::resolve(self.here.zone, day) };
        of_instant(from.checked_add(SignedDuration::from_secs(length.seconds)).map_err(beyond)?, self.here)
    }

    fn moments(&self, moment: Moment) -> Vec<MeaningResult> {
        let day = moment.day;
        if let Moment { day: Some(DayPhrase::After(length)), clock: None, part: None } = moment {
            return vec![self.moved(length)];
        }
        let recur = match day {
            Some(DayPhrase::Every(RepeatPhrase::Day)) => Recur::Daily,
            Some(DayPhrase::Every(RepeatPhrase::Week(_))) => Recur::Weekly,
            Some(DayPhrase::Every(RepeatPhrase::Month(_))) => Recur::Monthly,
            _ => Recur::None,
        };
        let times = match self.times(moment) {
            Ok(times) => times,
            Err(problem) => return vec![Err(problem)],
        };
        let moments = times.into_iter().flat_map(|(minute, later)| {
            self.dates(day, minute).into_iter().map(move |date| {
                let length = Span::new().days(later).minutes(minute);
                let local = date?.at(0, 0, 0, 0).checked_add(length).map_err(beyond)?;
                Ok(Meaning { recur, ..of_local(local, self.here)? })
            })
        });
        moments.collect()
    }

    /// The minutes of the day, each with the days to go on from the one that is named (1 for its end).
    fn times(&self, Moment { day, clock, part }: Moment) -> Result<Vec<(i32, i32)>, String> {
        let given = match clock {
            None => {
                let default = if self.here.is_past { 0 } else { MORNING };
                return Ok(vec![(part.map_or(default, |part| part.minutes().1), 0)]);
            }
            Some(TimePhrase::Midnight) => return midnights(part, day),
            Some(TimePhrase::Noon) => vec![720],
            Some(TimePhrase::At(minute)) => vec![minute],
            Some(TimePhrase::Half(minute)) if part.is_none() => vec![minute],
            Some(TimePhrase::Half(minute) | TimePhrase::Dial(minute)) => {
                vec![minute % 720, minute % 720 + 720]
            }
        };
        let fits = |minute: &&i32| part.is_none_or(|part| part.minutes().0.contains(*minute));
        let fit: Vec<(i32, i32)> = given.iter().filter(fits).map(|minute| (*minute, 0)).collect();
        if let ([], [minute, ..], Some(part)) = (&fit[..], &given[..], part) {
            let shown = format!("{:02}:{:02}", minute / 60, minute % 60);
            return Err(format!("`{shown}` is not in the {}", part.name()));
        }
        Ok(fit)
    }

    /// Whether this minute of today is over, for good: in the second hour of a clock that goes back, those of the hour
    /// are.
    fn is_over(&self, minute: i32) -> bool {
        minute < self.minute()
            || self.today_at(minute).duration_until(self.here.now) >= SignedDuration::from_mins(1)
    }

    /// Whether this minute of today has not come yet.
    fn is_to_come(&self, minute: i32) -> bool {
        minute > self.minute() && self.today_at(minute) > self.here.now
    }

    /// The minute of the day now.
    fn minute(&self) -> i32 {
        i32::from(self.local.hour()) * 60 + i32::from(self.local.minute())
    }

    /// The instant of a minute of today.
    fn today_at(&self, minute: i32) -> Timestamp {
        let local = self.local.date().at(0, 0, 0, 0).saturating_add(Span::new().minutes(minute));
        schedule::resolve(self.here.zone, local)
    }
}

impl Length {
    pub fn span(self) -> Result<Span, String> {
        let months = Span::new().try_months(self.months).map_err(beyond)?;
        months.try_days(self.days).map_err(beyond)
    }

    pub fn negated(self) -> Self {
        Length { months: -self.months, days: -self.days, seconds: -self.seconds }
    }
}

/// A day has a midnight at each end; alone, and with its evening, the one to come is meant.
fn midnights(part: Option<DayPart>, day: Option<DayPhrase>) -> Result<Vec<(i32, i32)>, String> {
    match (part, day) {
        (None, None) => Ok(vec![(0, 0)]),
        (None, Some(_)) => Ok(vec![(0, 0), (0, 1)]),
        (Some(DayPart::Evening | DayPart::Night), Some(_)) => Ok(vec![(0, 1)]),
        (Some(part), _) => Err(format!("midnight is not in the {}", part.name())),
    }
}
