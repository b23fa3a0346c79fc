//! Defines how an MCP tool declares its arguments, and validates a call's arguments before the tool runs.
//!
//! The JSON schema comes from the same table as these checks. An error names the argument and a valid value. Pure.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::failure::{Result, ToolFailure};
use crate::format::nearest;
use crate::memory::MemoryKind;

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A text of one line.
    Line {
        /// Characters at most.
        most: usize,
    },
    /// A text of any number of lines.
    Text {
        /// Characters at most.
        most: usize,
    },
    /// A whole number.
    Whole {
        /// At least.
        least: i64,
        /// At most.
        most: i64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false.
    Flag,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ArgumentKind,
    /// Whether a call without it is refused.
    pub required: bool,
    /// Its value when it isn't given.
    pub default: Option<&'static str>,
    /// Its meaning, for a model.
    pub doc: &'static str,
}

/// Characters of a memory at most; what is written must fit the memory's own limit in bytes, too.
pub(super) const MAX_TEXT_CHARS: usize = 65_536;
/// Characters of an id, a date, a section or a scope.
const SHORT: usize = 500;
/// Characters of a question.
pub(super) const QUESTION: usize = 20_000;

pub(super) const fn line(name: &'static str, required: bool, doc: &'static str) -> Argument {
    line_of(name, SHORT, required, doc)
}

pub(super) const fn line_of(name: &'static str, most: usize, required: bool, doc: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Line { most }, required, default: None, doc }
}

pub(super) const fn text(name: &'static str, most: usize, required: bool, doc: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Text { most }, required, default: None, doc }
}

pub(super) const fn whole(
    name: &'static str,
    least: i64,
    most: i64,
    default: Option<&'static str>,
    doc: &'static str,
) -> Argument {
    Argument { name, kind: ArgumentKind::Whole { least, most }, required: false, default, doc }
}

pub(super) const fn flag(name: &'static str, doc: &'static str) -> Argument {
    Argument { name, kind: ArgumentKind::Flag, required: false, default: Some("false"), doc }
}

pub(super) const fn choice(
    name: &'static str,
    choices: &'static [&'static str],
    required: bool,
    doc: &'static str,
) -> Argument {
    Argument { name, kind: ArgumentKind::Choice(choices), required, default: None, doc }
}

/// Whose memories.
pub(super) const MEMORY_SCOPE: Argument = line(
    "memory_scope",
    false,
    "Whose: global, here, project:ID, agent:ID, user:ID, custom:NAME; commas for several.",
);

/// The kinds of memory.
pub(super) const MEMORY_KINDS: &[&str] = &MemoryKind::NAMES;

/// The checked arguments of one call.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a>(&'a JsonObject);

impl<'a> Arguments<'a> {
    /// The text of an argument; none where it was not given, is null or is no text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The number of an argument; none where it was not given.
    pub fn whole(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(whole_number)
    }

    /// Whether an argument is true; false where it was not given.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether an argument was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }
}

/// The arguments that were given, as `tool` takes them.
///
/// # Errors
/// One is unknown, missing, of another type, too long or out of range.
pub fn check<'a>(tool: &str, arguments: &[Argument], given: &'a JsonObject) -> Result<Arguments<'a>> {
    for name in given.keys() {
        if !arguments.iter().any(|argument| argument.name == name) {
            return Err(unknown(tool, arguments, name));
        }
    }
    for argument in arguments {
        match given.get(argument.name).filter(|value| !value.is_null()) {
            Some(value) => check_value(argument, value)?,
            None if argument.required => {
                let message = format!("`{}` is missing: {}", argument.name, argument.doc);
                let hint = format!("Call `{tool}` again with {}.", all_required(arguments));
                return Err(ToolFailure::new("missing_argument", message).of(argument.name).hint(hint));
            }
            None => {}
        }
    }
    Ok(Arguments(given))
}

fn unknown(tool: &str, arguments: &[Argument], name: &str) -> ToolFailure {
    let shown: String = name.chars().take(60).collect();
    let names: Vec<&str> = arguments.iter().map(|argument| argument.name).collect();
    let hint = match nearest(&shown, &names) {
        Some(near) => format!("Did you mean `{near}`?"),
        None if names.is_empty() => format!("`{tool}` takes none."),
        None => format!("`{tool}` takes: {}.", names.join(", ")),
    };
    ToolFailure::new("unknown_argument", format!("`{tool}` has no argument `{shown}`")).of(shown).hint(hint)
}

fn all_required(arguments: &[Argument]) -> String {
    let required = arguments.iter().filter(|argument| argument.required);
    required.map(|argument| format!("`{}`", argument.name)).collect::<Vec<_>>().join(" and ")
}

fn check_value(argument: &Argument, value: &Value) -> Result<()> {
    let name = argument.name;
    let wrong = |kind: &'static str, message: String| {
        ToolFailure::new(kind, message).of(name).hint(format!("`{name}`: {}", argument.doc))
    };
    let wrong_type = |wanted: &str| {
        wrong("wrong_type", format!("`{name}` is {}, where {wanted} should be", type_of(value)))
    };
    match argument.kind {
        ArgumentKind::Whole { least, most } => {
            let number = whole_number(value).ok_or_else(|| wrong_type("a whole number"))?;
            if !(least..=most).contains(&number) {
                let message = format!("`{name}` is {number}; it goes from {least} to {most}");
                return Err(wrong("out_of_range", message));
            }
        }
        ArgumentKind::Choice(choices) => {
            let text = value.as_str().ok_or_else(|| wrong_type("a text"))?;
            if !choices.contains(&text) {
                let shown: String = text.chars().take(60).collect();
                let kind = if name == "scope" { "unknown_scope" } else { "unknown_choice" };
                let message = format!("`{name}` can't be {shown:?}; it is one of: {}", choices.join(", "));
                return Err(wrong(kind, message));
            }
        }
        ArgumentKind::Flag => value.as_bool().map(drop).ok_or_else(|| wrong_type("true or false"))?,
        ArgumentKind::Line { most } | ArgumentKind::Text { most } => {
            let text = value.as_str().ok_or_else(|| wrong_type("a text"))?;
            let length = text.chars().count();
            if length > most {
                let message = format!("`{name}` has {length} characters; at most {most} are taken");
                return Err(wrong("too_long", message));
            }
            if argument.required && text.trim().is_empty() {
                return Err(wrong("empty_argument", format!("`{name}` is empty: {}", argument.doc)));
            }
            if matches!(argument.kind, ArgumentKind::Line { .. }) && text.chars().any(char::is_control) {
                let message =
                    format!("`{name}` holds a line break or another control character; it is one line");
                return Err(wrong("control_character", message));
            }
        }
    }
    Ok(())
}

fn whole_number(value: &Value) -> Option<i64> {
    let from_float = |float: f64| (float.fract() == 0.0 && float.abs() < 1e15).then_some(float as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(from_float))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The JSON schema of a tool's arguments, as short as a model needs it: every request of a conversation carries all of
/// them.
///
/// Lengths, ranges and unknown arguments are left to [`check`], whose errors name valid values.
pub fn schema(arguments: &[Argument]) -> JsonObject {
    let mut properties = JsonObject::new();
    for argument in arguments {
        let mut property = match argument.kind {
            ArgumentKind::Whole { .. } => json!({"type": "integer"}),
            ArgumentKind::Choice(choices) => json!({"type": "string", "enum": choices}),
            ArgumentKind::Flag => json!({"type": "boolean"}),
            ArgumentKind::Line { .. } | ArgumentKind::Text { .. } => json!({"type": "string"}),
        };
        property["description"] = json!(argument.doc);
        if let Some(default) = argument.default.filter(|_| argument.kind != ArgumentKind::Flag) {
            property["default"] = match argument.kind {
                ArgumentKind::Whole { .. } => json!(default.parse::<i64>().unwrap_or_default()),
                _ => json!(default),
            };
        }
        properties.insert(argument.name.to_owned(), property);
    }
    let required = arguments.iter().filter(|argument| argument.required);
    let required: Vec<&str> = required.map(|argument| argument.name).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}
