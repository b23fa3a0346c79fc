//! `WHEN`: the time of a reminder as people type it, with the `interim` crate for English phrases.
//!
//! Phrases are read on the local clock (a civil time, whose gaps and overlaps the scheduler's own
//! rules resolve later); lengths of time in hours and minutes are added to the instant, so that "in
//! 2 hours" is two hours over a clock change too. `interim` ignores words that it doesn't know, takes
//! `money` for Monday and `next month` for a day of its own; therefore it sees no phrase that isn't one
//! of a few forms, word for word: nothing is guessed.

use interim::{Dialect, Interval, parse_date_string, parse_duration};
use jiff::{SignedDuration, Span, Timestamp, Unit, Zoned, civil, tz::TimeZone};

use crate::schedule::{self, Zone};

/// The time of day of a phrase that names a day and no time.
const DEFAULT_TIME: &str = "09:00";

/// What can't be taken for the time of a reminder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// No rule reads it.
    #[error("can't read `{text}` as a time: {reason}")]
    NotUnderstood {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It has passed.
    #[error("`{text}` is in the past: that is {at}, and it is {now} now")]
    Past {
        /// What was given.
        text: String,
        /// What it means.
        at: String,
        /// The local time.
        now: String,
    },
    /// The clocks go back and show this time twice; it is the second one that was meant.
    #[error(
        "`{text}` is {at} for the second time that night, which a reminder can't name: it would fire an hour too early"
    )]
    SecondTime {
        /// What was given.
        text: String,
        /// The local time.
        at: String,
    },
}

/// What to write instead, for every error of this kind.
pub const WHEN_HINT: &str =
    "write it as `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `17:00` or `1 april 8:15`";

/// Reads `text` as a local time at or after the current minute. Seconds round up to the minute; a day
/// without a time is 09:00; a time without a day is its next occurrence.
///
/// # Errors
/// It can't be read, or it has passed.
pub fn parse_when(text: &str, now: Timestamp, zone: &Zone) -> Result<civil::DateTime, WhenError> {
    let reader = Reader { text: text.trim(), now, zone, local: zone.tz().to_datetime(now) };
    let local = round_up(reader.read()?).ok_or_else(|| reader.not("it is beyond the calendar"))?;
    if !(1..=9999).contains(&local.year()) {
        return Err(reader.not("it is beyond the calendar"));
    }
    let this_minute = reader
        .local
        .round(jiff::civil::DateTimeRound::new().smallest(Unit::Minute).mode(jiff::RoundMode::Trunc));
    let at = schedule::resolve(zone, local);
    if at < now && this_minute.is_ok_and(|minute| local < minute || at + SignedDuration::from_mins(1) <= now)
    {
        return Err(WhenError::Past {
            text: reader.text.to_owned(),
            at: plain(local),
            now: plain(reader.local),
        });
    }
    Ok(local)
}

fn plain(local: civil::DateTime) -> String {
    local.strftime("%Y-%m-%d %H:%M").to_string()
}

fn round_up(local: civil::DateTime) -> Option<civil::DateTime> {
    local.round(civil::DateTimeRound::new().smallest(Unit::Minute).mode(jiff::RoundMode::Ceil)).ok()
}

struct Reader<'a> {
    text: &'a str,
    now: Timestamp,
    zone: &'a Zone,
    local: civil::DateTime,
}

impl Reader<'_> {
    fn not(&self, reason: impl Into<String>) -> WhenError {
        WhenError::NotUnderstood { text: self.text.to_owned(), reason: reason.into() }
    }

    fn read(&self) -> Result<civil::DateTime, WhenError> {
        if self.text.is_empty() {
            return Err(self.not("it is empty"));
        }
        if let Some(local) = self.iso()? {
            return Ok(local);
        }
        let lower = self.text.to_lowercase();
        if let Some(local) = self.length(&lower)? {
            return Ok(local);
        }
        self.phrase(&lower)
    }

    /// `2026-12-01 09:30`, `2026-12-01T09:30`, `2026-12-01`, or an instant with its offset.
    fn iso(&self) -> Result<Option<civil::DateTime>, WhenError> {
        let bytes = self.text.as_bytes();
        let is_iso = bytes.len() >= 10
            && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_iso {
            return Ok(None);
        }
        let date: civil::Date = self.text[..10]
            .parse()
            .map_err(|_| self.not(format!("there is no day `{}`", &self.text[..10])))?;
        let rest = self.text[10..].trim_start_matches(['T', 't', ' ']);
        if rest.is_empty() {
            return self.phrase(&format!("{date} {DEFAULT_TIME}")).map(Some);
        }
        if let Ok(at) = self.text.parse::<Timestamp>() {
            return self.local_of(at).map(Some);
        }
        if rest.contains([':']) && !rest.contains(char::is_alphabetic) {
            let time =
                rest.parse::<civil::Time>().map_err(|_| self.not(format!("there is no time `{rest}`")))?;
            return Ok(Some(date.to_datetime(time)));
        }
        Ok(None)
    }

    /// `in 20 minutes`, `2 days`, `1h30m`, `in 1 hour and 30 minutes`, `in half an hour`.
    fn length(&self, lower: &str) -> Result<Option<civil::DateTime>, WhenError> {
        let spelled = lower.strip_prefix("in ").unwrap_or(lower).replace("half an hour", "30 minutes");
        let words = tokens(&spelled).into_iter().filter(|word| !matches!(*word, "and" | ","));
        let words: Vec<&str> =
            words.map(|word| if matches!(word, "a" | "an" | "one") { "1" } else { word }).collect();
        let is_length = words.len() >= 2
            && words.len().is_multiple_of(2)
            && words.chunks(2).all(|pair| pair[0].bytes().all(|b| b.is_ascii_digit()) && is_unit(pair[1]));
        if !is_length {
            return Ok(None);
        }
        let (mut seconds, mut span) = (0i64, Span::new());
        for pair in words.chunks(2) {
            let wrong = || self.not(format!("`{} {}` is no length of time", pair[0], pair[1]));
            let add = |sum: i32, more: i32| sum.checked_add(more).ok_or_else(wrong);
            match parse_duration(&pair.join(" ")).map_err(|_| wrong())? {
                Interval::Seconds(more) => seconds += i64::from(more),
                Interval::Days(more) => {
                    span = span.try_days(add(span.get_days(), more)?).map_err(|_| wrong())?;
                }
                Interval::Months(more) => {
                    span = span.try_months(add(span.get_months(), more)?).map_err(|_| wrong())?;
                }
            }
        }
        let beyond = |_| self.not("it is beyond the calendar");
        let day = self.local.checked_add(span).map_err(beyond)?;
        if seconds == 0 {
            return Ok(Some(day));
        }
        let from = if day == self.local { self.now } else { schedule::resolve(self.zone, day) };
        self.local_of(from.checked_add(SignedDuration::from_secs(seconds)).map_err(beyond)?).map(Some)
    }

    /// The local time of an instant, to the minute; refused where the line would mean another one.
    fn local_of(&self, at: Timestamp) -> Result<civil::DateTime, WhenError> {
        let exact = self.zone.tz().to_datetime(at);
        let local = round_up(exact).ok_or_else(|| self.not("it is beyond the calendar"))?;
        let meant = schedule::resolve(self.zone, local);
        if meant < at {
            return Err(WhenError::SecondTime { text: self.text.to_owned(), at: plain(local) });
        }
        Ok(local)
    }

    /// Everything else: days by name, times, months, through `interim`.
    fn phrase(&self, lower: &str) -> Result<civil::DateTime, WhenError> {
        let words = self.words(lower)?;
        let (times, mut day): (Vec<String>, Vec<String>) =
            words.into_iter().filter(|word| word != ",").partition(|word| word.contains(':'));
        if times.len() > 1 {
            return Err(self.not("it names two times of day"));
        }
        if day.first().is_some_and(|word| word == "this") && day.get(1).is_some_and(|word| is_weekday(word)) {
            day.remove(0);
        }
        let time = times.first().map(String::as_str);
        let form = form(&day.iter().map(String::as_str).collect::<Vec<_>>());
        let phrase = match (form, time) {
            (None, _) => return Err(self.not(format!("`{}` names no day", day.join(" ")))),
            (Some(Form::Now), Some(_)) => {
                return Err(self.not("it is now, or at a time of day, but not both"));
            }
            (Some(Form::Now), None) => return Ok(self.local),
            (Some(Form::NoDay), time) => time.unwrap_or_default().to_owned(),
            (Some(Form::Length), time) => {
                return self.length_at(&day, time.unwrap_or(DEFAULT_TIME));
            }
            (Some(_), time) => format!("{} {}", spelled_for_interim(&day), time.unwrap_or(DEFAULT_TIME)),
        };
        let local = self.interim(&phrase, self.local)?;
        let passed = schedule::resolve(self.zone, local) < self.now && local < self.local;
        match form {
            Some(Form::NoDay) if passed => {
                let tomorrow = self.local.checked_add(Span::new().days(1));
                self.interim(&phrase, tomorrow.map_err(|_| self.not("it is beyond the calendar"))?)
            }
            Some(Form::DayAndMonth) if passed => self.interim(&format!("next {phrase}"), self.local),
            _ => Ok(local),
        }
    }

    /// So many days, weeks or months from today, at a time of day.
    fn length_at(&self, day: &[String], time: &str) -> Result<civil::DateTime, WhenError> {
        let to = self.length(&day.join(" "))?.ok_or_else(|| self.not("it is no length of time"))?;
        self.interim(&format!("today {time}"), to)
    }

    fn interim(&self, phrase: &str, base: civil::DateTime) -> Result<civil::DateTime, WhenError> {
        // The civil time as if it were UTC: `interim` then never meets a gap or an overlap.
        let base: Zoned = base.to_zoned(TimeZone::UTC).map_err(|_| self.not("it is beyond the calendar"))?;
        parse_date_string(phrase, base, Dialect::Uk)
            .map(|zoned| zoned.datetime())
            .map_err(|error| self.not(error.to_string()))
    }

    /// The words that matter, each known.
    fn words(&self, lower: &str) -> Result<Vec<String>, WhenError> {
        let mut out: Vec<String> = Vec::new();
        for word in tokens(lower) {
            let number = out.last().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
            match word {
                "at" | "on" | "the" | "of" | "in" => {}
                "st" | "nd" | "rd" | "th" if number => {}
                "noon" => out.push("12:00".to_owned()),
                "am" | "pm" | "a" | "p" => {
                    let time = out.pop().and_then(|time| on_24_hours(&time, word.starts_with('p')));
                    out.push(time.ok_or_else(|| self.not(format!("`{word}` follows no hour from 1 to 12")))?);
                }
                _ if is_known(word) => out.push(word.to_owned()),
                _ => return Err(self.not(format!("`{word}` means nothing here"))),
            }
            join_dotted_time(&mut out);
        }
        for word in &out {
            self.check_number(word)?;
        }
        if let [.., day, hour] = out.as_slice()
            && hour.len() <= 2
            && hour.parse::<u32>().is_ok()
            && !is_month(day)
            && !matches!(day.as_str(), "/" | "-")
        {
            return Err(self.not(format!("is `{hour}` an hour? write `{hour}:00`, `{hour}am` or `{hour}pm`")));
        }
        if out.is_empty() {
            return Err(self.not("it names no day and no time"));
        }
        Ok(out)
    }

    /// Refuses numbers that `interim` would wrap around or read as something else.
    fn check_number(&self, word: &str) -> Result<(), WhenError> {
        if let Some((hour, rest)) = word.split_once(':') {
            let minute = rest.split(':').next().unwrap_or_default();
            let fits =
                |text: &str, most: u32| text.len() <= 2 && text.parse::<u32>().is_ok_and(|n| n <= most);
            if !fits(hour, 23) || minute.len() != 2 || !fits(minute, 59) {
                return Err(self.not(format!("there is no time `{word}`; the day has 00:00 to 23:59")));
            }
        } else if word.parse::<u32>().is_ok_and(|number| number > 31 && word.len() != 4) {
            return Err(self.not(format!("`{word}` is no day, no hour and no year of four digits")));
        }
        Ok(())
    }
}

/// Runs of digits (with `:` inside), runs of letters, single other characters; no white space.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_whitespace() => 0,
        '0'..='9' | ':' => 1,
        c if c.is_alphabetic() => 2,
        _ => 3,
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut last = 0;
    for (at, c) in text.char_indices() {
        let class = class(c);
        if class != last || class == 3 {
            if last != 0 {
                out.push(&text[start..at]);
            }
            start = at;
        }
        last = class;
    }
    if last != 0 {
        out.push(&text[start..]);
    }
    out
}

/// `9`, `9:15` or `12` and `am` or `pm` as `09:00`, `21:15`, `00:00`. (`interim` reads `tomorrow 12pm`
/// as the midnight after.)
fn on_24_hours(time: &str, pm: bool) -> Option<String> {
    let (hour, rest) = time.split_once(':').unwrap_or((time, "00"));
    let hour: u32 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    Some(format!("{:02}:{rest}", hour % 12 + if pm { 12 } else { 0 }))
}

/// Makes `17 . 30` at the end of `words` the time that it is: `17:30`.
fn join_dotted_time(words: &mut Vec<String>) {
    let is_number = |word: &String| word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
    if let [.., hour, dot, minute] = words.as_slice()
        && dot == "."
        && is_number(hour)
        && is_number(minute)
        && minute.len() == 2
    {
        let time = format!("{hour}:{minute}");
        words.truncate(words.len() - 3);
        words.push(time);
    }
}

fn is_known(word: &str) -> bool {
    const WORDS: [&str; 7] = ["now", "today", "tomorrow", "yesterday", "next", "last", "this"];
    const SIGNS: [&str; 4] = ["-", "/", ".", ","];
    let digits = word.bytes().all(|b| b.is_ascii_digit() || b == b':');
    digits
        || WORDS.contains(&word)
        || SIGNS.contains(&word)
        || is_weekday(word)
        || is_month(word)
        || is_unit(word)
}

/// What the words of a phrase name beside a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing.
    NoDay,
    /// `now`.
    Now,
    /// `tomorrow`, `fri`, `next fri`, `next week`.
    Named,
    /// `24 dec`, `december 24`, `24/12`: without a year it is the next one.
    DayAndMonth,
    /// `24 dec 2026`, `2026-12-24`.
    Date,
    /// `3 days`, `2 weeks`.
    Length,
}

/// The form of a phrase; none where it has none that is known, whatever its words are.
fn form(words: &[&str]) -> Option<Form> {
    let is_number = |word: &str, most: usize| {
        (1..=most).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
    };
    let is_year = |word: &str| word.len() == 4 && is_number(word, 4);
    let is_day = |word: &str| is_number(word, 2);
    Some(match *words {
        [] => Form::NoDay,
        ["now"] => Form::Now,
        ["today" | "tomorrow" | "yesterday"] | ["next", "week"] => Form::Named,
        [day] | ["next", day] if is_weekday(day) => Form::Named,
        [day, month] | [month, day] if is_day(day) && is_month(month) => Form::DayAndMonth,
        [day, "/", month] if is_day(day) && is_day(month) => Form::DayAndMonth,
        [day, month, year] | [month, day, year] if is_day(day) && is_month(month) && is_year(year) => {
            Form::Date
        }
        [day, "/", month, "/", year] if is_day(day) && is_day(month) && is_year(year) => Form::Date,
        [year, "-", month, "-", day] if is_year(year) && is_day(month) && is_day(day) => Form::Date,
        [number, unit] if is_number(number, 4) && is_unit_of_days(unit) => Form::Length,
        _ => return None,
    })
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    word.len() >= 3 && (DAYS.iter().any(|day| day.starts_with(word)) || word == "weds")
}

fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    word.len() >= 3 && (MONTHS.iter().any(|month| month.starts_with(word)) || word == "sept")
}

fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 19] = [
        "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "d", "day", "days", "w",
        "week", "weeks", "month", "months", "year",
    ];
    UNITS.contains(&word) || matches!(word, "years" | "s" | "sec" | "secs" | "second" | "seconds")
}

fn is_unit_of_days(word: &str) -> bool {
    matches!(word, "d" | "day" | "days" | "w" | "week" | "weeks" | "month" | "months" | "year" | "years")
}

/// The words in the order and with the commas that `interim` wants: `4 july 9am` would be the year 9.
fn spelled_for_interim(words: &[String]) -> String {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_day = |word: &str| word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
    if let Some(at) = words.windows(2).position(|pair| is_day(pair[0]) && is_month(pair[1])) {
        words.swap(at, at + 1);
    }
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        let is_year = word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit());
        if is_year && at >= 2 && is_day(words[at - 1]) && is_month(words[at - 2]) {
            out.push(',');
        }
        let joins = matches!(*word, "-" | "/" | ".") || (at > 0 && matches!(words[at - 1], "-" | "/" | "."));
        if !out.is_empty() && !joins {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: &str, text: &str) -> String {
        let zone = Zone::get("Europe/London").unwrap();
        match parse_when(text, now.parse().unwrap(), &zone) {
            Ok(local) => plain(local),
            Err(error) => error.to_string(),
        }
    }

    /// Tuesday 2026-12-01 09:30:20 in London.
    fn read(text: &str) -> String {
        at("2026-12-01T09:30:20Z", text)
    }

    #[test]
    fn dates_and_times() {
        for (text, expected) in [
            ("2026-12-01 09:30", "2026-12-01 09:30"),
            ("2026-12-01T09:31", "2026-12-01 09:31"),
            ("2026-12-02 08:15:01", "2026-12-02 08:16"),
            ("2026-12-02", "2026-12-02 09:00"),
            ("2026-12-02 9am", "2026-12-02 09:00"),
            ("2026-12-02T09:00:00+01:00", "2026-12-02 08:00"),
            ("17:00", "2026-12-01 17:00"),
            ("9am", "2026-12-02 09:00"),
            ("at 9:15 pm", "2026-12-01 21:15"),
            ("noon", "2026-12-01 12:00"),
            ("tomorrow at noon", "2026-12-02 12:00"),
            ("tomorrow 12pm", "2026-12-02 12:00"),
            ("tomorrow 12am", "2026-12-02 00:00"),
            ("17.30", "2026-12-01 17:30"),
            ("tomorrow 5.30pm", "2026-12-02 17:30"),
            ("now", "2026-12-01 09:31"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn phrases() {
        for (text, expected) in [
            ("tomorrow 9am", "2026-12-02 09:00"),
            ("Tomorrow at 17:05", "2026-12-02 17:05"),
            ("tomorrow", "2026-12-02 09:00"),
            ("today 10:00", "2026-12-01 10:00"),
            ("fri 17:00", "2026-12-04 17:00"),
            ("on Friday at 5pm", "2026-12-04 17:00"),
            ("tue 10:00", "2026-12-01 10:00"),
            ("tuesday", "2026-12-08 09:00"),
            ("next week", "2026-12-08 09:00"),
            ("1 april 8:15", "2027-04-01 08:15"),
            ("april 1st 9am", "2027-04-01 09:00"),
            ("4 july 2027 9am", "2027-07-04 09:00"),
            ("july 4, 2027", "2027-07-04 09:00"),
            ("24 dec", "2026-12-24 09:00"),
            ("24/12/2026 18:00", "2026-12-24 18:00"),
            ("5/3 08:00", "2027-03-05 08:00"),
            ("may 5 12:30", "2027-05-05 12:30"),
            ("9am tomorrow", "2026-12-02 09:00"),
            ("17:00 on friday", "2026-12-04 17:00"),
            ("this friday", "2026-12-04 09:00"),
            ("in 3 days at 8am", "2026-12-04 08:00"),
            ("2 weeks at 17:00", "2026-12-15 17:00"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn lengths_of_time() {
        for (text, expected) in [
            ("in 20 minutes", "2026-12-01 09:51"),
            ("20m", "2026-12-01 09:51"),
            ("in 1 hour and 30 minutes", "2026-12-01 11:01"),
            ("1h30m", "2026-12-01 11:01"),
            ("in half an hour", "2026-12-01 10:01"),
            ("in an hour", "2026-12-01 10:31"),
            ("in 3 days", "2026-12-04 09:31"),
            ("in 2 weeks", "2026-12-15 09:31"),
            ("in a month", "2027-01-01 09:31"),
            ("in 1 day 2 hours", "2026-12-02 11:31"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_form_is_refused_and_never_guessed() {
        for text in [
            "next month",
            "this month",
            "last month",
            "next year",
            "this year",
            "this week",
            "last week",
            "last friday",
            "next day",
            "next december",
            "june",
            "june 2027",
            "the 5th",
            "5",
            "month",
            "weeks",
            "end of month",
            "end of next week",
            "first monday of june",
            "monday next week",
            "tomorrow friday",
            "friday or saturday",
            "fri sat",
            "friday 4 december",
            "tonight",
            "this evening",
            "in the morning",
            "weekend",
            "soon",
            "later",
            "eventually",
            "every day",
            "daily",
            "after lunch",
            "asap",
            "christmas",
            "in a bit",
            "in a fortnight",
            "day after tomorrow",
            "tomorrow tomorrow",
            "now 9am",
            "9am 5pm",
            "24.12.",
            "12/24/26",
            "next 5/3",
            "-3 days",
            "3 days ago",
            "next next week",
            "today next week",
            "monday-friday",
            "nächsten Monat",
            "demain",
            "明日",
        ] {
            assert!(read(text).starts_with("can't read"), "{text}: {}", read(text));
        }
        assert_eq!(read("next month"), "can't read `next month` as a time: `next month` names no day");
    }

    #[test]
    fn clock_changes() {
        assert_eq!(at("2026-03-28T23:30:00Z", "in 2 hours"), "2026-03-29 02:30");
        assert_eq!(at("2026-03-28T12:00:00Z", "tomorrow 01:30"), "2026-03-29 01:30");
        assert_eq!(
            at("2026-10-25T00:50:00Z", "in 20 minutes"),
            "`in 20 minutes` is 2026-10-25 01:10 for the second time that night, which a reminder can't name: it would fire an hour too early"
        );
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let shown: Vec<String> = [
            "",
            "gibberish",
            "money 9am",
            "tomorrow 9am call mum",
            "tomorrow 9",
            "2026-02-30 09:00",
            "2026-12-02 24:00",
            "25:00",
            "13pm",
            "300/1",
            "2020-01-01 09:00",
            "yesterday 10:00",
            "today 9am",
            "in 99999 years",
        ]
        .iter()
        .map(|text| read(text))
        .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        can't read `` as a time: it is empty
        can't read `gibberish` as a time: `gibberish` means nothing here
        can't read `money 9am` as a time: `money` means nothing here
        can't read `tomorrow 9am call mum` as a time: `call` means nothing here
        can't read `tomorrow 9` as a time: is `9` an hour? write `9:00`, `9am` or `9pm`
        can't read `2026-02-30 09:00` as a time: there is no day `2026-02-30`
        can't read `2026-12-02 24:00` as a time: there is no time `24:00`
        can't read `25:00` as a time: there is no time `25:00`; the day has 00:00 to 23:59
        can't read `13pm` as a time: `pm` follows no hour from 1 to 12
        can't read `300/1` as a time: `300` is no day, no hour and no year of four digits
        `2020-01-01 09:00` is in the past: that is 2020-01-01 09:00, and it is 2026-12-01 09:30 now
        `yesterday 10:00` is in the past: that is 2026-11-30 10:00, and it is 2026-12-01 09:30 now
        `today 9am` is in the past: that is 2026-12-01 09:00, and it is 2026-12-01 09:30 now
        can't read `in 99999 years` as a time: `99999 years` is no length of time
        ");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

        #[test]
        fn no_text_panics(text in "\\PC{0,30}|([a-z]{1,5}|[0-9]{1,6}|next|in|tomorrow|fri|jan|am|pm|[-/:., ]| ){1,8}") {
            let zone = Zone::get("Europe/London").unwrap();
            let _ = parse_when(&text, "2026-12-01T09:30:20Z".parse().unwrap(), &zone);
        }
    }
}
