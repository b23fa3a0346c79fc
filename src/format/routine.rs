//! `routines/*.md`: a scheduled prompt each, with a head that says when.
//!
//! ```text
//! ---
//! schedule: daily 08:00
//! scope: channel:1482815120000000000
//! enabled: true
//! ---
//! What is due today?
//! ```
//!
//! `schedule` is `daily HH:MM`, `weekdays HH:MM`, `weekly DAY HH:MM` or `monthly DD HH:MM`, in the vault's
//! time zone; a day that a month lacks is its last. Other keys are somebody else's. The grammar is
//! `grammar/routine.abnf`.

use std::{fmt, str::FromStr};

use jiff::civil::{Time, Weekday};

use super::{
    Finding,
    lines::{frontmatter_end, lines},
    quote,
    reminder::TimeText,
    yaml,
};

/// When a routine runs, in local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Every day.
    Daily(Time),
    /// Monday to Friday.
    Weekdays(Time),
    /// Once a week.
    Weekly(Weekday, Time),
    /// Once a month, on this day (1 to 31) or the month's last.
    Monthly(i8, Time),
}

/// A routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routine {
    /// When it runs.
    pub schedule: Schedule,
    /// Where its answer goes: `console`, `channel:ID`, `thread:ID` or `user:ID`.
    pub scope: Option<String>,
    /// Whether it runs at all; true where the head doesn't say.
    pub enabled: bool,
    /// What is asked: the note below its head, without blank lines around it.
    pub prompt: String,
}

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} is not a schedule: write `daily 08:00`, `weekdays 08:00`, `weekly monday 08:00` or `monthly 1 08:00`"
)]
pub struct ScheduleError(String);

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let clock = |text: &str| {
            let b = text.as_bytes();
            let shaped = b.len() == 5 && b[2] == b':';
            let part =
                |text: &str| text.parse::<i8>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
            Time::new(part(text.get(..2)?)?, part(text.get(3..)?)?, 0, 0).ok().filter(|_| shaped)
        };
        let day = |text: &str| {
            DAYS.iter().find(|(name, _)| *name == text || name[..3] == *text).map(|(_, day)| *day)
        };
        let schedule = match words[..] {
            ["daily", at] => clock(at).map(Schedule::Daily),
            ["weekdays", at] => clock(at).map(Schedule::Weekdays),
            ["weekly", on, at] => day(on).zip(clock(at)).map(|(day, at)| Schedule::Weekly(day, at)),
            ["monthly", on, at] => {
                let on = on.parse().ok().filter(|on| (1..=31).contains(on));
                on.zip(clock(at)).map(|(on, at)| Schedule::Monthly(on, at))
            }
            _ => None,
        };
        schedule.ok_or_else(|| ScheduleError(quote(text)))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Daily(at) => write!(f, "daily {}", TimeText(*at)),
            Schedule::Weekdays(at) => write!(f, "weekdays {}", TimeText(*at)),
            Schedule::Weekly(day, at) => {
                let name = DAYS.iter().find(|(_, known)| known == day).map_or("monday", |(name, _)| name);
                write!(f, "weekly {name} {}", TimeText(*at))
            }
            Schedule::Monthly(day, at) => write!(f, "monthly {day} {}", TimeText(*at)),
        }
    }
}

/// The routine in a note, and what is wrong with its head. A note without a `schedule` is no routine; one
/// with a head that isn't understood doesn't run.
pub fn parse(bytes: &[u8]) -> (Option<Routine>, Vec<Finding>) {
    let mut findings = Vec::new();
    let Some(head_end) = frontmatter_end(bytes) else { return (None, findings) };
    let (mut schedule, mut scope, mut enabled) = (None, None, true);
    for line in lines(bytes).take_while(|line| line.start < head_end) {
        let Some(entry) = yaml::entry(line.text) else { continue };
        let mut wrong = |reason: String, suggestion: &str| {
            let column = String::from_utf8_lossy(&line.text[..entry.place.start]).chars().count() + 1;
            findings.push(Finding { line: line.number, column, reason, suggestion: suggestion.to_owned() });
        };
        match entry.key {
            "schedule" => match entry.value.parse() {
                Ok(found) => schedule = Some(found),
                Err(ScheduleError(shown)) => wrong(
                    format!("{shown} is not a schedule"),
                    "write `daily 08:00`, `weekdays 08:00`, `weekly monday 08:00` or `monthly 1 08:00`",
                ),
            },
            "scope" => scope = Some(entry.value).filter(|scope| !scope.is_empty()),
            "enabled" => match entry.value.as_str() {
                "true" => enabled = true,
                "false" => enabled = false,
                _ => {
                    enabled = false;
                    wrong(
                        format!("{} is neither `true` nor `false`", quote(&entry.value)),
                        "write `enabled: true`",
                    );
                }
            },
            _ => {}
        }
    }
    let prompt = String::from_utf8_lossy(&bytes[head_end..]).trim().to_owned();
    (schedule.map(|schedule| Routine { schedule, scope, enabled, prompt }), findings)
}

/// The whole note.
pub fn render(routine: &Routine) -> String {
    let scope = routine
        .scope
        .as_deref()
        .map(|scope| format!("scope: {}\n", yaml::to_scalar(scope)))
        .unwrap_or_default();
    let (schedule, enabled) = (routine.schedule, routine.enabled);
    format!("---\nschedule: {schedule}\n{scope}enabled: {enabled}\n---\n{}\n", routine.prompt.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_routine_reads_back() {
        for schedule in ["daily 08:00", "weekdays 23:59", "weekly sunday 00:00", "monthly 31 12:30"] {
            let note = format!("---\nschedule: {schedule}\nscope: channel:14\nenabled: false\n---\nAsk.\n");
            let (routine, findings) = parse(note.as_bytes());
            assert_eq!((render(&routine.unwrap()), findings.len()), (note, 0));
        }
        assert!(parse(b"no head").0.is_none());
    }

    #[test]
    fn a_wrong_schedule_is_shown() {
        let (routine, findings) = parse(b"---\nschedule: hourly\nenabled: maybe\n---\n");
        assert!(routine.is_none());
        let shown: Vec<_> = findings.iter().map(|f| (f.line, f.column, f.reason.as_str())).collect();
        assert_eq!(
            shown,
            [(2, 11, "`hourly` is not a schedule"), (3, 10, "`maybe` is neither `true` nor `false`")]
        );
        for text in [
            "daily 24:00",
            "daily 8:00",
            "weekly 08:00",
            "monthly 32 08:00",
            "daily +1:00",
            "monthly é 08:00",
        ] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
