//! Defines the tools of reminders. Each change is confirmed to the user.

use rmcp::model;

use super::{Argument, Effect, ToolEntry, choice, line, line_of, whole};
use crate::format::reminder::Recur;
use crate::mcp::outputs::{DoneLine, Reminders, Written};
use crate::mcp::tools::reminders;
use crate::reminders::MOST_MESSAGE_CHARS;

const ID: &str = "`rid_…`, from `reminder_list`.";
const RECUR: &[&str] = &Recur::NAMES;
const WHEN: &str = "Local: `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`. Two meanings (`at 5`) are refused.";

pub(super) const LIST: ToolEntry = ToolEntry {
    name: "reminder_list",
    title: "List reminders",
    doc: "Lists reminders, and told tasks of other plugins, with ids and times.",
    arguments: &[],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Reminders>,
    act: reminders::list,
};

pub(super) const ADD: ToolEntry = ToolEntry {
    name: "reminder_add",
    title: "Add a reminder",
    doc: "Adds a reminder. Answers with the exact line.",
    arguments: &[
        line("when", true, WHEN),
        line_of("message", MOST_MESSAGE_CHARS, true, "One line that makes sense by itself."),
        Argument { default: Some("none"), ..choice("recur", RECUR, false, "How it repeats.") },
    ],
    effect: Effect::Adds,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::add,
};

pub(super) const UPDATE: ToolEntry = ToolEntry {
    name: "reminder_update",
    title: "Change a reminder",
    doc: "Changes a reminder; what isn't given stays.",
    arguments: &[
        line("id", true, ID),
        line("when", false, "As in `reminder_add`."),
        line_of("message", MOST_MESSAGE_CHARS, false, "One line."),
        choice("recur", RECUR, false, "How it repeats."),
    ],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::update,
};

pub(super) const DONE: ToolEntry = ToolEntry {
    name: "reminder_done",
    title: "Say that a reminder or a task is done",
    doc: "Only when the user says that it is done. Removes a reminder that comes once; ticks a plugin's task. The user can undo it.",
    arguments: &[line("id", true, "`rid_…` or `task_…`, from `reminder_list`.")],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<DoneLine>,
    act: reminders::done,
};

pub(super) const SNOOZE: ToolEntry = ToolEntry {
    name: "reminder_snooze",
    title: "Snooze a reminder",
    doc: "Lets a reminder, follow-up or task come again later, also one told already.",
    arguments: &[
        line("id", true, "`rid_…`, `c-…` or `task_…`."),
        line("until", false, "As `when` of `reminder_add`."),
        whole("minutes", 1, 527_040, None, "Or minutes from now."),
    ],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::snooze,
};

pub(super) const DELETE: ToolEntry = ToolEntry {
    name: "reminder_delete",
    title: "Delete a reminder",
    doc: "Removes a reminder. The user can undo it.",
    arguments: &[line("id", true, ID)],
    effect: Effect::Removes,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::delete,
};
