//! Parses the schedule of a routine, such as `weekdays 08:00`, `every 2h` or five cron fields. Tells whether a routine
//! runs on a day, lists the local times of that day's runs, and renders the schedule in words. Pure.

use std::{fmt, str::FromStr};

use jiff::civil::{Date, Time, Weekday};

use super::super::{WEEKDAYS_LOWER, has_shape};
use super::cron::{Cron, digits};

/// When a routine runs, in local time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutineSchedule {
    /// Every day.
    Daily(Time),
    /// Monday to Friday.
    Weekdays(Time),
    /// Once a week.
    Weekly(Weekday, Time),
    /// Once a month, on this day (1 to 31) or the month's last.
    Monthly(i8, Time),
    /// Every so many minutes of the day, counted from midnight; 1 to 1440.
    Every(u16),
    /// Five fields as `cron` has them.
    Cron(Cron),
}

impl Default for RoutineSchedule {
    fn default() -> Self {
        Self::Every(1)
    }
}

/// The correct forms, for a text that is no schedule.
pub(super) const FORMS: &str = "write `daily 08:00`, `weekdays 08:00`, `weekly mon 09:00`, `monthly 1 09:00`, \
`every 15m`, or five cron fields such as `0 8 * * 1-5`";

impl FromStr for RoutineSchedule {
    /// The fault, where it can be named.
    type Err = Option<String>;

    fn from_str(text: &str) -> Result<RoutineSchedule, Option<String>> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let schedule = match words[..] {
            ["daily", at] => clock(at).map(RoutineSchedule::Daily),
            ["weekdays", at] => clock(at).map(RoutineSchedule::Weekdays),
            ["weekly", on, at] => {
                weekday(on).zip(clock(at)).map(|(day, at)| RoutineSchedule::Weekly(day, at))
            }
            ["monthly", on, at] => {
                let on = digits(on).and_then(|on| i8::try_from(on).ok()).filter(|on| (1..=31).contains(on));
                on.zip(clock(at)).map(|(on, at)| RoutineSchedule::Monthly(on, at))
            }
            ["every", length] => every(length).map(RoutineSchedule::Every),
            [_, _, _, _, _] => {
                return words.join(" ").parse().map(RoutineSchedule::Cron).map_err(Some);
            }
            _ => None,
        };
        schedule.ok_or(None)
    }
}

fn clock(text: &str) -> Option<Time> {
    text.parse().ok().filter(|_| has_shape(text, "00:00"))
}

fn weekday(text: &str) -> Option<Weekday> {
    let at = WEEKDAYS_LOWER.iter().position(|name| name == text || name[..3] == *text)?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

/// `15m` or `2h`, up to a day.
fn every(text: &str) -> Option<u16> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let minutes = digits(number)?.checked_mul(match unit {
        "m" => 1,
        "h" => 60,
        _ => return None,
    })?;
    u16::try_from(minutes).ok().filter(|minutes| (1..=1440).contains(minutes))
}

impl RoutineSchedule {
    /// Whether it comes on this day at all.
    pub fn comes_on(&self, date: Date) -> bool {
        match self {
            RoutineSchedule::Daily(_) | RoutineSchedule::Every(_) => true,
            RoutineSchedule::Weekdays(_) => !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday),
            RoutineSchedule::Weekly(day, _) => date.weekday() == *day,
            RoutineSchedule::Monthly(day, _) => date.day() == (*day).min(date.days_in_month()),
            RoutineSchedule::Cron(cron) => cron.comes_on(date),
        }
    }

    /// The local times of a day on which it comes, in order.
    pub fn times(&self) -> Vec<Time> {
        let at = |minute: u16| {
            let (hour, minute) = (minute / 60, minute % 60);
            Time::constant(i8::try_from(hour).unwrap_or(0), i8::try_from(minute).unwrap_or(0), 0, 0)
        };
        match self {
            RoutineSchedule::Daily(time)
            | RoutineSchedule::Weekdays(time)
            | RoutineSchedule::Weekly(_, time)
            | RoutineSchedule::Monthly(_, time) => vec![*time],
            RoutineSchedule::Every(minutes) => (0..1440).step_by(usize::from(*minutes)).map(at).collect(),
            RoutineSchedule::Cron(cron) => cron.minutes().map(at).collect(),
        }
    }

    /// As a person says it: cron's five fields in words, all else as it is written.
    pub fn words(&self) -> String {
        match self {
            Self::Cron(cron) => cron.words(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for RoutineSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoutineSchedule::Daily(at) => write!(f, "daily {}", at.strftime("%H:%M")),
            RoutineSchedule::Weekdays(at) => write!(f, "weekdays {}", at.strftime("%H:%M")),
            RoutineSchedule::Weekly(day, at) => {
                let name = &WEEKDAYS_LOWER[usize::from(day.to_monday_zero_offset().unsigned_abs())];
                write!(f, "weekly {} {}", &name[..3], at.strftime("%H:%M"))
            }
            RoutineSchedule::Monthly(day, at) => write!(f, "monthly {day} {}", at.strftime("%H:%M")),
            RoutineSchedule::Every(minutes) if minutes % 60 == 0 => write!(f, "every {}h", minutes / 60),
            RoutineSchedule::Every(minutes) => write!(f, "every {minutes}m"),
            RoutineSchedule::Cron(cron) => cron.fmt(f),
        }
    }
}
