//! Turns lines of other notes into reminders: dated tasks of other plugins, and stray reminder lines. Pure.
//!
//! A reminder line moves whole. A task stays where it is, as a task without a date. Its date, time and recurrence
//! become a line of the note of reminders, and no other byte of the task changes.
//!
//! Two kinds of tasks stay as they are, and are listed with the reason:
//!
//! - a task that a reminder line can't express (every two weeks, a time that has passed);
//! - a task that is due within a few minutes, or due and not notified yet: the task and the new reminder could both be
//!   notified.

use jiff::{SignedDuration, Timestamp, civil};

use crate::format::reminder::{self, Recur, Reminder};
use crate::format::task::english_repeat::{self, RepeatUnit};
use crate::format::task::{self, FieldKind, Rules, Task, TaskField, TaskFormat, TaskLine, edit};
use crate::schedule::{self, Zone};

/// A task that is told so near to now stays a task.
const TOO_NEAR: SignedDuration = SignedDuration::from_mins(5);

/// A line that becomes a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Its bytes, without the terminator.
    pub text: Vec<u8>,
    /// The line that stays in its place; `None` for a line that goes.
    pub remaining: Option<String>,
    /// The reminders that it becomes, without ids where it had none.
    pub reminders: Vec<Reminder>,
}

/// A line that can't become a reminder, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnadoptedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Why not.
    pub reason: String,
}

/// The lines of a note that can become reminders, and those that can't, in their order.
///
/// `path` is the note's, for tasks that are notes; `rules` say which forms are read, `told` which of them are told as
/// they stand. `is_unsent` says of a task's words and a local time that it is due and not told yet: such a line stays
/// until it was.
pub fn adopt(
    path: &str,
    bytes: &[u8],
    rules: &Rules,
    told: &[TaskFormat],
    now: Timestamp,
    zone: &Zone,
    is_unsent: impl Fn(&str, civil::DateTime) -> bool,
) -> (Vec<AdoptedLine>, Vec<UnadoptedLine>) {
    let (mut adopted, mut kept) = (Vec::new(), Vec::new());
    for line in reminder::parse(bytes).reminders {
        let reminders = vec![line.reminder];
        adopted.push(AdoptedLine { line: line.line, text: line.text, remaining: None, reminders });
    }
    for placed in task::scan(path, bytes, rules) {
        let text = std::str::from_utf8(&placed.text).unwrap_or_default();
        let Some(line) = TaskLine::read(text, rules) else {
            let reason = "a note that is a task stays one: `[reminders] also = [\"tasknotes\"]` delivers it"
                .to_owned();
            kept.push(UnadoptedLine { line: placed.line, reason });
            continue;
        };
        let task = &placed.task;
        let is_near = |time: &&task::NotificationTime| {
            let at = schedule::resolve(zone, time.at);
            told.contains(&time.format) && now.duration_since(at).abs() < TOO_NEAR
        };
        let mut times = task.notification_times.iter();
        let found = if let Some(time) = times.clone().find(|time| is_unsent(&task.words, time.at)) {
            Err(format!("it was due {} and is not delivered yet: run this again once it is", shown(time.at)))
        } else if let Some(near) = times.find(is_near) {
            Err(format!("it is due {}, too near to now", shown(near.at)))
        } else if line.fields.iter().any(|field| {
            let gives = field.when.is_some() || field.key == FieldKind::Repeat;
            field.format != task.format && gives && gives_time(field.key)
        }) {
            Err("it has dates in the forms of two plugins: take one of them out".to_owned())
        } else {
            reminders(task, &line, rules, now, zone)
        };
        match found {
            Ok(reminders) => {
                let left = Some(without_times(&line, task.format));
                adopted.push(AdoptedLine {
                    line: placed.line,
                    text: placed.text.clone(),
                    remaining: left,
                    reminders,
                });
            }
            Err(reason) => kept.push(UnadoptedLine { line: placed.line, reason }),
        }
    }
    adopted.sort_by_key(|one| one.line);
    (adopted, kept)
}

/// The reminders for a task: one for each time of its notifications. A snooze of one that comes again comes once, and
/// the others count from the day that it was snoozed from.
fn reminders(
    task: &Task,
    line: &TaskLine<'_>,
    rules: &Rules,
    now: Timestamp,
    zone: &Zone,
) -> Result<Vec<Reminder>, String> {
    let main = task.notification_times.iter().find(|time| time.lead == 0).or(task.notification_times.first());
    let Some(main) = main else { return Err("it has no time".to_owned()) };
    let day = task.repeat.as_ref().and_then(|_| line.snoozed_from(task.format));
    let day = day.map(|day| day.at(rules.default_time));
    let own = day.unwrap_or(main.at).date();
    let recur = match &task.repeat {
        None => Recur::None,
        Some(text) => recurrence(text, own)?,
    };
    let msg = task.words.trim().to_owned();
    if msg.is_empty() {
        return Err("it has no words".to_owned());
    }
    let beside = line.field(TaskFormat::Reminder, FieldKind::Snooze).and_then(|field| field.when);
    let beside = beside.map(|when| when.at(rules.default_time));
    let told = task.notification_times.iter();
    let told = told.map(|time| match day.is_some() || beside == Some(time.at) {
        true => (time.at, Recur::None, true),
        false => (time.at, recur, time.lead > 0),
    });
    let mut out: Vec<Reminder> = Vec::new();
    for (local, recur, is_extra) in told.chain(day.map(|day| (day, recur, false))) {
        let (date, time) = (local.date(), local.time());
        // The day before the first is another one each month.
        if recur == Recur::Monthly && date != own && (date.month() != own.month() || own.day() > 28) {
            return Err(
                "it is due days before a monthly date, which a reminder line can't count back".to_owned()
            );
        }
        let first = Reminder { date, time, recur, day: None, msg: msg.clone(), id: None, block_id: None };
        let at = schedule::resolve(zone, local);
        let is_over = at < now || day == Some(local);
        match schedule::next_occurrence(zone, &first, now.max(at)).filter(|_| is_over && recur != Recur::None)
        {
            Some(next) => out.push(Reminder { date: next.local.date(), day: next.day, ..first }),
            // A time before the task's own, or a snooze, that has passed is of no use any more.
            None if is_over && is_extra => {}
            None if is_over => {
                let due = shown(local);
                return Err(format!("it was due {due}: give it a date that is to come, or tick it"));
            }
            None => out.push(first),
        }
    }
    Ok(out)
}

fn shown(at: civil::DateTime) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// The recurrence of a reminder line that gives the same days, from the date on.
fn recurrence(text: &str, date: civil::Date) -> Result<Recur, String> {
    let other = || format!("it comes again `{text}`, and a reminder line only daily, weekly or monthly");
    let toast = || english_repeat::reminder_toast(text).ok().filter(|(_, until)| until.is_none());
    let repeat = english_repeat::english(text).ok().or_else(|| Some(toast()?.0)).ok_or_else(other)?;
    if repeat.interval != 1 || repeat.when_done || !repeat.months.is_empty() {
        return Err(other());
    }
    let weekday = u8::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
    // A rule that names the day skips the months that lack it, and a reminder comes on their last day.
    let same_day = |days: &[i8]| days.is_empty() || (days == [date.day()] && date.day() <= 28);
    let on_it =
        repeat.weekdays.len() == 1 && repeat.weekdays[0].day == weekday && repeat.weekdays[0].nth == 0;
    match repeat.every {
        RepeatUnit::Day if repeat.weekdays.is_empty() && repeat.days.is_empty() => Ok(Recur::Daily),
        RepeatUnit::Week if (repeat.weekdays.is_empty() || on_it) && repeat.days.is_empty() => {
            Ok(Recur::Weekly)
        }
        RepeatUnit::Month if repeat.weekdays.is_empty() && same_day(&repeat.days) => Ok(Recur::Monthly),
        _ => Err(other()),
    }
}

/// Whether a field says when a task is told.
fn gives_time(key: FieldKind) -> bool {
    matches!(
        key,
        FieldKind::Reminder
            | FieldKind::Due
            | FieldKind::Scheduled
            | FieldKind::Start
            | FieldKind::Repeat
            | FieldKind::Before
            | FieldKind::Snooze
            | FieldKind::Time
    )
}

/// The line without the form's fields of its notification times, and the blanks before them.
fn without_times(line: &TaskLine<'_>, format: TaskFormat) -> String {
    let goes = |field: &TaskField| field.format == format && gives_time(field.key);
    let (mut out, body) = (edit::without_fields(line, goes), line.item.body);
    // A field at the beginning leaves its blank behind.
    if out.len() > body && out[body..].starts_with(' ') {
        out.remove(body);
    }
    out
}
