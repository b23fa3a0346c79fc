//! Reads task lines in the forms of other plugins: their words, their times, their recurrence.
//!
//! Five forms are read:
//!
//! - Tasks: `📅 2026-12-01`;
//! - Tasks with Dataview fields: `[due:: 2026-12-01]`;
//! - Reminder: `(@2026-12-01 09:30)`, and `@remind(2026-12-01 09:30)` of Reminder Toast;
//! - Kanban: `@{2026-12-01} @@{09:30}`;
//! - TaskNotes: each task is a note, with its fields in the frontmatter ([`note`]).
//!
//! A line is parsed by all forms at once; only tasks in enabled forms ([`Rules::on`]) are notified. [`Rules`] also
//! holds the settings of the plugins that change a form.
//!
//! - [`mod@field`]: the list item with its box, and the syntax of a field; [`marker`]: the fields of each form, with
//!   their places in the line;
//! - [`mod@edit`]: the edits of Done and Snooze, which keep every other byte;
//! - [`mod@english_repeat`]: recurrence in English, as these plugins write it; [`rrule`]: as TaskNotes does;
//! - [`mod@note`]: a note that is a task (TaskNotes); [`mod@moment`]: dates in the formats of the plugins' settings;
//! - [`mod@local_time`]: local times at changes of the clocks, also for `schedule`.
//!
//! Pure: today's date is not known here, and recurrences are computed in `schedule`.

pub mod edit;
pub mod english_repeat;
mod field;
pub mod local_time;
mod marker;
pub mod moment;
pub mod note;
pub mod rrule;

use std::ops::Range;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan as _};
use serde::{Deserialize, Serialize};

use super::lines;
use super::reminder::is_reminder;
use crate::defaults::defaults;
use crate::words::words;

pub use field::{FieldKind, ListItem, TaskField, TaskTime, list_item};

words! {
    /// The forms. A line in several forms counts as the first of them in this order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum TaskFormat, name {
        /// Tasks, with emoji; with `⏰` of Reminder.
        Tasks = "tasks",
        /// Tasks, with Dataview's fields.
        Dataview = "dataview",
        /// Reminder, and Reminder Toast.
        Reminder = "reminder",
        /// Kanban.
        Kanban = "kanban",
        /// TaskNotes.
        TaskNotes = "tasknotes",
    }
}

/// One time at which a task is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotificationTime {
    /// The local time.
    pub at: DateTime,
    /// Whether the line says a time of day; else it is the default one.
    pub timed: bool,
    /// How many minutes before the task's own time this is (`@before`), 0 for its own time.
    pub lead: u32,
    /// The form that gives this time.
    pub format: TaskFormat,
}

/// The content of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its form: the first of [`TaskFormat::ALL`] that is turned on and tells something.
    pub format: TaskFormat,
    /// Its own words: the text without fields, box and block id, with single blanks.
    pub words: String,
    /// When it is to be told, in the order of time; never empty.
    pub notification_times: Vec<NotificationTime>,
    /// The recurrence as written.
    pub repeat: Option<String>,
}

impl Task {
    /// The first time at which it is to be told.
    pub fn first_time(&self) -> Option<DateTime> {
        self.notification_times.first().map(|time| time.at)
    }
}

/// A task and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedTask {
    /// Its line, from 1; 1 for a note that is a task.
    pub line: usize,
    /// The line's bytes without the terminator; empty for a note that is a task.
    pub text: Vec<u8>,
    /// Its parsed content.
    pub task: Task,
}

/// The open tasks of a note that have a notification by an enabled form, in order.
///
/// `path` is the note's place in the vault, which gives a TaskNotes task its title.
pub fn scan(path: &str, bytes: &[u8], rules: &Rules) -> Vec<PlacedTask> {
    let mut found: Vec<PlacedTask> = Vec::new();
    if rules.on.contains(&TaskFormat::TaskNotes)
        && let Some(task) = note::read(path, bytes, rules)
    {
        found.push(PlacedTask { line: 1, text: Vec::new(), task });
    }
    found.extend(lines::LiveLines::new(bytes).filter_map(|line| {
        let text = std::str::from_utf8(line.text).ok()?;
        let task = read_line(text, rules)?;
        Some(PlacedTask { line: line.number, text: line.text.to_vec(), task })
    }));
    found
}

/// The open task in a line without its terminator, if it has a notification by an enabled form.
pub fn read_line(text: &str, rules: &Rules) -> Option<Task> {
    // Most tasks of an old vault are done, and cost no more than a look at their box.
    let item = list_item(text).filter(|item| rules.open.contains(&item.status))?;
    TaskLine::of(item, rules)?.task(rules).filter(|_| !is_reminder(text))
}

/// A task line with its fields of all forms.
#[derive(Debug, Clone)]
pub struct TaskLine<'a> {
    /// The list item.
    pub item: ListItem<'a>,
    /// All fields, in the order in which they stand; those of different forms may lie within each other.
    pub fields: Vec<TaskField>,
}

impl<'a> TaskLine<'a> {
    /// Reads a line without its terminator; `None` if it is no task with a field of any form.
    pub fn read(text: &'a str, rules: &Rules) -> Option<Self> {
        Self::of(list_item(text)?, rules)
    }

    fn of(item: ListItem<'a>, rules: &Rules) -> Option<Self> {
        let mut fields = marker::emoji_fields(&item);
        fields.extend(marker::inline_fields(&item, rules));
        fields.extend(marker::fields(&item, rules));
        fields.extend(marker::kanban_fields(&item, &rules.kanban));
        fields.sort_by_key(|field| (field.at.start, field.at.end));
        (!fields.is_empty()).then_some(Self { item, fields })
    }

    /// The first field of a form with a key.
    pub fn field(&self, format: TaskFormat, key: FieldKind) -> Option<&TaskField> {
        self.fields.iter().find(|field| field.format == format && field.key == key)
    }

    /// A field's value as it stands.
    pub fn value(&self, field: &TaskField) -> &'a str {
        &self.item.text[field.value.clone()]
    }

    /// The words without fields and block id.
    pub fn words(&self) -> String {
        let pieces = self.pieces().into_iter().map(|piece| &self.item.text[piece]);
        super::one_line(&pieces.collect::<Vec<_>>().join(" "))
    }

    /// The places of the words, between the fields.
    fn pieces(&self) -> Vec<Range<usize>> {
        let (mut pieces, mut at) = (Vec::new(), self.item.body);
        for field in &self.fields {
            pieces.push(at..field.at.start);
            at = at.max(field.at.end);
        }
        pieces.push(at..self.item.end);
        pieces.retain(|piece| self.item.text.get(piece.clone()).is_some_and(|text| !text.trim().is_empty()));
        pieces
    }

    /// The field of a form whose date gives the time of the notification.
    pub fn notification_field(&self, format: TaskFormat) -> Option<&TaskField> {
        [FieldKind::Reminder, FieldKind::Due, FieldKind::Scheduled, FieldKind::Start].into_iter().find_map(
            |key| self.fields.iter().find(|f| f.format == format && f.key == key && f.when.is_some()),
        )
    }

    /// The date from which a form's recurrence counts: the first of due, scheduled and start.
    pub fn reference(&self, format: TaskFormat) -> Option<TaskTime> {
        let dates = [FieldKind::Due, FieldKind::Scheduled, FieldKind::Start];
        dates.into_iter().find_map(|key| self.field(format, key)?.when)
    }

    /// [`Self::reference`], if the reminder field is on a later day. Such a field comes from a snooze, which ends with
    /// its time.
    pub fn snoozed_from(&self, format: TaskFormat) -> Option<TaskTime> {
        let alarm = self.field(format, FieldKind::Reminder)?.when?;
        self.reference(format).filter(|day| alarm.date > day.date)
    }

    /// The line's task, if it has a notification by an enabled form.
    pub fn task(&self, rules: &Rules) -> Option<Task> {
        let mut notification_times: Vec<NotificationTime> = Vec::new();
        for format in rules.on.iter().copied().filter(|format| rules.keeps(*format, &self.item)) {
            let Some(when) = self.notification_field(format).and_then(|field| field.when) else { continue };
            notification_times.extend(self.notification_times(format, when, rules));
        }
        notification_times.sort_unstable_by_key(|time| (time.at, time.lead, time.format));
        notification_times.dedup_by_key(|time| time.at);
        let format =
            rules.on.iter().copied().find(|format| notification_times.iter().any(|t| t.format == *format))?;
        let repeat = self.field(format, FieldKind::Repeat).map(|field| self.value(field).trim().to_owned());
        Some(Task { format, words: self.words(), notification_times, repeat })
    }

    /// The time itself, what comes before it, and a snooze beside them.
    fn notification_times(&self, format: TaskFormat, when: TaskTime, rules: &Rules) -> Vec<NotificationTime> {
        let at = when.at(rules.default_time);
        let timed = when.time.is_some();
        let leads = self.field(format, FieldKind::Before).map(|field| marker::leads(self.value(field)));
        let before = leads.into_iter().flatten().filter_map(|lead| {
            let at = rules.moved(at, SignedDuration::from_mins(-i64::from(lead)))?;
            Some(NotificationTime { at, timed, lead, format })
        });
        let snooze = self.field(format, FieldKind::Snooze).and_then(|field| field.when).map(|when| {
            let to = when.at(rules.default_time);
            let lead = u32::try_from(to.duration_until(at).as_mins()).unwrap_or(0);
            NotificationTime { at: to, timed: true, lead, format }
        });
        before.chain([NotificationTime { at, timed, lead: 0, format }]).chain(snooze).collect()
    }
}

defaults! {
    /// The rules for reading task lines; by default all forms, with the plugins' own defaults.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Rules {
        /// The forms that give notifications, in the order of [`TaskFormat::ALL`].
        pub on: Vec<TaskFormat> = TaskFormat::ALL.to_vec(),
        /// The time of day of a date without one.
        pub default_time: Time = Time::constant(9, 0, 0, 0),
        /// The zone of the vault, for instants with an offset.
        pub zone: TimeZone = TimeZone::UTC,
        /// The text that a line must hold to be one of Tasks' (its global filter); empty for none.
        pub filter: String,
        /// The characters in the box of an open task.
        pub open: Vec<char> = vec![' ', '/'],
        /// The fields that Tasks writes when a task is done.
        pub done: DoneRules,
        /// Reminder's date alone, in moment's letters.
        pub reminder_date: String = "YYYY-MM-DD".to_owned(),
        /// Reminder's date with a time.
        pub reminder_date_time: String = "YYYY-MM-DD HH:mm".to_owned(),
        /// Reminder's name of Dataview's field.
        pub reminder_field: String = "reminder".to_owned(),
        /// Kanban's triggers and formats.
        pub kanban: KanbanRules,
        /// TaskNotes' names.
        pub notes: NoteRules,
    }
}

impl Rules {
    /// A local time moved by whole days on the calendar, and by what is left over in time; a day has 24 hours in `by`.
    fn moved(&self, from: DateTime, by: SignedDuration) -> Option<DateTime> {
        let days = by.as_hours() / 24;
        let day = from.checked_add(days.days()).ok()?;
        let rest = by - SignedDuration::from_hours(days * 24);
        if rest.is_zero() {
            return Some(day);
        }
        let at = local_time::resolve(&self.zone, day).checked_add(rest).ok()?;
        Some(local_time::local_time(&self.zone, at))
    }

    /// Whether a line counts for a form: for Tasks, the line must have its global filter.
    pub(super) fn keeps(&self, format: TaskFormat, item: &ListItem<'_>) -> bool {
        !matches!(format, TaskFormat::Tasks | TaskFormat::Dataview)
            || self.filter.is_empty()
            || item.body().contains(&self.filter)
    }
}

defaults! {
    /// Tasks' settings of what it writes when a task is done.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DoneRules {
        /// The date of completion.
        pub date: bool = true,
        /// The next line stands below the one that is done, rather than above.
        pub next_below: bool,
        /// The next line's date of creation.
        pub created: bool,
        /// The next line has no planned date, where it has another one.
        pub drop_scheduled: bool,
    }
}

defaults! {
    /// Kanban's settings.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct KanbanRules {
        /// The trigger before a date.
        pub date_trigger: String = "@".to_owned(),
        /// The trigger before a time.
        pub time_trigger: String = "@@".to_owned(),
        /// The date in moment's letters.
        pub date_format: String = "YYYY-MM-DD".to_owned(),
        /// The time in moment's letters.
        pub time_format: String = "HH:mm".to_owned(),
    }
}

defaults! {
    /// TaskNotes' settings: how a note is known as a task, and the names of its properties.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct NoteRules {
        /// The tag of a task.
        pub tag: String = "task".to_owned(),
        /// The property, and its value, that make a note a task in the tag's place.
        pub property: Option<(String, String)>,
        /// The property with the title.
        pub title: String = "title".to_owned(),
        /// The property with the status.
        pub status: String = "status".to_owned(),
        /// The property with the due date.
        pub due: String = "due".to_owned(),
        /// The property with the planned date.
        pub scheduled: String = "scheduled".to_owned(),
        /// The property with the date of completion.
        pub completed: String = "completedDate".to_owned(),
        /// The property with the recurrence.
        pub recurrence: String = "recurrence".to_owned(),
        /// The property that says from what a recurring one counts on: `scheduled` or `completion`.
        pub anchor: String = "recurrence_anchor".to_owned(),
        /// The property with the time of the last change.
        pub modified: String = "dateModified".to_owned(),
        /// Whether the due date of a recurring one keeps its distance to the planned date.
        pub keep_offset: bool,
        /// The property with the days that are done of a recurring one.
        pub instances: String = "complete_instances".to_owned(),
        /// The property with the days that were left out of a recurring one.
        pub skipped: String = "skipped_instances".to_owned(),
        /// The property with the reminders.
        pub reminders: String = "reminders".to_owned(),
        /// The tag of a task that was put away.
        pub archived: String = "archived".to_owned(),
        /// The values of the status that say it is done; the first is the one that is written.
        pub done: Vec<String> = vec!["done".to_owned()],
    }
}
