//! Lists every tool as data: its name, its description, its arguments, its effect, and the function that does it.
//!
//! Schemas, checks, annotations and `--tools` all come from this one table, so they can't disagree.
//!
//! - `reminders`, `memory`, `lcm`, `brains`: the tools of a topic; `tool`: the definition of a tool;
//! - `set`: the named sets of tools (`recall`, `deliver`, …). A new tool is a constant in its topic's file, a line in
//!   [`TOOLS`], and a function in [`crate::mcp::tools`].

#[cfg(feature = "assistant")]
mod brains;
#[cfg(feature = "assistant")]
mod lcm;
mod memory;
mod reminders;
mod set;
mod tool;

pub use super::arguments::{Argument, ArgumentKind};
pub use tool::{Effect, ToolEntry};

/// Characters of a memory at most; what is written must fit the memory's own limit in bytes, too.
pub const MAX_TEXT_CHARS: usize = 65_536;
/// Characters of an id, a date, a section or a scope.
const SHORT: usize = 500;
/// Characters of a question.
const QUESTION: usize = 20_000;

const fn line(name: &'static str, required: bool, doc: &'static str) -> Argument {
    line_of(name, SHORT, required, doc)
}

const fn line_of(name: &'static str, most: usize, required: bool, doc: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Line { most }, required, default: None, doc }
}

const fn text(name: &'static str, most: usize, required: bool, doc: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Text { most }, required, default: None, doc }
}

const fn whole(
    name: &'static str,
    least: i64,
    most: i64,
    default: Option<&'static str>,
    doc: &'static str,
) -> Argument {
    Argument { name, kind: ArgumentKind::Whole { least, most }, required: false, default, doc }
}

const fn flag(name: &'static str, doc: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Flag, required: false, default: Some("false"), doc }
}

const fn choice(
    name: &'static str,
    choices: &'static [&'static str],
    required: bool,
    doc: &'static str,
) -> Argument {
    Argument { name, kind: ArgumentKind::Choice(choices), required, default: None, doc }
}

/// All tools, those that only read first.
pub static TOOLS: &[ToolEntry] = &[
    memory::SEARCH,
    memory::RECALL,
    memory::GET,
    memory::LIST,
    memory::COMMITMENT_DUE,
    reminders::LIST,
    #[cfg(feature = "assistant")]
    brains::CLASSIFY_TASK,
    #[cfg(feature = "assistant")]
    brains::ROUTE_TASK,
    #[cfg(feature = "assistant")]
    lcm::GREP,
    #[cfg(feature = "assistant")]
    lcm::DESCRIBE,
    #[cfg(feature = "assistant")]
    lcm::EXPAND,
    #[cfg(feature = "assistant")]
    brains::ASK_BRAIN,
    memory::SAVE,
    memory::EDIT,
    memory::FORGET,
    memory::PROMOTE,
    memory::COMMITMENT_DONE,
    reminders::ADD,
    reminders::UPDATE,
    reminders::DONE,
    reminders::SNOOZE,
    reminders::DELETE,
    memory::PIN,
    memory::UNPIN,
];
