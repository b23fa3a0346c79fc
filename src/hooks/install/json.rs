//! Parses JSON with byte ranges, so that a value can be added or removed while all other bytes stay. Also detects the
//! layout of a file (indentation and line ends), so that added entries look like the rest. Pure.
//!
//! `serde_json` checks the text, `jsonc-parser` finds the ranges.

use std::ops::Range;

use jsonc_parser::ast::ObjectProp;
pub use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// The fault of a settings file that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub(super) String);

/// The bytes of a value, or of a key with its value.
pub fn span(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

/// An object's members; none of another value.
pub fn members<'n, 'a>(node: &'n Node<'a>) -> &'n [ObjectProp<'a>] {
    node.as_object().map_or(&[], |object| &object.properties)
}

/// An array's items; none of another value.
pub fn items<'n, 'a>(node: &'n Node<'a>) -> &'n [Node<'a>] {
    node.as_array().map_or(&[], |array| &array.elements)
}

/// A string's text.
pub fn text<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.as_string_lit().map(|string| &*string.value)
}

/// The value of a key; the last one where it is there twice, as every reader has it.
pub fn get<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    members(node).iter().rev().find(|member| member.name.as_str() == key).map(|member| &member.value)
}

/// Reads a whole text.
///
/// # Errors
/// It is no JSON.
pub fn parse(text: &str) -> Result<Node<'_>, SettingsError> {
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        let message = error.to_string();
        let reason = message.rsplit_once(" at line").map_or(message.as_str(), |(reason, _)| reason);
        return Err(invalid(error.line(), error.column(), reason));
    }
    // From here on the text is known to be good; only the places are missing.
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let value = parsed.map_err(|error| invalid(1, 1, &error.to_string()))?.value;
    value.ok_or_else(|| invalid(1, 1, "it is empty"))
}

fn invalid(line: usize, column: usize, reason: &str) -> SettingsError {
    SettingsError(format!("not valid JSON at line {line}, column {column}: {reason}"))
}

/// The layout of a file.
pub(super) struct JsonStyle {
    pub(super) newline: &'static str,
    /// One level's indentation; none where the file is all on one line.
    indent: Option<String>,
}

impl JsonStyle {
    pub(super) fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .find(|line| line.starts_with([' ', '\t']))
            .map(|line| line[..line.len() - line.trim_start().len()].to_owned());
        let is_one_line = text.trim().len() > 2 && !text.trim().contains('\n');
        Self {
            newline,
            indent: if is_one_line { None } else { Some(first.unwrap_or_else(|| "  ".to_owned())) },
        }
    }

    /// A line break and `level` indentations; a space where the file has no lines.
    fn line(&self, level: usize) -> String {
        match &self.indent {
            Some(indent) => format!("{}{}", self.newline, indent.repeat(level)),
            None => " ".to_owned(),
        }
    }

    /// A value whose first line is at `level`.
    pub(super) fn render(&self, value: &Value, level: usize) -> String {
        let Some(indent) = &self.indent else { return value.to_string() };
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(indent.as_bytes());
        let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        // Line breaks within texts are escaped.
        let text =
            written.map_or_else(|_| value.to_string(), |()| String::from_utf8_lossy(&bytes).into_owned());
        text.replace('\n', &self.line(level))
    }

    /// The edit that puts a member last into an object at `level`.
    pub(super) fn add_member(
        &self,
        into: &Node<'_>,
        level: usize,
        name: &str,
        value: &Value,
    ) -> (Range<usize>, String) {
        self.add(into, level, &format!("\"{name}\": {}", self.render(value, level + 1)))
    }

    /// The edit that puts `new` last into a container at `level`.
    pub(super) fn add(&self, into: &Node<'_>, level: usize, new: &str) -> (Range<usize>, String) {
        let line = self.line(level + 1);
        let last = members(into).last().map(span).or_else(|| items(into).last().map(span));
        if let Some(end) = last.map(|last| last.end) {
            return (end..end, format!(",{line}{new}"));
        }
        let inside = span(into).start + 1..span(into).end - 1;
        let (open, close) = if self.indent.is_some() { (line, self.line(level)) } else { Default::default() };
        (inside, format!("{open}{new}{close}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_places() {
        let text = " {\"a\" : [1, {\"b\\\"\": -2e3}], \"c\":\"\\u00e9\" , \"a\":null}\n";
        let node = parse(text).unwrap();
        let spans: Vec<&str> = members(&node).iter().map(|member| &text[span(member)]).collect();
        assert_eq!(spans, ["\"a\" : [1, {\"b\\\"\": -2e3}]", "\"c\":\"\\u00e9\"", "\"a\":null"]);
        assert_eq!(members(&items(&members(&node)[0].value)[1])[0].name.as_str(), "b\"");
        assert_eq!(super::text(get(&node, "c").unwrap()), Some("é"));
        assert!(get(&node, "a").unwrap().as_null_keyword().is_some());
    }

    #[test]
    fn errors_say_where() {
        let error = parse("{\n  \"a\": 1,\n}").unwrap_err();
        insta::assert_snapshot!(error, @"not valid JSON at line 3, column 1: trailing comma");
        assert!(parse("{} {}").is_err() && parse("").is_err() && parse("// x\n{}").is_err());
    }
}
