//! Parses dates in the formats that plugins let people set, in the letters of moment.js: `YYYY-MM-DD`, `DD.MM.YYYY`,
//! `h:mm A`.
//!
//! Only numbers are read (`YYYY YY MM M DD D HH H hh h mm m A a`). A format with names of months or days reads nothing.

use jiff::civil::{Date, Time};

use super::When;

/// Reads a text in a format, if it is of the format exactly.
pub fn read(text: &str, format: &str) -> Option<When> {
    let parts = Parts::read(text, format)?;
    let date = Date::new(parts.year?, parts.month?, parts.day?).ok()?;
    Some(When { date, time: if parts.hour.is_some() { Some(parts.time()?) } else { None } })
}

/// The time of day that a text says in a format.
pub fn read_time(text: &str, format: &str) -> Option<Time> {
    Parts::read(text, format)?.time()
}

/// A date and time in a format; `None` for a format with letters that aren't numbers.
pub fn write(when: When, format: &str) -> Option<String> {
    let mut out = String::new();
    let time = when.time.unwrap_or_default();
    let twelve = (time.hour() + 11) % 12 + 1;
    for token in tokens(format) {
        match token {
            "YYYY" => out.push_str(&format!("{:04}", when.date.year())),
            "YY" => out.push_str(&format!("{:02}", when.date.year() % 100)),
            "MM" => out.push_str(&format!("{:02}", when.date.month())),
            "M" => out.push_str(&when.date.month().to_string()),
            "DD" => out.push_str(&format!("{:02}", when.date.day())),
            "D" => out.push_str(&when.date.day().to_string()),
            "HH" => out.push_str(&format!("{:02}", time.hour())),
            "H" => out.push_str(&time.hour().to_string()),
            "hh" => out.push_str(&format!("{twelve:02}")),
            "h" => out.push_str(&twelve.to_string()),
            "mm" => out.push_str(&format!("{:02}", time.minute())),
            "m" => out.push_str(&time.minute().to_string()),
            "A" => out.push_str(if time.hour() < 12 { "AM" } else { "PM" }),
            "a" => out.push_str(if time.hour() < 12 { "am" } else { "pm" }),
            literal if literal.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'T') => return None,
            literal => out.push_str(literal),
        }
    }
    Some(out)
}

#[derive(Default)]
struct Parts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    hour: Option<i8>,
    minute: Option<i8>,
    pm: Option<bool>,
}

impl Parts {
    fn read(text: &str, format: &str) -> Option<Self> {
        let mut parts = Self::default();
        let mut rest = text;
        for token in tokens(format) {
            match token {
                "YYYY" => parts.year = Some(number(&mut rest, 4, 4)?),
                "YY" => parts.year = Some(2000 + number(&mut rest, 2, 2)?),
                "MM" => parts.month = Some(number(&mut rest, 2, 2)?.try_into().ok()?),
                "M" => parts.month = Some(number(&mut rest, 1, 2)?.try_into().ok()?),
                "DD" => parts.day = Some(number(&mut rest, 2, 2)?.try_into().ok()?),
                "D" => parts.day = Some(number(&mut rest, 1, 2)?.try_into().ok()?),
                "HH" | "hh" => parts.hour = Some(number(&mut rest, 2, 2)?.try_into().ok()?),
                "H" | "h" => parts.hour = Some(number(&mut rest, 1, 2)?.try_into().ok()?),
                "mm" => parts.minute = Some(number(&mut rest, 2, 2)?.try_into().ok()?),
                "m" => parts.minute = Some(number(&mut rest, 1, 2)?.try_into().ok()?),
                "A" | "a" => {
                    let half = rest.get(..2)?.to_ascii_lowercase();
                    parts.pm = Some(match half.as_str() {
                        "am" => false,
                        "pm" => true,
                        _ => return None,
                    });
                    rest = &rest[2..];
                }
                literal => rest = rest.strip_prefix(literal)?,
            }
        }
        rest.is_empty().then_some(parts)
    }

    fn time(&self) -> Option<Time> {
        let hour = self.hour?;
        let hour = match self.pm {
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(pm) => hour % 12 + if pm { 12 } else { 0 },
            None => hour,
        };
        Time::new(hour, self.minute.unwrap_or(0), 0, 0).ok()
    }
}

/// Digits at the start of `rest`, which they leave.
fn number(rest: &mut &str, least: usize, most: usize) -> Option<i16> {
    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let number = rest.get(..digits).filter(|_| digits >= least)?.parse().ok()?;
    *rest = &rest[digits..];
    Some(number)
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
        let (token, behind) = rest.split_at(length);
        rest = behind;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
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
            ("MMM D, YYYY", "Dec 1, 2026"),
            ("", ""),
        ] {
            assert_eq!(read(text, format), None, "{format}");
        }
        assert_eq!(write(When { date: Date::constant(2026, 12, 1), time: None }, "MMM D"), None);
        assert_eq!(read_time("13:00 PM", "h:mm A"), None);
    }
}
