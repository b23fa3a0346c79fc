//! Reads the settings of task plugins from the vault's folder `.obsidian`: formats of dates, names of properties, the
//! checkbox marks of open tasks.

use serde::Deserialize;
use serde_json::Value;

use super::TaskSettings;
use crate::format::task::moment::is_read;
use crate::format::task::{KanbanRules, Rules, TaskFormat};
use crate::vault::{NotePath, Vault};

/// The rules by which this vault's task lines are read, from the plugins' present settings.
///
/// # Errors
/// A plugin's settings are there and can't be read: what its lines mean isn't known until they can.
pub fn rules(vault: &Vault, settings: &TaskSettings) -> Result<Rules, String> {
    let mut rules = Rules {
        on: settings.on.clone(),
        default_time: settings.default_time,
        zone: settings.zone.clone(),
        ..Rules::default()
    };
    let on = |formats: &[TaskFormat]| formats.iter().any(|format| settings.on.contains(format));
    if on(&[TaskFormat::Tasks, TaskFormat::Dataview])
        && let Some(tasks) = read(vault, "obsidian-tasks-plugin")?
    {
        put(&tasks["globalFilter"], &mut rules.filter);
        open_marks(&tasks["statusSettings"], &mut rules.open);
        let done = &mut rules.done;
        put(&tasks["setDoneDate"], &mut done.date);
        put(&tasks["setCreatedDate"], &mut done.created);
        put(&tasks["recurrenceOnNextLine"], &mut done.next_below);
        put(&tasks["removeScheduledDateOnRecurrence"], &mut done.drop_scheduled);
    }
    if on(&[TaskFormat::Reminder, TaskFormat::Dataview])
        && let Some(reminder) = read(vault, "obsidian-reminder-plugin")?
    {
        let own = reminder.get("settings").unwrap_or(&reminder);
        put(&own["dateFormat"], &mut rules.reminder_date);
        put(&own["dateTimeFormat"], &mut rules.reminder_date_time);
        put(&own["dataviewReminderFieldName"], &mut rules.reminder_field);
    }
    if on(&[TaskFormat::Kanban]) {
        kanban_defaults(vault, &mut rules.kanban);
        let kanban = read(vault, "obsidian-kanban")?.unwrap_or_default();
        put(&kanban["date-trigger"], &mut rules.kanban.date_trigger);
        put(&kanban["time-trigger"], &mut rules.kanban.time_trigger);
        put(&kanban["date-format"], &mut rules.kanban.date_format);
        put(&kanban["time-format"], &mut rules.kanban.time_format);
    }
    if on(&[TaskFormat::TaskNotes])
        && let Some(notes) = read(vault, "tasknotes")?
    {
        task_notes(&notes, &mut rules);
    }
    Ok(rules)
}

/// Kanban's formats where its settings name none: that of daily notes, else of the plugin Natural Language Dates, else
/// of templates.
fn kanban_defaults(vault: &Vault, rules: &mut KanbanRules) {
    let file = |path: &str| read_json(vault, path).ok().flatten().unwrap_or_default();
    let core = file("core-plugins.json");
    for (plugin, path, date, time) in [
        ("templates", "templates.json", "dateFormat", "timeFormat"),
        ("", "plugins/nldates-obsidian/data.json", "format", "timeFormat"),
        ("daily-notes", "daily-notes.json", "format", ""),
    ] {
        let set = file(path);
        for (key, place) in [(date, &mut rules.date_format), (time, &mut rules.time_format)] {
            if core[plugin] != false && set[key].as_str().is_some_and(|format| !format.is_empty()) {
                put(&set[key], place);
            }
        }
    }
}

/// The problems of date formats in which no date can be read.
pub(super) fn unread_formats(rules: &Rules) -> Vec<String> {
    let formats = [
        (TaskFormat::Reminder, &rules.reminder_date),
        (TaskFormat::Reminder, &rules.reminder_date_time),
        (TaskFormat::Kanban, &rules.kanban.date_format),
    ];
    let unread = formats.into_iter().filter(|(form, format)| rules.on.contains(form) && !is_read(format));
    let problem = |(form, format)| {
        format!(
            "tasks of `{form}` have dates in the format `{format}`, which isn't read, so they aren't delivered; its letters may be those of `YYYY-MM-DD HH:mm`, `D MMMM`, `Do`, `dddd` and `h:mm A`"
        )
    };
    unread.map(problem).collect()
}

/// A plugin's settings; none where the plugin isn't there.
fn read(vault: &Vault, plugin: &str) -> Result<Option<Value>, String> {
    read_json(vault, &format!("plugins/{plugin}/data.json"))
}

/// A file of Obsidian's settings; none where it isn't there.
fn read_json(vault: &Vault, path: &str) -> Result<Option<Value>, String> {
    let path = NotePath::new(&format!(".obsidian/{path}")).map_err(|error| error.to_string())?;
    let Some(bytes) = vault.read_if_there(&path).map_err(|error| error.to_string())? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| format!("`{path}` can't be read, so its plugin's tasks aren't delivered: {error}"))
}

/// Puts a setting in its place, if it is there and of this type.
fn put<'v, T: Deserialize<'v>>(value: &'v Value, place: &mut T) {
    if let Ok(read) = T::deserialize(value) {
        *place = read;
    }
}

/// The marks that Tasks' own statuses call open.
fn open_marks(statuses: &Value, open: &mut Vec<char>) {
    let all = ["coreStatuses", "customStatuses"].iter().filter_map(|key| statuses[key].as_array()).flatten();
    for status in all {
        let Some(mark) = status["symbol"].as_str().and_then(|symbol| symbol.chars().next()) else { continue };
        let is_open = matches!(status["type"].as_str(), Some("TODO" | "IN_PROGRESS" | "ON_HOLD"));
        open.retain(|known| *known != mark);
        if is_open {
            open.push(mark);
        }
    }
}

fn task_notes(settings: &Value, rules: &mut Rules) {
    let notes = &mut rules.notes;
    put(&settings["taskTag"], &mut notes.tag);
    if settings["taskIdentificationMethod"].as_str() == Some("property") {
        let text = |key: &str| settings[key].as_str().unwrap_or_default().to_owned();
        notes.property = Some((text("taskPropertyName"), text("taskPropertyValue")));
    }
    let names = &settings["fieldMapping"];
    put(&names["title"], &mut notes.title);
    put(&names["status"], &mut notes.status);
    put(&names["due"], &mut notes.due);
    put(&names["scheduled"], &mut notes.scheduled);
    put(&names["completedDate"], &mut notes.completed);
    put(&names["recurrence"], &mut notes.recurrence);
    put(&names["recurrenceAnchor"], &mut notes.anchor);
    put(&names["dateModified"], &mut notes.modified);
    put(&settings["maintainDueDateOffsetInRecurring"], &mut notes.keep_offset);
    put(&names["completeInstances"], &mut notes.instances);
    put(&names["skippedInstances"], &mut notes.skipped);
    put(&names["reminders"], &mut notes.reminders);
    put(&names["archiveTag"], &mut notes.archived);
    if let Some(statuses) = settings["customStatuses"].as_array() {
        let done = statuses.iter().filter(|status| status["isCompleted"] == true);
        let done: Vec<String> =
            done.filter_map(|status| Some(status["value"].as_str()?.to_owned())).collect();
        if !done.is_empty() {
            notes.done = done;
        }
    }
}
