//! Holds the rules for reading task lines: the forms that are on, and the plugins' own settings.

use jiff::{civil::Time, tz::TimeZone};

use super::Format;
use super::item::Item;

/// How task lines are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The forms that give notifications, in the order of [`Format::ALL`].
    pub on: Vec<Format>,
    /// The time of day of a date without one.
    pub default_time: Time,
    /// The zone of the vault, for instants with an offset.
    pub zone: TimeZone,
    /// The text that a line must hold to be one of Tasks' (its global filter); empty for none.
    pub filter: String,
    /// The characters in the box of an open task.
    pub open: Vec<char>,
    /// The fields that Tasks writes when a task is done.
    pub done: DoneRules,
    /// Reminder's date alone, in moment's letters.
    pub reminder_date: String,
    /// Reminder's date with a time.
    pub reminder_date_time: String,
    /// Reminder's name of Dataview's field.
    pub reminder_field: String,
    /// Kanban's triggers and formats.
    pub kanban: KanbanRules,
    /// TaskNotes' names.
    pub notes: NoteRules,
}

impl Default for Rules {
    /// All forms, with the plugins' default settings.
    fn default() -> Self {
        Self {
            on: Format::ALL.to_vec(),
            default_time: Time::constant(9, 0, 0, 0),
            zone: TimeZone::UTC,
            filter: String::new(),
            open: vec![' ', '/'],
            done: DoneRules::default(),
            reminder_date: "YYYY-MM-DD".to_owned(),
            reminder_date_time: "YYYY-MM-DD HH:mm".to_owned(),
            reminder_field: "reminder".to_owned(),
            kanban: KanbanRules::default(),
            notes: NoteRules::default(),
        }
    }
}

impl Rules {
    /// Whether a line is one of a form's: those of Tasks hold its global filter.
    pub(super) fn keeps(&self, format: Format, item: &Item<'_>) -> bool {
        !matches!(format, Format::Tasks | Format::Dataview)
            || self.filter.is_empty()
            || item.body().contains(&self.filter)
    }
}

/// Tasks' settings of what it writes when a task is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoneRules {
    /// The date of completion.
    pub date: bool,
    /// The next line stands below the one that is done, rather than above.
    pub next_below: bool,
    /// The next line's date of creation.
    pub created: bool,
    /// The next line has no planned date, where it has another one.
    pub drop_scheduled: bool,
}

impl Default for DoneRules {
    fn default() -> Self {
        Self { date: true, next_below: false, created: false, drop_scheduled: false }
    }
}

/// Kanban's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KanbanRules {
    /// The trigger before a date.
    pub date_trigger: String,
    /// The trigger before a time.
    pub time_trigger: String,
    /// The date in moment's letters.
    pub date_format: String,
    /// The time in moment's letters.
    pub time_format: String,
}

impl Default for KanbanRules {
    fn default() -> Self {
        Self {
            date_trigger: "@".to_owned(),
            time_trigger: "@@".to_owned(),
            date_format: "YYYY-MM-DD".to_owned(),
            time_format: "HH:mm".to_owned(),
        }
    }
}

/// TaskNotes' settings: how a note is known as a task, and the names of its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRules {
    /// The tag of a task.
    pub tag: String,
    /// The property, and its value, that make a note a task in the tag's place.
    pub property: Option<(String, String)>,
    /// The property with the title.
    pub title: String,
    /// The property with the status.
    pub status: String,
    /// The property with the due date.
    pub due: String,
    /// The property with the planned date.
    pub scheduled: String,
    /// The property with the date of completion.
    pub completed: String,
    /// The property with the recurrence.
    pub recurrence: String,
    /// The property that says from what a recurring one counts on: `scheduled` or `completion`.
    pub anchor: String,
    /// The property with the time of the last change.
    pub modified: String,
    /// Whether the due date of a recurring one keeps its distance to the planned date.
    pub keep_offset: bool,
    /// The property with the days that are done of a recurring one.
    pub instances: String,
    /// The property with the days that were left out of a recurring one.
    pub skipped: String,
    /// The property with the reminders.
    pub reminders: String,
    /// The tag of a task that was put away.
    pub archived: String,
    /// The values of the status that say it is done; the first is the one that is written.
    pub done: Vec<String>,
}

impl Default for NoteRules {
    fn default() -> Self {
        let text = str::to_owned;
        Self {
            tag: text("task"),
            property: None,
            title: text("title"),
            status: text("status"),
            due: text("due"),
            scheduled: text("scheduled"),
            completed: text("completedDate"),
            recurrence: text("recurrence"),
            anchor: text("recurrence_anchor"),
            modified: text("dateModified"),
            keep_offset: false,
            instances: text("complete_instances"),
            skipped: text("skipped_instances"),
            reminders: text("reminders"),
            archived: text("archived"),
            done: vec![text("done")],
        }
    }
}
