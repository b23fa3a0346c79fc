//! Parses the value of a field of a reminder line, explains a wrong value, and suggests the value that was probably
//! meant. Pure.

use jiff::civil::{Date, Time};

use super::{Recur, ReminderId};
use crate::format::{Fault, MONTHS, has_shape, nearest, quote};

/// The keys of a reminder line, in canonical order.
pub(super) const KEYS: [&str; 6] = ["date", "time", "recur", "day", "msg", "id"];

/// Says what is wrong with a value that is empty or in quotes. A message is looked at by [`msg`] alone.
pub(super) fn plain(key: &str, value: &str) -> Result<(), Fault> {
    let bare = value.trim_matches(['"', '\'', '“', '”', '`']);
    let (reason, suggestion) = match (key, value) {
        ("msg", _) => return Ok(()),
        ("day" | "id", "") => (format!("`{key}` has no value"), "remove it".to_owned()),
        (_, "") => {
            let example = match key {
                "date" => "`date=2026-12-01`".to_owned(),
                "time" => "`time=09:30`".to_owned(),
                _ => Recur::listed("or").replacen('`', "`recur=", 1),
            };
            (format!("`{key}` has no value"), format!("write {example}, with no space after the `=`"))
        }
        _ if bare.len() < value.len() => (
            format!("the value of `{key}` stands in quotes"),
            format!("write `{key}={}`", quote(bare).trim_matches('`')),
        ),
        _ => return Ok(()),
    };
    wrong(reason, suggestion)
}

/// The fault of a whole value.
fn wrong<T>(reason: impl Into<String>, suggestion: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(0, reason, suggestion))
}

/// Two or three groups of digits with something between them.
fn numbers(value: &str, separators: &[char]) -> Option<Vec<u32>> {
    value
        .split(separators)
        .map(|part| match part.len() {
            1..=4 if part.bytes().all(|b| b.is_ascii_digit()) => part.parse().ok(),
            _ => None,
        })
        .collect()
}

pub(super) fn date(value: &str) -> Result<Date, Fault> {
    let shaped = has_shape(value, "0000-00-00");
    if let Some(date) = value.parse().ok().filter(|date: &Date| shaped && date.year() > 0) {
        return Ok(date);
    }
    let parts = numbers(value, &['-', '/', '.']);
    if !shaped {
        let reason = format!("{} is not a date as YYYY-MM-DD", quote(value));
        let suggestion = match (value.split_once(['T', '_']), parts.as_deref()) {
            (Some((date, time)), _) if self::date(date).is_ok() => {
                let time = time.get(..5).filter(|text| self::time(text).is_ok()).unwrap_or("09:30");
                format!("give the time a field of its own: `date={date} time={time}`")
            }
            (_, Some(&[year, month, day])) if year > 31 && real(year, month, day).is_some() => {
                format!("write `date={year:04}-{month:02}-{day:02}`")
            }
            _ => "write year, month and day with hyphens, such as `date=2026-12-01`".to_owned(),
        };
        return wrong(reason, suggestion);
    }
    let Some(&[year, month, day]) = parts.as_deref() else {
        return wrong(format!("{} is not a date", quote(value)), "write it as `date=2026-12-01`");
    };
    if year == 0 {
        let reason = "there is no year 0000: years go from 0001 to 9999";
        return wrong(reason, "write the year in which it is to come");
    }
    if !(1..=12).contains(&month) {
        let suggestion = match real(year, day, month) {
            Some(swapped) => format!("month and day are perhaps swapped: `date={swapped}`"),
            None => "months go from 01 to 12".to_owned(),
        };
        return wrong(format!("there is no month {month:02}"), suggestion);
    }
    if day == 0 {
        return wrong("there is no day 00", "days go from 01 up");
    }
    let name = &MONTHS[month as usize - 1];
    let last = (28..=31).rev().find_map(|day| real(year, month, day));
    let (days, date) = last.map_or((28, String::new()), |last| (last.day(), last.to_string()));
    let reason = format!("there is no {day} {name} {year:04}: {name} has {days} days");
    wrong(reason, format!("write `date={date}`, or another real date"))
}

fn real(year: u32, month: u32, day: u32) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

pub(super) fn time(value: &str) -> Result<Time, Fault> {
    let shaped = has_shape(value, "00:00");
    if let Some(time) = value.parse().ok().filter(|_| shaped) {
        return Ok(time);
    }
    let shown = quote(value);
    let lower = value.to_ascii_lowercase();
    let (bare, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(bare), _) => (bare, Some(0)),
        (_, Some(bare)) => (bare, Some(12)),
        _ => (lower.as_str(), None),
    };
    let parts = numbers(bare, &[':', '.', 'h']).unwrap_or_default();
    let (hour, minute) = match parts[..] {
        [hour] => (hour, if half.is_some() { 0 } else { 60 }),
        [hour, minute] | [hour, minute, _] => (hour, minute),
        _ => (24, 60),
    };
    if shaped {
        return match (hour, minute) {
            (24, 0) => wrong(
                format!("{shown} is not a time of day: the day ends at 23:59"),
                "write `time=00:00` with the date of the next day",
            ),
            (0..=23, _) => wrong(format!("{shown} has no such minute"), "minutes go from 00 to 59"),
            _ => wrong(format!("{shown} has no such hour"), "hours go from 00 to 23"),
        };
    }
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => 24,
        None => hour,
    };
    let suggestion = if hour < 24 && minute < 60 {
        format!("write `time={hour:02}:{minute:02}`")
    } else {
        "write hour and minute with two digits each, such as `time=09:30`".to_owned()
    };
    wrong(format!("{shown} is not a time as HH:MM"), suggestion)
}

pub(super) fn recur(value: &str) -> Result<Recur, Fault> {
    if let Some(recur) = Recur::named(value) {
        return Ok(recur);
    }
    let known = format!("the recurrences are {}", Recur::listed("and"));
    let suggestion = match value.to_lowercase().as_str() {
        "day" | "everyday" => "write `recur=daily`".to_owned(),
        "week" | "everyweek" => "write `recur=weekly`".to_owned(),
        "month" | "everymonth" => "write `recur=monthly`".to_owned(),
        "once" | "no" | "never" | "false" => "write `recur=none`".to_owned(),
        "yearly" | "annually" | "hourly" => known,
        word => nearest(word, &Recur::NAMES).map_or(known, |name| format!("did you mean `recur={name}`?")),
    };
    wrong(format!("{} is not a recurrence", quote(value)), suggestion)
}

pub(super) fn day(value: &str) -> Result<i8, Fault> {
    if let ("29" | "30" | "31", Ok(day)) = (value, value.parse()) {
        return Ok(day);
    }
    wrong(
        format!("{} can't be the value of `day`: it is 29, 30 or 31", quote(value)),
        "remove it: only vault-agent writes `day`, and the day comes from `date`",
    )
}

pub(super) fn id(value: &str) -> Result<ReminderId, Fault> {
    if let Some(id) = ReminderId::from_bytes(value.as_bytes()) {
        return Ok(id);
    }
    let why = match value.strip_prefix("rid_") {
        None => "it begins with `rid_`".to_owned(),
        Some(body) => match body.chars().find(|c| !matches!(c, 'A'..='Z' | '0'..='9')) {
            Some(c) => format!("`{}` isn't one of A-Z and 0-9", c.escape_debug()),
            None => format!("12 characters follow `rid_`, not {}", body.len()),
        },
    };
    wrong(format!("{} is not an id: {why}", quote(value)), "remove the field: vault-agent writes a new id")
}

/// The message, unescaped, and its length between and with its quotes: `\"` is a quote, `\\` a backslash, any other
/// backslash itself. `value` is the rest of the word after `msg=`, `rest` the rest of the line.
pub(super) fn msg(value: &str, rest: &str) -> Result<(String, usize), Fault> {
    let Some(body) = rest.strip_prefix('"') else {
        return match rest.chars().next() {
            None | Some(' ') => wrong("`msg` has no value", "write `msg=\"…\"`, with no space after the `=`"),
            Some(c @ ('“' | '”' | '„' | '«' | '‟' | '″' | '＂')) => wrong(
                format!("the message starts with `{c}` (U+{:04X}) instead of a plain quote", u32::from(c)),
                "write `\"` before and after the message",
            ),
            Some('\'' | '‘' | '’' | '`') => {
                wrong("the message stands in single quotes", "use double quotes: `msg=\"…\"`")
            }
            Some(_) => wrong(
                "the message has no quotes",
                format!("write `msg=\"{}\"`", quote(value).trim_matches('`')),
            ),
        };
    };
    let mut said = String::new();
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_control() {
            let named = if c == '\t' {
                "a tab".to_owned()
            } else {
                format!("a control character (U+{:04X})", u32::from(c))
            };
            let reason = format!("there is {named} in the message");
            return Err(Fault::new(1 + at, reason, "remove it, or write a space"));
        }
        said.push(match c {
            '"' if at == 0 => {
                return wrong("the message is empty", "say what to be reminded of: `msg=\"…\"`");
            }
            '"' => return Ok((said, at + 2)),
            '\\' => chars.next_if(|(_, c)| matches!(c, '"' | '\\')).map_or(c, |(_, c)| c),
            c => c,
        });
    }
    wrong(
        "the message's quote isn't closed",
        "put `\"` at its end; a quote inside the message is written `\\\"`",
    )
}
