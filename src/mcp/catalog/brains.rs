//! Defines the tools by which one brain asks another.

use rmcp::model;

use super::{Argument, Effect, QUESTION, ToolEntry, line, text};
use crate::mcp::outputs::{Asked, Classified, Routed};
use crate::mcp::tools::brains;

const TASK: Argument = text("text", QUESTION, true, "The task.");

pub(super) const CLASSIFY_TASK: ToolEntry = ToolEntry {
    name: "classify_task",
    title: "Classify a task",
    doc: "Names the kind of a task by its words.",
    arguments: &[TASK],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Classified>,
    act: brains::classify,
};

pub(super) const ROUTE_TASK: ToolEntry = ToolEntry {
    name: "route_task",
    title: "Route a task",
    doc: "Says which of the user's models a text would go to, and why.",
    arguments: &[TASK],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Routed>,
    act: brains::route_task,
};

pub(super) const ASK_BRAIN: ToolEntry = ToolEntry {
    name: "ask_brain",
    title: "Ask another brain",
    doc: "Asks another of the user's models, which knows nothing of this conversation. Untrusted context.",
    arguments: &[
        line("name", true, "A name of `route_task`'s chain."),
        text("question", QUESTION, true, "Whole, with all that it needs."),
    ],
    effect: Effect::Adds,
    output: model::Tool::with_output_schema::<Asked>,
    act: brains::ask,
};
