//! Edits a task line: its checkbox, a date, a field, its words. Every other byte stays.
//!
//! A new field must not hide other fields from the plugin that owns the line. The plugin Tasks reads fields from the
//! end of the line and stops at the first unknown field. Therefore `⏰` and `[reminder:: ]` are inserted before the
//! fields of Tasks, and a completion date after them.

use std::ops::Range;

use jiff::civil::{Date, DateTime};

use super::{FieldKind, Rules, TaskField, TaskFormat, TaskLine, TaskTime, moment};

/// A place in the line, and what is put there.
type Splice = (Range<usize>, String);

/// A field of the next occurrence, with its new date; `None` removes the field.
pub type NextField = (FieldKind, Option<TaskTime>);

/// The text with all splices, in whatever order they are given; of those that meet, the first alone.
fn splice(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(at, _)| (at.start, at.end));
    let mut out = String::with_capacity(text.len() + 32);
    let mut from = 0;
    for (at, with) in splices {
        if at.start >= from {
            out.push_str(&text[from..at.start]);
            out.push_str(&with);
            from = at.end;
        }
    }
    out + &text[from..]
}

/// The line as it is done: its box ticked, with the date of completion where the form has one and `done` gives it.
pub fn ticked(line: &TaskLine<'_>, format: TaskFormat, done: Option<Date>) -> String {
    let end = line.item.end..line.item.end;
    let mut splices = vec![boxed(line, 'x')];
    splices.extend(done.and_then(|done| match (line.field(format, FieldKind::Done), format) {
        (Some(field), _) => Some((field.value.clone(), done.to_string())),
        (None, TaskFormat::Tasks) => Some((end, format!(" ✅ {done}"))),
        (None, TaskFormat::Dataview) => Some((end, format!("  [completion:: {done}]"))),
        _ => None,
    }));
    splice(line.item.text, splices)
}

fn boxed(line: &TaskLine<'_>, status: char) -> Splice {
    let at = line.item.status_at;
    (at..at + line.item.status.len_utf8(), status.to_string())
}

/// The line of the next occurrence: its box is empty, and each field of `dates` has its new date (`None` removes the
/// field). Its own id, its dependencies, its completion date and its block id are removed. `created` is its date of
/// creation, if the plugin writes one.
pub fn next(line: &TaskLine<'_>, format: TaskFormat, dates: &[NextField], created: Option<Date>) -> String {
    let item = &line.item;
    let mut splices = vec![boxed(line, ' '), (item.end..item.text.len(), String::new())];
    let own = || line.fields.iter().filter(|field| field.format == format);
    let date_of = |key: FieldKind| dates.iter().find(|(known, _)| *known == key).map(|(_, when)| *when);
    for field in own() {
        let now = match field.key {
            FieldKind::Id | FieldKind::DependsOn | FieldKind::Done | FieldKind::Cancelled => None,
            FieldKind::Created => created.map(|created| created.to_string()),
            key => match date_of(key) {
                Some(when) => when.map(|when| value(format, when)),
                None => continue,
            },
        };
        splices.push(match now {
            Some(now) => (field.value.clone(), now),
            None => without(line, field),
        });
    }
    if let Some(created) = created.filter(|_| line.field(format, FieldKind::Created).is_none()) {
        let is_date = |key: FieldKind| {
            matches!(key, FieldKind::Start | FieldKind::Scheduled | FieldKind::Due)
                && date_of(key).is_none_or(|to| to.is_some())
        };
        let at = own().find(|field| is_date(field.key)).map_or(item.end, |field| field.at.start);
        match format {
            TaskFormat::Tasks => splices.push((at..at, format!("➕ {created} "))),
            TaskFormat::Dataview => splices.push((at..at, format!("[created:: {created}]  "))),
            _ => {}
        }
    }
    splice(item.text, splices)
}

/// The line with each field of `dates` changed, and no other byte of it.
pub fn redated(line: &TaskLine<'_>, format: TaskFormat, dates: &[NextField]) -> String {
    let changed = dates.iter().filter_map(|(key, when)| {
        let field = line.field(format, *key)?;
        Some(when.map_or_else(|| without(line, field), |when| (field.value.clone(), value(format, when))))
    });
    splice(line.item.text, changed.collect())
}

/// The line without these fields, and the blanks before them.
pub fn without_fields(line: &TaskLine<'_>, goes: impl Fn(&TaskField) -> bool) -> String {
    let gone = line.fields.iter().filter(|field| goes(field));
    splice(line.item.text, gone.map(|field| without(line, field)).collect())
}

/// Takes a field away, with the blanks before it.
fn without(line: &TaskLine<'_>, field: &TaskField) -> Splice {
    let before = line.item.text[..field.at.start].trim_end_matches(' ').len().max(line.item.body);
    (before..field.at.end, String::new())
}

/// A date as a form writes it.
fn value(format: TaskFormat, when: TaskTime) -> String {
    let gap = if format == TaskFormat::Dataview { 'T' } else { ' ' };
    when.time.map_or(when.date.to_string(), |time| format!("{}{gap}{}", when.date, time.strftime("%H:%M")))
}

/// The line with another time for its notification; `None` if the form's settings have a date format that can't be
/// written.
pub fn snoozed(line: &TaskLine<'_>, format: TaskFormat, rules: &Rules, to: DateTime) -> Option<String> {
    let when = TaskTime { date: to.date(), time: Some(to.time()) };
    let splices = match format {
        TaskFormat::Tasks | TaskFormat::Dataview => {
            let text = value(format, when);
            let first =
                || line.fields.iter().find(|field| field.format == format).map(|field| field.at.start);
            vec![match (line.field(format, FieldKind::Reminder), format) {
                (Some(field), _) => (field.value.clone(), text),
                (None, TaskFormat::Tasks) => (first()?..first()?, format!("⏰ {text} ")),
                (None, _) => (first()?..first()?, format!("[{}:: {text}]  ", rules.reminder_field)),
            }]
        }
        TaskFormat::Reminder => {
            let (mark, text) = (line.notification_field(format)?, value(format, when));
            vec![match (line.field(format, FieldKind::Snooze), line.field(format, FieldKind::Before)) {
                (Some(field), _) => (field.value.clone(), text),
                // A mark that moved would take its earlier times along.
                (None, Some(_)) if is_call(line, mark) => {
                    (mark.at.end..mark.at.end, format!(" @snooze({text})"))
                }
                _ => return moved(line, rules, when),
            }]
        }
        TaskFormat::Kanban => {
            let kanban = &rules.kanban;
            let date = line.notification_field(format)?;
            let as_it_was = |field: &TaskField, format, usual| {
                moment::write(when, moment::format_of(&line.item.text[field.value.clone()], format, usual))
            };
            let time = match line.field(format, FieldKind::Time) {
                Some(field) => (field.value.clone(), as_it_was(field, &kanban.time_format, moment::TIMES)?),
                None => {
                    let time = moment::write(when, &kanban.time_format);
                    let time = time.or_else(|| moment::write(when, moment::TIMES))?;
                    (date.at.end..date.at.end, format!(" {}{{{time}}}", kanban.time_trigger))
                }
            };
            vec![(date.value.clone(), as_it_was(date, &kanban.date_format, moment::DATES)?), time]
        }
        TaskFormat::TaskNotes => return None,
    };
    Some(splice(line.item.text, splices))
}

/// The line on another day. It gets a time of day if it has one already, or if the new time isn't the default one. In
/// Tasks' and Dataview's forms a day has no time, so the reminder field gets it. `None` if the form's settings have a
/// date format that can't be written.
pub fn on_day(line: &TaskLine<'_>, format: TaskFormat, rules: &Rules, to: DateTime) -> Option<String> {
    let is_default = to.time() == rules.default_time;
    let is_timed = |field: &TaskField| field.when.is_some_and(|when| when.time.is_some());
    let at = |is_timed: bool| TaskTime { date: to.date(), time: is_timed.then_some(to.time()) };
    let mut splices = Vec::new();
    match format {
        TaskFormat::Tasks | TaskFormat::Dataview => {
            let days = [FieldKind::Due, FieldKind::Scheduled, FieldKind::Start].into_iter();
            let day = days.filter_map(|key| line.field(format, key)).find(|field| field.when.is_some());
            let alarm = line.field(format, FieldKind::Reminder);
            if let Some(field) = day {
                splices.push((field.value.clone(), value(format, at(is_timed(field)))));
                if alarm.is_none() && !is_timed(field) && !is_default {
                    let moved = splice(line.item.text, splices);
                    return snoozed(&TaskLine::read(&moved, rules)?, format, rules, to);
                }
            }
            let at = |field: &TaskField| value(format, at(is_timed(field) || !is_default));
            splices.extend(alarm.map(|field| (field.value.clone(), at(field))));
        }
        TaskFormat::Reminder => {
            let is_timed = is_timed(line.notification_field(format)?);
            return moved(line, rules, at(is_timed || !is_default));
        }
        TaskFormat::Kanban if line.field(format, FieldKind::Time).is_none() && is_default => {
            let field = line.notification_field(format)?;
            let was = &line.item.text[field.value.clone()];
            let own = moment::format_of(was, &rules.kanban.date_format, moment::DATES);
            splices.push((field.value.clone(), moment::write(at(false), own)?));
        }
        TaskFormat::Kanban => return snoozed(line, format, rules, to),
        TaskFormat::TaskNotes => return None,
    }
    Some(splice(line.item.text, splices))
}

/// The line with other words, at the place of its first words; words between or after its fields are removed. `None` if
/// it has no words.
pub fn reworded(line: &TaskLine<'_>, words: &str) -> Option<String> {
    let item = &line.item;
    let mut splices = Vec::new();
    for piece in line.pieces() {
        let text = &item.text[piece.clone()];
        let (begin, length) = (piece.start + (text.len() - text.trim_start().len()), text.trim().len());
        splices.push(if splices.is_empty() {
            (begin..begin + length, words.to_owned())
        } else {
            (piece.start..begin + length, String::new())
        });
    }
    (!splices.is_empty()).then(|| splice(item.text, splices))
}

/// The line with the date of its mark moved, in the same form, and without a snooze: for Reminder Toast, and for
/// Reminder without recurrence.
pub fn moved(line: &TaskLine<'_>, rules: &Rules, when: TaskTime) -> Option<String> {
    let mut splices = vec![mark_date(line, rules, when)?];
    splices.extend(line.field(TaskFormat::Reminder, FieldKind::Snooze).map(|field| without(line, field)));
    Some(splice(line.item.text, splices))
}

/// The line of the next occurrence, for a mark of Reminder.
pub fn next_mark(line: &TaskLine<'_>, rules: &Rules, when: TaskTime) -> Option<String> {
    let end = (line.item.end..line.item.text.len(), String::new());
    Some(splice(line.item.text, vec![boxed(line, ' '), mark_date(line, rules, when)?, end]))
}

/// Whether a line's mark is Reminder Toast's.
pub fn is_toast(line: &TaskLine<'_>) -> bool {
    line.notification_field(TaskFormat::Reminder).is_some_and(|field| is_call(line, field))
}

/// Whether a mark is written as `@remind(…)`, not as `(@…)`.
fn is_call(line: &TaskLine<'_>, field: &TaskField) -> bool {
    !line.item.text[field.at.clone()].starts_with("(@")
}

fn mark_date(line: &TaskLine<'_>, rules: &Rules, when: TaskTime) -> Option<Splice> {
    let field = line.notification_field(TaskFormat::Reminder)?;
    let at = field.value.clone();
    if is_call(line, field) {
        return Some((at, value(TaskFormat::Reminder, when)));
    }
    let format = if when.time.is_some() { &rules.reminder_date_time } else { &rules.reminder_date };
    let text = moment::write(when, format)?;
    if !line.value(field).contains("[[") {
        return Some((at, text));
    }
    let date = moment::write(TaskTime { time: None, ..when }, &rules.reminder_date)?;
    Some((at, text.replacen(&date, &format!("[[{date}]]"), 1)))
}
