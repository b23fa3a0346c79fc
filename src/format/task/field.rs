//! Parses the parts that task lines of all plugins share: list items with a checkbox, also in a callout, and fields
//! with dates and times.

use std::ops::Range;

use jiff::civil::{Date, DateTime, Time};

use super::TaskFormat;
use crate::format::{has_shape, is_block_id};

/// The meaning of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// When to tell.
    Reminder,
    /// When it is due.
    Due,
    /// When it is planned for.
    Scheduled,
    /// When it can begin.
    Start,
    /// When it was written.
    Created,
    /// When it was done.
    Done,
    /// When it was given up.
    Cancelled,
    /// The recurrence.
    Repeat,
    /// An earlier notification, this long before its time.
    Before,
    /// A further notification at a time that Snooze wrote, beside its own times.
    Snooze,
    /// The time of day, where it is a field of its own.
    Time,
    /// The priority.
    Priority,
    /// Its name for others that depend on it.
    Id,
    /// The names of those that it depends on.
    DependsOn,
    /// The action once it is done.
    OnCompletion,
}

/// A date, perhaps with a time of day, both local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskTime {
    /// The date.
    pub date: Date,
    /// The time of day; `None` where only a date is written.
    pub time: Option<Time>,
}

impl TaskTime {
    /// The local time, with `default_time` where none is written.
    pub fn at(self, default_time: Time) -> DateTime {
        self.date.to_datetime(self.time.unwrap_or(default_time))
    }
}

/// A field where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskField {
    /// The form that it is of.
    pub format: TaskFormat,
    /// Its meaning.
    pub key: FieldKind,
    /// Its place in the line.
    pub at: Range<usize>,
    /// The place of its value in the line.
    pub value: Range<usize>,
    /// The date that it holds, for keys that hold one.
    pub when: Option<TaskTime>,
}

/// A date at the start of `text`, `YYYY-MM-DD`, and its length.
pub(super) fn date(text: &str) -> Option<(Date, usize)> {
    let digits = text.get(..10)?;
    let ok = has_shape(digits, "0000-00-00");
    let date = ok.then(|| digits.parse::<Date>().ok()).flatten()?;
    (date.year() > 0).then_some((date, 10))
}

/// A time of day at the start of `text`, and its length: `9:30`, `09:30`, `9:30 PM`, `9pm`. With `strict` two digits
/// each, on 24 hours.
pub(super) fn time(text: &str, strict: bool) -> Option<(Time, usize)> {
    let digits = |text: &str| text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let hours = digits(text);
    let hour: i8 = text.get(..hours)?.parse().ok()?;
    let mut at = hours;
    let minute: Option<i8> = match text[at..].strip_prefix(':') {
        Some(rest) if digits(rest) == 2 => {
            at += 3;
            Some(rest[..2].parse().ok()?)
        }
        Some(_) => return None,
        None => None,
    };
    let half = text[at..].trim_start_matches(' ');
    let half_at = text.len() - half.len();
    let pm = half.get(..2).filter(|_| !strict).and_then(|half| match half.to_ascii_lowercase().as_str() {
        "am" => Some(false),
        "pm" => Some(true),
        _ => None,
    });
    let end = if pm.is_some() { half_at + 2 } else { at };
    if text[end..].starts_with(|c: char| c.is_alphanumeric() || c == ':') || strict && hours != 2 {
        return None;
    }
    let hour = match pm {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(true) => hour % 12 + 12,
        Some(false) => hour % 12,
        None => hour,
    };
    if pm.is_none() && minute.is_none() {
        return None;
    }
    Some((Time::new(hour, minute.unwrap_or(0), 0, 0).ok()?, end))
}

/// A date, perhaps with a time behind blanks or a `T`, at the start of `text`, and its length.
pub(super) fn when(text: &str) -> Option<(TaskTime, usize)> {
    let (date, length) = date(text)?;
    let rest = &text[length..];
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let gap = if rest.starts_with('T') { 1 } else { blanks };
    if gap > 0
        && let Some((time, used)) = time(&rest[gap..], true)
    {
        return Some((TaskTime { date, time: Some(time) }, length + gap + used));
    }
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        .then_some((TaskTime { date, time: None }, length))
}

/// A list item with a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListItem<'a> {
    /// The whole line without its terminator.
    pub text: &'a str,
    /// The character in the box.
    pub status: char,
    /// The offset of that character.
    pub status_at: usize,
    /// The offset of the text behind the box.
    pub body: usize,
    /// The end of that text: before a block id and the blanks at the line's end.
    pub end: usize,
}

impl<'a> ListItem<'a> {
    /// The text behind the box, without block id.
    pub fn body(&self) -> &'a str {
        &self.text[self.body..self.end]
    }
}

/// The item that a line without its terminator is.
pub fn list_item(text: &str) -> Option<ListItem<'_>> {
    let lead = text.trim_start_matches([' ', '\t', '>']);
    let digits = lead.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = || digits.strip_prefix(['.', ')']).filter(|_| digits.len() < lead.len());
    let rest = lead.strip_prefix(['-', '*', '+']).or_else(numbered)?;
    let boxed = rest.trim_start_matches([' ', '\t']);
    if boxed.len() == rest.len() {
        return None;
    }
    let inside = boxed.strip_prefix('[')?;
    let status = inside.chars().next()?;
    let behind = inside[status.len_utf8()..].strip_prefix(']')?;
    let body = behind.trim_start_matches([' ', '\t']);
    if body.len() == behind.len() && !behind.is_empty() {
        return None;
    }
    let status_at = text.len() - inside.len();
    let body = text.len() - body.len();
    Some(ListItem { text, status, status_at, body, end: body + end(&text[body..]) })
}

/// The end of a body: before a block id and the blanks at its end.
fn end(body: &str) -> usize {
    let trimmed = body.trim_end();
    if let Some((words, id)) = trimmed.rsplit_once(" ^")
        && is_block_id(id)
    {
        return words.trim_end().len();
    }
    trimmed.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        let read = |text| when(text).map(|(when, used)| (when.at(Time::midnight()).to_string(), used));
        assert_eq!(read("2026-12-01 09:30 x"), Some(("2026-12-01T09:30:00".to_owned(), 16)));
        assert_eq!(read("2026-12-01T09:30"), Some(("2026-12-01T09:30:00".to_owned(), 16)));
        assert_eq!(read("2026-12-01 x"), Some(("2026-12-01T00:00:00".to_owned(), 10)));
        assert_eq!(read("2026-12-01 9:30"), Some(("2026-12-01T00:00:00".to_owned(), 10)));
        for wrong in [
            "2026-02-30",
            "2026-12-1",
            "2026-12-011",
            "2026-12-01x",
            "0000-01-01",
            "2026/12/01",
            "é026-12-01",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let clock = |text| time(text, false).map(|(time, used)| (time.to_string(), used));
        for (text, said, used) in [
            ("9:30", "09:30:00", 4),
            ("9:30 PM x", "21:30:00", 7),
            ("12am", "00:00:00", 4),
            ("3 pm", "15:00:00", 4),
        ] {
            assert_eq!(clock(text), Some((said.to_owned(), used)), "{text}");
        }
        for wrong in ["9", "24:00", "9:3", "13pm", "9:30x", "9:60", ":30"] {
            assert_eq!(clock(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn items_of_every_kind() {
        for (line, status, body) in [
            ("- [ ] a", ' ', "a"),
            ("\t* [/] a b  ", '/', "a b"),
            ("> > + [x] a ^abc-1 ", 'x', "a"),
            ("12. [-] a ^no id", '-', "a ^no id"),
            ("1) [é] a", 'é', "a"),
            ("- [ ] ", ' ', ""),
            ("- [ ]", ' ', ""),
        ] {
            let item = list_item(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((item.status, item.body()), (status, body), "{line}");
        }
        for line in ["- [ ]a", "[ ] a", "-[ ] a", "- [] a", "a - [ ] b", "- [  ] a", "- a", "", "1 [ ] a"] {
            assert_eq!(list_item(line), None, "{line}");
        }
    }
}
