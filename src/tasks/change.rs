//! Completes or snoozes a task of an Obsidian plugin in a note's bytes. Pure.
//!
//! A task is found by its id among the note's present lines. Completing does what the plugin does:
//!
//! - Tasks and Reminder: ticks the line (Tasks: removes it if its 🏁 says `delete`), and adds the next line of a
//!   recurring task;
//! - Kanban: ticks the line;
//! - Reminder Toast: moves the date of a recurring task;
//! - TaskNotes, where a task is a whole note: without a recurrence, sets the status for done and the date of
//!   completion. A recurring task keeps its status. Its planned day (or today, if it recurs from its completion) joins
//!   its completed days. Its dates move to the first day of the rule that isn't past, completed or skipped.
//!
//! A snoozed task is parsed again and must notify at its new time. The next line of a recurring task must have the same
//! words.

use std::collections::HashSet;

use jiff::civil::{Date, DateTime};
use jiff::{Span, ToSpan};

use super::{ChangedNote, Result, TaskError, TaskRef};
use crate::format::lines;
use crate::format::task::edit::{self, NextField};
use crate::format::task::english_repeat::{self, Repeat, RepeatUnit};
use crate::format::task::note::{self, PropertyChange, TaskNoteFields};
use crate::format::task::rrule::{self, Rrule};
use crate::format::task::{self, FieldKind, PlacedTask, Rules, TaskFormat, TaskLine, TaskTime};
use crate::schedule::task_dates::{NextTaskDate, next_date, next_or_last_day, step};

/// The text that replaces a task.
pub(super) struct ChangedText {
    /// The line itself; `None` where it goes.
    pub line: Option<String>,
    /// The line of the next time, and whether it stands below.
    pub next: Option<(String, bool)>,
    /// A remark for the person.
    pub remark: Option<String>,
}

impl ChangedText {
    pub(super) fn only(line: String) -> Self {
        Self { line: Some(line), next: None, remark: None }
    }
}

/// The note with the task done at `now`.
///
/// # Errors
/// The task isn't there or isn't open, or its recurrence isn't understood; then nothing is to be changed.
pub fn complete(bytes: &[u8], meant: &TaskRef<'_>, rules: &Rules, now: DateTime) -> Result<ChangedNote> {
    let placed = meant.find(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    let format = placed.task.format;
    if format == TaskFormat::TaskNotes {
        return complete_note(bytes, meant, rules, now);
    }
    let text = String::from_utf8_lossy(&placed.text).into_owned();
    let line = TaskLine::read(&text, rules).ok_or_else(|| TaskError::gone(meant))?;
    let written = match format {
        TaskFormat::Tasks | TaskFormat::Dataview => done_in_tasks(&line, format, rules, now)?,
        TaskFormat::Reminder => done_in_reminder(&line, rules, now)?,
        TaskFormat::Kanban | TaskFormat::TaskNotes => ChangedText::only(edit::ticked(&line, format, None)),
    };
    if let Some((next, _)) = &written.next {
        let reads = task::read_line(next, rules).is_some_and(|task| task.words == placed.task.words);
        // Without a date it is a task all the same, but one that isn't told.
        if !reads && TaskLine::read(next, rules).is_none_or(|next| next.words() != line.words()) {
            return Err(TaskError::Unwritable(text));
        }
    }
    Ok(replace_line(bytes, &placed, written))
}

/// The note with the task snoozed to `to`.
///
/// # Errors
/// The task isn't there or isn't open, or the plugin's own settings have a date that can't be written.
pub fn snooze(bytes: &[u8], meant: &TaskRef<'_>, rules: &Rules, to: DateTime) -> Result<ChangedNote> {
    let placed = meant.find(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    let format = placed.task.format;
    let text = String::from_utf8_lossy(&placed.text).into_owned();
    let changed = if format == TaskFormat::TaskNotes {
        let after = note::snoozed(bytes, rules, to);
        after.map(|after| changed_note(bytes, after, None))
    } else {
        let line = TaskLine::read(&text, rules).and_then(|line| edit::snoozed(&line, format, rules, to));
        line.map(|line| replace_line(bytes, &placed, ChangedText::only(line)))
    };
    let told = changed.and_then(|changed| meant.told_at(changed, rules, to));
    told.ok_or(TaskError::Unwritable(text))
}

/// The bytes with the line replaced.
pub(super) fn replace_line(bytes: &[u8], placed: &PlacedTask, written: ChangedText) -> ChangedNote {
    let stands = lines::lines(bytes).find(|line| line.number == placed.line);
    let (start, end, terminator) =
        stands.map_or((bytes.len(), bytes.len(), &b""[..]), |line| (line.start, line.end(), line.terminator));
    let between = if terminator.is_empty() { lines::terminator_of(bytes).as_bytes() } else { terminator };
    let ChangedText { line, next, remark } = written;
    let below = next.as_ref().is_some_and(|(_, below)| *below);
    let gone = String::from_utf8_lossy(&placed.text);
    let above = next.iter().filter(|_| !below).map(|(next, _)| next);
    let after = next.iter().filter(|_| below).map(|(next, _)| next);
    let all: Vec<&[u8]> = above.chain(&line).chain(after).map(String::as_bytes).collect();
    let mut with = all.join(between);
    if !all.is_empty() {
        with.extend_from_slice(terminator);
    }
    ChangedNote {
        bytes: [&bytes[..start], &with, &bytes[end..]].concat(),
        format: placed.task.format,
        line: placed.line + usize::from(next.is_some() && !below && line.is_some()),
        text: line.or_else(|| next.is_none().then(|| gone.into_owned())).unwrap_or_default(),
        next: next.map(|(next, _)| next),
        remark,
    }
}

/// The remark where a rule has come to its end.
const NO_NEXT: &str = "no further date fits its recurrence, so there is no next line";

/// As Tasks does it.
fn done_in_tasks(
    line: &TaskLine<'_>,
    format: TaskFormat,
    rules: &Rules,
    now: DateTime,
) -> Result<ChangedText> {
    let today = now.date();
    let ticked = edit::ticked(line, format, rules.done.date.then_some(today));
    let deleted = line
        .field(format, FieldKind::OnCompletion)
        .is_some_and(|field| line.value(field).trim().eq_ignore_ascii_case("delete"));
    let kept = (!deleted).then_some(ticked);
    if line.field(format, FieldKind::Repeat).is_none() {
        let remark = deleted.then(|| "the line is gone: its 🏁 says `delete`".to_owned());
        return Ok(ChangedText { line: kept, next: None, remark });
    }
    let Some((dates, remark)) = next_dates(line, format, rules, now)? else {
        return Ok(ChangedText { line: kept, next: None, remark: Some(NO_NEXT.to_owned()) });
    };
    let text = edit::next(line, format, &dates, rules.done.created.then_some(today));
    Ok(ChangedText { line: kept, next: Some((text, rules.done.next_below)), remark })
}

/// The dates of a line of Tasks at its next time (none: the field goes), and a remark. `None` where it comes once, or
/// not again.
fn next_dates(
    line: &TaskLine<'_>,
    format: TaskFormat,
    rules: &Rules,
    now: DateTime,
) -> Result<Option<(Vec<NextField>, Option<String>)>> {
    let Some(rule) = line.field(format, FieldKind::Repeat) else { return Ok(None) };
    let repeat = understood(line.value(rule))?;
    let when = |key| line.field(format, key).and_then(|field| field.when);
    // If the planned date goes, Tasks takes the start date before it.
    let start = || when(FieldKind::Start).filter(|_| rules.done.drop_scheduled);
    let reference = when(FieldKind::Due).or_else(start).or_else(|| line.reference(format));
    if let (None, Some(alarm)) = (reference, when(FieldKind::Reminder)) {
        // No date of Tasks': what moves on is the reminder, as Reminder moves it.
        let next = next_alarm(&repeat, alarm, now);
        return Ok(next.map(|next| (vec![(FieldKind::Reminder, Some(next))], None)));
    }
    let today = now.date();
    let from = reference.map_or(today, |when| if repeat.when_done { today } else { when.date });
    let Some(next) = step(&repeat, from) else { return Ok(None) };
    let by = reference.map_or_else(Span::new, |when| next.date - when.date);
    let along = |when: TaskTime| TaskTime { date: when.date.saturating_add(by), ..when };
    let drops =
        rules.done.drop_scheduled && (when(FieldKind::Due).is_some() || when(FieldKind::Start).is_some());
    let snoozed = line.snoozed_from(format).is_some();
    let alarm = when(FieldKind::Reminder).filter(|_| !snoozed).map(along);
    // Done early, `when done` takes the dates back; an alarm of a past day would hide the new one.
    let is_back = repeat.when_done && reference.is_some_and(|when| next.date < when.date);
    let is_over = |alarm: &TaskTime| is_back && alarm.at(rules.default_time) <= now && next.date > today;
    let remark = alarm
        .filter(is_over)
        .map(|alarm| format!("its `⏰` would be {}, which is over; it has none", alarm.date));
    let dates = vec![
        (FieldKind::Start, when(FieldKind::Start).map(along)),
        (FieldKind::Scheduled, when(FieldKind::Scheduled).filter(|_| !drops).map(along)),
        (FieldKind::Due, when(FieldKind::Due).map(along)),
        (FieldKind::Reminder, alarm.filter(|alarm| !is_over(alarm))),
    ];
    Ok(Some((dates, drift(next, line.value(rule)).or(remark))))
}

/// That a rule goes on from an earlier day of the month from now on.
fn drift(step: NextTaskDate, rule: &str) -> Option<String> {
    let (meant, now) = (step.short_of?, step.date.day());
    Some(format!(
        "the month of {} has no day {meant}, so `{}` goes on from day {now}, as Tasks has it; `every month on the last` keeps to the end of the month",
        step.date,
        rule.trim()
    ))
}

/// As Reminder and Reminder Toast do it: Reminder makes a line of the next time, and Toast moves the date in its line,
/// which stays open until its last day is over.
fn done_in_reminder(line: &TaskLine<'_>, rules: &Rules, now: DateTime) -> Result<ChangedText> {
    let ticked = ChangedText::only(edit::ticked(line, TaskFormat::Reminder, None));
    let Some(next) = next_mark(line, now)? else { return Ok(ticked) };
    let unwritable = || TaskError::Unwritable(line.item.text.to_owned());
    if edit::is_toast(line) {
        let moved = edit::moved(line, rules, next).ok_or_else(unwritable)?;
        let remark = Some(format!("it comes again on {}", next.date));
        return Ok(ChangedText { remark, ..ChangedText::only(moved) });
    }
    let text = edit::next_mark(line, rules, next).ok_or_else(unwritable)?;
    Ok(ChangedText { next: Some((text, false)), ..ticked })
}

/// The next time of a mark of Reminder's or Reminder Toast's; `None` where it comes once, or not again.
fn next_mark(line: &TaskLine<'_>, now: DateTime) -> Result<Option<TaskTime>> {
    let Some(rule) = line.field(TaskFormat::Reminder, FieldKind::Repeat) else { return Ok(None) };
    let Some(when) = line.notification_field(TaskFormat::Reminder).and_then(|field| field.when) else {
        return Ok(None);
    };
    if !edit::is_toast(line) {
        return Ok(next_alarm(&understood(line.value(rule))?, when, now));
    }
    let refused = |error| TaskError::Repeat(line.value(rule).trim().to_owned(), error);
    let (repeat, until) = english_repeat::reminder_toast(line.value(rule)).map_err(refused)?;
    let next = next_or_last_day(&repeat, when.date, when.date.max(now.date()));
    let next = next.filter(|next| until.is_none_or(|until| *next <= until));
    Ok(next.map(|date| TaskTime { date, ..when }))
}

/// The text of a task (its line or its note) moved to its next time, as if it were done at `now`. Its box, its ids and
/// its block id stay. `None` if it doesn't recur, has no further time, or can't be written so.
pub(super) fn at_next_time(
    bytes: &[u8],
    format: TaskFormat,
    rules: &Rules,
    now: DateTime,
) -> Option<Vec<u8>> {
    if format == TaskFormat::TaskNotes {
        let fields = note::fields(bytes, rules)?;
        // A notification may come on an earlier day than the task's own.
        let day = fields.scheduled.or(fields.due).map_or(now.date(), |when| when.date);
        let (changes, _) = next_time(&fields, &rules.notes.skipped, rules, day).ok()??;
        return note::with_changes(&note::without_snooze(bytes, rules), &changes);
    }
    let line = TaskLine::read(std::str::from_utf8(bytes).ok()?, rules)?;
    let next = match format {
        TaskFormat::Reminder => edit::moved(&line, rules, next_mark(&line, now).ok()??)?,
        _ => edit::redated(&line, format, &next_dates(&line, format, rules, now).ok()??.0),
    };
    Some(next.into_bytes())
}

/// The next time of a reminder that comes again: counted from its own time, or from today at that time where that is
/// later, or where it counts from the day on which it was done.
fn next_alarm(repeat: &Repeat, when: TaskTime, now: DateTime) -> Option<TaskTime> {
    let time = when.time.unwrap_or_default();
    let (own, today) = (when.date.to_datetime(time), now.date().to_datetime(time));
    let from = if repeat.when_done { today } else { own.max(today) };
    if repeat.every == RepeatUnit::Hour {
        let at = from.saturating_add(i64::from(repeat.interval).hours());
        return Some(TaskTime { date: at.date(), time: when.time.map(|_| at.time()) });
    }
    next_date(repeat, from.date(), from.date()).map(|date| TaskTime { date, ..when })
}

fn understood(rule: &str) -> Result<Repeat> {
    english_repeat::english(rule).map_err(|error| TaskError::Repeat(rule.trim().to_owned(), error))
}

/// More days than any rule needs to find one that isn't done.
const MOST_DAYS: usize = 10_000;

/// The note done at `now`.
fn complete_note(bytes: &[u8], meant: &TaskRef<'_>, rules: &Rules, now: DateTime) -> Result<ChangedNote> {
    let fields = note::fields(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    let names = &rules.notes;
    let (mut changes, mut remark) = (Vec::new(), None);
    match next_time(&fields, &names.instances, rules, now.date())? {
        None => {
            let status = names.done.first().map_or("done", String::as_str);
            changes.push(PropertyChange::Set(names.status.clone(), status.to_owned()));
            changes.push(PropertyChange::Set(names.completed.clone(), now.date().to_string()));
        }
        Some((moved, said)) => {
            changes.extend(moved);
            remark = Some(said);
        }
    }
    if fields.has_modified {
        let at = now.to_zoned(rules.zone.clone()).map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
        changes.extend(at.ok().map(|at| PropertyChange::Set(names.modified.clone(), at)));
    }
    let after = note::with_changes(&note::without_snooze(bytes, rules), &changes);
    let after = after.ok_or_else(|| TaskError::Unwritable(meant.path.to_owned()))?;
    Ok(changed_note(bytes, after, remark))
}

/// The note with another day: its planned day is changed, or else its due day. `None` if it has neither, or if its form
/// isn't that of TaskNotes.
pub(super) fn moved_note(bytes: &[u8], rules: &Rules, to: DateTime) -> Option<ChangedNote> {
    let (fields, names) = (note::fields(bytes, rules)?, &rules.notes);
    let (name, was) = match (fields.scheduled, fields.due) {
        (Some(was), _) => (&names.scheduled, was),
        (None, Some(was)) => (&names.due, was),
        (None, None) => return None,
    };
    let is_timed = was.time.is_some() || to.time() != rules.default_time;
    let when = TaskTime { date: to.date(), time: is_timed.then_some(to.time()) };
    let change = PropertyChange::Set(name.clone(), written(when));
    let after = note::with_changes(&note::without_snooze(bytes, rules), &[change])?;
    Some(changed_note(bytes, after, None))
}

/// The changes that move a recurring one on, with its day in `list`, and when it comes again; `None` where it comes
/// once.
fn next_time(
    fields: &TaskNoteFields,
    list: &str,
    rules: &Rules,
    today: Date,
) -> Result<Option<(Vec<PropertyChange>, String)>> {
    let Some(text) = &fields.recurrence else { return Ok(None) };
    let rule = &rrule::read(text).map_err(|error| TaskError::Repeat(text.trim().to_owned(), error))?;
    let names = &rules.notes;
    let planned = fields.scheduled.or(fields.due).map(|when| when.date);
    let day = planned.filter(|_| !fields.from_completion).unwrap_or(today);
    let mut changes = vec![PropertyChange::Push(list.to_owned(), vec![day.to_string()])];
    let start = if fields.from_completion { Some(day) } else { rule.start };
    let start =
        start.or(fields.scheduled.map(|when| when.date)).or(fields.created).or(planned).unwrap_or(today);
    if fields.from_completion || rule.start.is_none() {
        let time = fields.scheduled.filter(|_| !fields.from_completion).and_then(|when| when.time);
        let rule = rrule::starting(text, TaskTime { date: start, time });
        changes.push(PropertyChange::Set(names.recurrence.clone(), rule));
    }
    let over: HashSet<String> = if fields.from_completion {
        fields.skipped.iter().cloned().chain([day.to_string()]).collect()
    } else {
        fields.instances.iter().chain(&fields.skipped).cloned().chain([day.to_string()]).collect()
    };
    let Some(next) = next_open(rule, start, today, &over) else {
        return Ok(Some((changes, "it doesn't come again".to_owned())));
    };
    let kept = fields.due.zip(fields.scheduled).filter(|(due, _)| names.keep_offset || due.date < next);
    if let Some((due, scheduled)) = kept {
        let due = TaskTime { date: next.saturating_add(due.date - scheduled.date), ..due };
        changes.push(PropertyChange::Set(names.due.clone(), written(due)));
    }
    let scheduled = TaskTime { date: next, time: fields.scheduled.and_then(|when| when.time) };
    changes.push(PropertyChange::Set(names.scheduled.clone(), written(scheduled)));
    Ok(Some((changes, format!("it comes again on {next}"))))
}

/// The first day of a rule that isn't before today, and isn't over.
fn next_open(rule: &Rrule, start: Date, today: Date, over: &HashSet<String>) -> Option<Date> {
    let mut day = start.yesterday().ok()?;
    if rule.count.is_none() {
        day = day.max(today.yesterday().ok()?);
    }
    let count =
        rule.count.map_or(MOST_DAYS, |count| usize::try_from(count).unwrap_or(MOST_DAYS).min(MOST_DAYS));
    for _ in 0..count {
        day =
            next_date(&rule.repeat, start, day).filter(|day| rule.until.is_none_or(|until| *day <= until))?;
        if day >= today && !over.contains(&day.to_string()) {
            return Some(day);
        }
    }
    None
}

/// A date as TaskNotes writes it.
fn written(when: TaskTime) -> String {
    match when.time {
        None => when.date.to_string(),
        Some(time) => format!("{}T{}", when.date, time.strftime("%H:%M")),
    }
}

/// The change of a note, with its changed lines.
pub(super) fn changed_note(before: &[u8], after: Vec<u8>, remark: Option<String>) -> ChangedNote {
    let old: HashSet<&[u8]> = lines::lines(before).map(|line| line.text).collect();
    let new: Vec<(usize, String)> = lines::lines(&after)
        .filter(|line| !old.contains(line.text))
        .map(|line| (line.number, String::from_utf8_lossy(line.text).into_owned()))
        .collect();
    let line = new.first().map_or(1, |(line, _)| *line);
    let text = new.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
    ChangedNote { bytes: after, format: TaskFormat::TaskNotes, line, text, next: None, remark }
}
