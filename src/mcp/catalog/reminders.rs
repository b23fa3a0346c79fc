//! The tools of reminders. Each change is confirmed to the user.

use rmcp::model;

use super::{Argument, Effect, Kind, Tool, choice, line};
use crate::format::reminder::Recur;
use crate::mcp::outputs::{DoneLine, Reminders, Written};
use crate::mcp::tools::reminders;
use crate::reminders::MOST_MESSAGE_CHARS;

const ID: &str = "The reminder's id, `rid_…`, as `reminder_list` gives it.";
const RECUR: &[&str] = &Recur::NAMES;
const WHEN: &str = "When, in the user's time zone: `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`. What has two \
     meanings (`next friday`, `at 5`) is refused with both.";

pub(super) const LIST: Tool = Tool {
    name: "reminder_list",
    title: "List reminders",
    doc: "Lists the user's reminders, and the tasks of other plugins that are told, with id, date, time, recurrence, message, next instant \
          and where they stand.",
    arguments: &[],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Reminders>,
    act: reminders::list,
};

pub(super) const ADD: Tool = Tool {
    name: "reminder_add",
    title: "Add a reminder",
    doc: "Adds a reminder that the user is told at its time. Answers with the exact line as it stands in the note; \
          the user sees the same line.",
    arguments: &[
        line("when", true, WHEN),
        Argument {
            name: "message",
            kind: Kind::Line { most: MOST_MESSAGE_CHARS },
            required: true,
            default: None,
            doc: "What the user is told: one line, in words that make sense by themselves.",
        },
        Argument {
            name: "recur",
            kind: Kind::Choice(RECUR),
            required: false,
            default: Some("none"),
            doc: "How it comes again.",
        },
    ],
    effect: Effect::Adds,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::add,
};

pub(super) const UPDATE: Tool = Tool {
    name: "reminder_update",
    title: "Change a reminder",
    doc: "Changes a reminder's time, message or recurrence; what isn't given stays. Answers with the exact line.",
    arguments: &[
        line("id", true, ID),
        line("when", false, WHEN),
        Argument {
            name: "message",
            kind: Kind::Line { most: MOST_MESSAGE_CHARS },
            required: false,
            default: None,
            doc: "The new message, one line.",
        },
        choice("recur", RECUR, false, "The new recurrence."),
    ],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::update,
};

pub(super) const DONE: Tool = Tool {
    name: "reminder_done",
    title: "Say that a reminder or a task is done",
    doc: "Only when the user says that it is done. A reminder that comes once is removed, one that comes again stays; a task of another \
          plugin is ticked as its plugin would, with the line of its next time. Answers with the exact lines. The user can bring \
          them back with `vault-agent undo`.",
    arguments: &[line("id", true, "Its id: `rid_…` or `task_…`, as `reminder_list` gives it.")],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<DoneLine>,
    act: reminders::done,
};

pub(super) const SNOOZE: Tool = Tool {
    name: "reminder_snooze",
    title: "Snooze a reminder",
    doc: "Lets a reminder, follow-up or task come again later, also one that was told already. Answers with the exact line.",
    arguments: &[
        line("id", true, "Its id: `rid_…`, `c-…` or `task_…`."),
        line("until", false, "Until when, as `when` of `reminder_add`."),
        Argument {
            name: "minutes",
            kind: Kind::Whole { least: 1, most: 527_040 },
            required: false,
            default: None,
            doc: "Or in so many minutes.",
        },
    ],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::snooze,
};

pub(super) const DELETE: Tool = Tool {
    name: "reminder_delete",
    title: "Delete a reminder",
    doc: "Takes a reminder out. Answers with the line that it had. The user can bring it back with `vault-agent undo`.",
    arguments: &[line("id", true, ID)],
    effect: Effect::Removes,
    output: model::Tool::with_output_schema::<Written>,
    act: reminders::delete,
};
