//! Parses and writes dates in the formats that people set in plugins, in moment.js's letters: `YYYY-MM-DD`,
//! `DD.MM.YYYY`, `h:mm A`. Pure.
//!
//! Numbers and English names are supported (`YYYY YY MMMM MMM MM M DD Do D dddd ddd HH H hh h mm m A a`). A format with
//! other letters parses and writes no date.

use jiff::civil::Time;
use jiff::fmt::strtime::{self, BrokenDownTime};

use super::TaskTime;

/// Reads a text in a format, if it is of the format exactly.
pub fn read(text: &str, format: &str) -> Option<TaskTime> {
    let parts = parse(text, format)?;
    let time = if parts.hour().is_some() { Some(parts.to_time().ok()?) } else { None };
    Some(TaskTime { date: parts.to_date().ok()?, time })
}

/// The time of day that a text says in a format.
pub fn read_time(text: &str, format: &str) -> Option<Time> {
    let parts = parse(text, format)?;
    parts.hour().and_then(|_| parts.to_time().ok())
}

/// A date and time in a format; `None` for a format with letters that aren't supported.
pub fn write(when: TaskTime, format: &str) -> Option<String> {
    let ordinal = match when.date.day() {
        11..=13 => "th",
        day => ["th", "st", "nd", "rd"].get(usize::try_from(day % 10).ok()?).copied().unwrap_or("th"),
    };
    strtime::format(pattern(format, ordinal)?, when.at(Time::midnight())).ok()
}

/// Whether dates in this format can be read, as far as its letters tell: names are read in English.
pub fn is_read(format: &str) -> bool {
    pattern(format, "").is_some()
}

/// Dates and times as everybody writes them.
pub const DATES: &str = "YYYY-MM-DD";
/// See [`DATES`].
pub const TIMES: &str = "HH:mm";

/// `format` if the text is in it, else `usual`: a board may have a format of its own, which isn't known.
pub fn format_of<'f>(text: &str, format: &'f str, usual: &'f str) -> &'f str {
    if parse(text, format).is_some() { format } else { usual }
}

fn parse(text: &str, format: &str) -> Option<BrokenDownTime> {
    let ordinals: &[&str] = if format.contains("Do") { &["th", "st", "nd", "rd"] } else { &[""] };
    ordinals.iter().find_map(|ordinal| BrokenDownTime::parse(pattern(format, ordinal)?, text).ok())
}

/// The format in the letters of `strftime`; `ordinal` is the end of the day's number where it has one.
fn pattern(format: &str, ordinal: &str) -> Option<String> {
    let is_halved = tokens(format).any(|token| matches!(token, "A" | "a"));
    let hours = |halved: &'static str, whole| if is_halved { halved } else { whole };
    let directive = |token| match token {
        "YYYY" => Some("%Y".into()),
        "YY" => Some("%y".into()),
        "MMMM" => Some("%B".into()),
        "MMM" => Some("%b".into()),
        "MM" => Some("%m".into()),
        "M" => Some("%-m".into()),
        "DD" => Some("%d".into()),
        "D" => Some("%-d".into()),
        "Do" => Some(format!("%-d{ordinal}")),
        "dddd" => Some("%A".into()),
        "ddd" => Some("%a".into()),
        "HH" | "hh" => Some(hours("%I", "%H").into()),
        "H" | "h" => Some(hours("%-I", "%-H").into()),
        "mm" => Some("%M".into()),
        "m" => Some("%-M".into()),
        "A" => Some("%p".into()),
        "a" => Some("%P".into()),
        literal if literal.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'T') => None,
        literal => Some(literal.replace('%', "%%")),
    };
    tokens(format).map(directive).collect()
}

/// Runs of one letter, text in brackets, and all other characters one by one.
fn tokens(format: &str) -> impl Iterator<Item = &str> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if first == '['
            && let Some(end) = rest.find(']')
        {
            let inside = &rest[1..end];
            rest = &rest[end + 1..];
            return Some(inside);
        }
        let length = if first.is_ascii_alphabetic() && first != 'T' {
            rest.find(|c| c != first).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let length = if rest.starts_with("Do") { 2 } else { length };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::Date;

    use super::*;

    #[test]
    fn formats_read_what_they_write() {
        for (format, text) in [
            ("YYYY-MM-DD HH:mm", "2026-12-01 09:30"),
            ("YYYY-MM-DD", "2026-12-01"),
            ("DD.MM.YYYY", "01.12.2026"),
            ("D/M/YY", "1/12/26"),
            ("YYYY[年]M[月]D[日]", "2026年12月1日"),
            ("YYYY-MM-DDTHH:mm", "2026-12-01T09:30"),
            ("M-D-YYYY h:mm A", "12-1-2026 9:30 PM"),
            ("MMM D, YYYY", "Dec 1, 2026"),
            ("dddd, DD MMMM YYYY", "Tuesday, 01 December 2026"),
            ("MMMM Do, YYYY", "December 1st, 2026"),
            ("Do MMM YYYY", "12th Dec 2026"),
            ("Do MMM YYYY", "23rd Dec 2026"),
        ] {
            let read = read(text, format).unwrap_or_else(|| panic!("{format}"));
            assert_eq!(write(read, format).as_deref(), Some(text));
        }
        assert_eq!(read_time("12:05 am", "h:mm a"), Some(Time::constant(0, 5, 0, 0)));
    }

    #[test]
    fn nothing_is_read_into_a_text() {
        for (format, text) in [
            ("YYYY-MM-DD", "2026-12-01 "),
            ("YYYY-MM-DD", "2026-13-01"),
            ("YYYY-MM-DD", "01.12.2026"),
            ("HH:mm", "09:30"),
            ("gggg-[W]ww", "2026-W49"),
            ("D. MMMM YYYY", "1. Dezember 2026"),
            ("", ""),
        ] {
            assert_eq!(read(text, format), None, "{format}");
        }
        assert_eq!(write(TaskTime { date: Date::constant(2026, 12, 1), time: None }, "ww"), None);
        assert_eq!(read_time("13:00 PM", "h:mm A"), None);
    }
}
