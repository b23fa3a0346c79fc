//! Detects the layout of a host's settings file (indentation and line ends), so that added entries look like the rest.
//! Pure.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::json::{Node, items, members, span};

/// How a file is laid out.
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
