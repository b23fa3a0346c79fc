//! Completes a task that is a note, as TaskNotes does. Pure.
//!
//! A task without recurrence gets the status for done and the day. A recurring task keeps its status; the day is added
//! to its list of completed days, and its dates move on to the first day of its rule that isn't over and was neither
//! completed nor skipped.

use std::collections::HashSet;

use jiff::civil::{Date, DateTime};

use super::{ChangedNote, TaskError, TaskRef};
use crate::format::lines;
use crate::format::task::note::{self, PropertyChange, TaskNoteFields};
use crate::format::task::rrule::{self, Rrule};
use crate::format::task::{Rules, TaskFormat, TaskTime};
use crate::schedule::task_dates::next_date;
use crate::tasks::Result;

/// More days than any rule needs to find one that isn't done.
const MOST: usize = 10_000;

/// The note done at `now`.
pub(super) fn complete(
    bytes: &[u8],
    meant: &TaskRef<'_>,
    rules: &Rules,
    now: DateTime,
) -> Result<ChangedNote> {
    let fields = note::fields(bytes, rules).ok_or_else(|| TaskError::gone(meant))?;
    let names = &rules.notes;
    let (mut changes, mut remark) = (Vec::new(), None);
    match &fields.recurrence {
        None => {
            let status = names.done.first().map_or("done", String::as_str);
            changes.push(PropertyChange::Set(names.status.clone(), status.to_owned()));
            changes.push(PropertyChange::Set(names.completed.clone(), now.date().to_string()));
        }
        Some(text) => {
            let rule = rrule::read(text).map_err(|error| TaskError::Repeat(text.trim().to_owned(), error))?;
            let (moved, said) = next_time(&fields, text, &rule, rules, now.date());
            changes.extend(moved);
            remark = Some(said);
        }
    }
    if fields.has_modified {
        let at = now.to_zoned(rules.zone.clone()).map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
        changes.extend(at.ok().map(|at| PropertyChange::Set(names.modified.clone(), at)));
    }
    let after =
        note::with_changes(bytes, &changes).ok_or_else(|| TaskError::Unwritable(meant.path.to_owned()))?;
    Ok(changed(bytes, after, remark))
}

/// The note on another day: the day that it is planned for, else the one that it is due on. `None` where it has neither, or a
/// form that is none of TaskNotes'.
pub(super) fn moved(bytes: &[u8], rules: &Rules, to: DateTime) -> Option<ChangedNote> {
    let (fields, names) = (note::fields(bytes, rules)?, &rules.notes);
    let (name, was) = match (fields.scheduled, fields.due) {
        (Some(was), _) => (&names.scheduled, was),
        (None, Some(was)) => (&names.due, was),
        (None, None) => return None,
    };
    let is_timed = was.time.is_some() || to.time() != rules.default_time;
    let when = TaskTime { date: to.date(), time: is_timed.then_some(to.time()) };
    let after = note::with_changes(bytes, &[PropertyChange::Set(name.clone(), written(when))])?;
    Some(changed(bytes, after, None))
}

/// The changes that move a recurring one on, and when it comes again.
fn next_time(
    fields: &TaskNoteFields,
    text: &str,
    rule: &Rrule,
    rules: &Rules,
    today: Date,
) -> (Vec<PropertyChange>, String) {
    let names = &rules.notes;
    let planned = fields.scheduled.filter(|_| !fields.from_completion);
    let day = planned.map_or(today, |when| when.date);
    let mut changes = vec![PropertyChange::Push(names.instances.clone(), vec![day.to_string()])];
    let start = if fields.from_completion { Some(day) } else { rule.start };
    let start = start.or(fields.scheduled.map(|when| when.date)).or(fields.created).unwrap_or(today);
    if fields.from_completion || rule.start.is_none() {
        changes.push(PropertyChange::Set(names.recurrence.clone(), rrule::starting(text, start)));
    }
    let over: HashSet<String> = if fields.from_completion {
        fields.skipped.iter().cloned().chain([day.to_string()]).collect()
    } else {
        fields.instances.iter().chain(&fields.skipped).cloned().chain([day.to_string()]).collect()
    };
    let Some(next) = next_open(rule, start, today, &over) else {
        return (changes, "it doesn't come again".to_owned());
    };
    let kept = fields.due.zip(fields.scheduled).filter(|(due, _)| names.keep_offset || due.date < next);
    if let Some((due, scheduled)) = kept {
        let due = TaskTime { date: next.saturating_add(due.date - scheduled.date), ..due };
        changes.push(PropertyChange::Set(names.due.clone(), written(due)));
    }
    let scheduled = TaskTime { date: next, time: fields.scheduled.and_then(|when| when.time) };
    changes.push(PropertyChange::Set(names.scheduled.clone(), written(scheduled)));
    (changes, format!("it comes again on {next}"))
}

/// The first day of a rule that isn't before today, and isn't over.
fn next_open(rule: &Rrule, start: Date, today: Date, over: &HashSet<String>) -> Option<Date> {
    let mut day = start.yesterday().ok()?;
    if rule.count.is_none() {
        day = day.max(today.yesterday().ok()?);
    }
    let count = rule.count.map_or(MOST, |count| usize::try_from(count).unwrap_or(MOST).min(MOST));
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

/// The change of a note, with the lines that are others than before.
pub(super) fn changed(before: &[u8], after: Vec<u8>, remark: Option<String>) -> ChangedNote {
    let old: HashSet<&[u8]> = lines::lines(before).map(|line| line.text).collect();
    let new: Vec<(usize, String)> = lines::lines(&after)
        .filter(|line| !old.contains(line.text))
        .map(|line| (line.number, String::from_utf8_lossy(line.text).into_owned()))
        .collect();
    let line = new.first().map_or(1, |(line, _)| *line);
    let text = new.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
    ChangedNote { bytes: after, format: TaskFormat::TaskNotes, line, text, next: None, remark }
}
