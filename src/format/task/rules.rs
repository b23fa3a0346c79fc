//! Holds the rules for reading task lines: the forms that are on, and the plugins' own settings.

use jiff::{civil::Time, tz::TimeZone};

use super::TaskFormat;
use super::item::ListItem;
use crate::defaults::defaults;

defaults! {
    /// How task lines are read; by default all forms, with the plugins' own defaults.
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
    /// Whether a line is one of a form's: those of Tasks hold its global filter.
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
