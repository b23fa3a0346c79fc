//! Edits a task line: its box, a date, a field, its words. Every other byte stays.
//!
//! A new field is put where the plugin still reads all others: Tasks reads from the line's end and stops at an unknown
//! field, so `⏰` and `[reminder:: ]` go before its fields, and a completion date behind them.

use std::ops::Range;

use jiff::civil::{Date, DateTime};

use super::{Field, Format, Key, Rules, TaskLine, When, moment};

/// Replacements of bytes in a line, in any order.
#[derive(Debug, Default)]
struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    fn put(&mut self, at: Range<usize>, with: impl Into<String>) {
        self.0.push((at, with.into()));
    }

    /// The line with all of them; of those that meet, the first alone.
    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(at, _)| (at.start, at.end));
        let mut out = String::with_capacity(text.len() + 32);
        let mut from = 0;
        for (at, with) in self.0 {
            if at.start < from {
                continue;
            }
            out.push_str(&text[from..at.start]);
            out.push_str(&with);
            from = at.end;
        }
        out.push_str(&text[from..]);
        out
    }
}

/// The line as it is done: its box ticked, with the date of completion where the form has one and `done` gives it.
pub fn ticked(line: &TaskLine<'_>, format: Format, done: Option<Date>) -> String {
    let mut splices = Splices::default();
    put_box(line, 'x', &mut splices);
    if let Some(done) = done {
        match line.field(format, Key::Done) {
            Some(field) => splices.put(field.value.clone(), done.to_string()),
            None => {
                let end = line.item.end..line.item.end;
                match format {
                    Format::Tasks => splices.put(end, format!(" ✅ {done}")),
                    Format::Dataview => splices.put(end, format!("  [completion:: {done}]")),
                    _ => {}
                }
            }
        }
    }
    splices.apply(line.item.text)
}

fn put_box(line: &TaskLine<'_>, status: char, splices: &mut Splices) {
    let item = &line.item;
    splices.put(item.status_at..item.status_at + item.status.len_utf8(), status);
}

/// The line of the next time: its box empty, each field of `dates` with its new date (none: the field goes), without the
/// names that depend on one line alone, and without block id. `created` is its date of creation, where the plugin
/// gives one.
pub fn next(
    line: &TaskLine<'_>,
    format: Format,
    dates: &[(Key, Option<When>)],
    created: Option<Date>,
) -> String {
    let mut splices = Splices::default();
    put_box(line, ' ', &mut splices);
    for field in line.fields.iter().filter(|field| field.format == format) {
        match field.key {
            Key::Id | Key::DependsOn | Key::Done | Key::Cancelled => remove(line, field, &mut splices),
            Key::Created => match created {
                Some(created) => splices.put(field.value.clone(), created.to_string()),
                None => remove(line, field, &mut splices),
            },
            key => match dates.iter().find(|(known, _)| *known == key) {
                Some((_, Some(when))) => splices.put(field.value.clone(), value(format, *when)),
                Some((_, None)) => remove(line, field, &mut splices),
                None => {}
            },
        }
    }
    if let Some(created) = created.filter(|_| line.field(format, Key::Created).is_none()) {
        let goes = |key: Key| dates.iter().any(|(known, when)| *known == key && when.is_none());
        let is_date = |key: Key| matches!(key, Key::Start | Key::Scheduled | Key::Due) && !goes(key);
        let first = line.fields.iter().find(|field| field.format == format && is_date(field.key));
        let at = first.map_or(line.item.end, |field| field.at.start);
        match format {
            Format::Tasks => splices.put(at..at, format!("➕ {created} ")),
            Format::Dataview => splices.put(at..at, format!("[created:: {created}]  ")),
            _ => {}
        }
    }
    let item = &line.item;
    splices.put(item.end..item.text.len(), "");
    splices.apply(item.text)
}

/// Takes a field away, with the blanks before it.
fn remove(line: &TaskLine<'_>, field: &Field, splices: &mut Splices) {
    let before = line.item.text[..field.at.start].trim_end_matches(' ').len().max(line.item.body);
    splices.put(before..field.at.end, "");
}

/// A date as a form writes it.
fn value(format: Format, when: When) -> String {
    match when.time {
        None => when.date.to_string(),
        Some(time) if format == Format::Dataview => format!("{}T{}", when.date, time.strftime("%H:%M")),
        Some(time) => format!("{} {}", when.date, time.strftime("%H:%M")),
    }
}

/// The line told again at another time; `None` where the form's own settings have a date that can't be written.
pub fn snoozed(line: &TaskLine<'_>, format: Format, rules: &Rules, to: DateTime) -> Option<String> {
    let when = When { date: to.date(), time: Some(to.time()) };
    let mut splices = Splices::default();
    match format {
        Format::Tasks | Format::Dataview => match line.field(format, Key::Reminder) {
            Some(field) => splices.put(field.value.clone(), value(format, when)),
            None => {
                let first = line.fields.iter().find(|field| field.format == format)?.at.start;
                let text = value(format, when);
                splices.put(
                    first..first,
                    match format {
                        Format::Tasks => format!("⏰ {text} "),
                        _ => format!("[{}:: {text}]  ", rules.reminder_field),
                    },
                );
            }
        },
        Format::Reminder => return moved(line, rules, when),
        Format::Kanban => {
            let kanban = &rules.kanban;
            let date = line.notification_field(format)?;
            splices.put(date.value.clone(), moment::write(when, &kanban.date_format)?);
            let time = moment::write(when, &kanban.time_format)?;
            match line.field(format, Key::Time) {
                Some(field) => splices.put(field.value.clone(), time),
                None => splices.put(date.at.end..date.at.end, format!(" {}{{{time}}}", kanban.time_trigger)),
            }
        }
        Format::TaskNotes => return None,
    }
    Some(splices.apply(line.item.text))
}

/// The line on another day, and where it says a time of day, or the default one isn't meant, at that time. A day of Tasks'
/// and Dataview's has no time: an alarm says it. `None` where the form's own settings have a date that can't be written.
pub fn on_day(line: &TaskLine<'_>, format: Format, rules: &Rules, to: DateTime) -> Option<String> {
    let when = |field: &Field| {
        let is_timed = field.when.is_some_and(|when| when.time.is_some()) || to.time() != rules.default_time;
        When { date: to.date(), time: is_timed.then_some(to.time()) }
    };
    let mut splices = Splices::default();
    match format {
        Format::Tasks | Format::Dataview => {
            let days = [Key::Due, Key::Scheduled, Key::Start].into_iter();
            let day = days.filter_map(|key| line.field(format, key)).find(|field| field.when.is_some());
            let alarm = line.field(format, Key::Reminder);
            if let Some(field) = day {
                let time = field.when.and_then(|when| when.time).map(|_| to.time());
                splices.put(field.value.clone(), value(format, When { date: to.date(), time }));
                if alarm.is_none() && time.is_none() && to.time() != rules.default_time {
                    let moved = splices.apply(line.item.text);
                    return snoozed(&TaskLine::read(&moved, rules)?, format, rules, to);
                }
            }
            if let Some(field) = alarm {
                splices.put(field.value.clone(), value(format, when(field)));
            }
        }
        Format::Reminder => return moved(line, rules, when(line.notification_field(format)?)),
        Format::Kanban if line.field(format, Key::Time).is_none() && to.time() == rules.default_time => {
            let field = line.notification_field(format)?;
            let day = When { date: to.date(), time: None };
            splices.put(field.value.clone(), moment::write(day, &rules.kanban.date_format)?);
        }
        Format::Kanban => return snoozed(line, format, rules, to),
        Format::TaskNotes => return None,
    }
    Some(splices.apply(line.item.text))
}

/// The line with other words; `None` where its words stand in more than one piece, between its fields.
pub fn reworded(line: &TaskLine<'_>, words: &str) -> Option<String> {
    let item = &line.item;
    let (mut pieces, mut at) = (Vec::new(), item.body);
    for field in &line.fields {
        if field.at.start > at {
            pieces.push(at..field.at.start);
        }
        at = at.max(field.at.end);
    }
    pieces.push(at..item.end.max(at));
    pieces.retain(|piece| item.text.get(piece.clone()).is_some_and(|text| !text.trim().is_empty()));
    let [piece] = pieces.as_slice() else { return None };
    let text = &item.text[piece.clone()];
    let begin = piece.start + (text.len() - text.trim_start().len());
    let mut splices = Splices::default();
    splices.put(begin..begin + text.trim().len(), words);
    Some(splices.apply(item.text))
}

/// The date of a mark, moved, in the same form: for Reminder Toast, and where Reminder has no date that repeats.
pub fn moved(line: &TaskLine<'_>, rules: &Rules, when: When) -> Option<String> {
    let field = line.notification_field(Format::Reminder)?;
    let mut splices = Splices::default();
    splices.put(field.value.clone(), reminder_value(line, field, rules, when)?);
    Some(splices.apply(line.item.text))
}

/// The line of the next time of a mark of Reminder's.
pub fn next_mark(line: &TaskLine<'_>, rules: &Rules, when: When) -> Option<String> {
    let field = line.notification_field(Format::Reminder)?;
    let mut splices = Splices::default();
    put_box(line, ' ', &mut splices);
    splices.put(field.value.clone(), reminder_value(line, field, rules, when)?);
    splices.put(line.item.end..line.item.text.len(), "");
    Some(splices.apply(line.item.text))
}

/// Whether a line's mark is Reminder Toast's.
pub fn is_toast(line: &TaskLine<'_>) -> bool {
    line.notification_field(Format::Reminder)
        .is_some_and(|field| !line.item.text[field.at.clone()].starts_with("(@"))
}

fn reminder_value(line: &TaskLine<'_>, field: &Field, rules: &Rules, when: When) -> Option<String> {
    if !line.item.text[field.at.clone()].starts_with("(@") {
        return Some(value(Format::Reminder, when));
    }
    let format = if when.time.is_some() { &rules.reminder_date_time } else { &rules.reminder_date };
    let text = moment::write(when, format)?;
    if !line.value(field).contains("[[") {
        return Some(text);
    }
    let date = moment::write(When { time: None, ..when }, &rules.reminder_date)?;
    Some(text.replacen(&date, &format!("[[{date}]]"), 1))
}
