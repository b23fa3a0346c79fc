//! Layout of a host's settings file: indentation and line ends, so that added entries look like the rest. Pure.

use std::ops::Range;

use serde_json::Value;

use super::json::Node;

/// How a file is laid out.
pub(super) struct Style {
    pub(super) newline: &'static str,
    /// One level's indentation; none where the file is all on one line.
    indent: Option<String>,
}

impl Style {
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

    /// A value whose first line stands at `level`.
    pub(super) fn render(&self, value: &Value, level: usize) -> String {
        match (value, &self.indent) {
            (Value::Array(items), Some(_)) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| format!("{}{}", self.line(level + 1), self.render(item, level + 1)))
                    .collect();
                format!("[{}{}]", items.join(","), self.line(level))
            }
            (Value::Object(members), Some(_)) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, member)| {
                        let key = Value::from(key.as_str());
                        format!("{}{key}: {}", self.line(level + 1), self.render(member, level + 1))
                    })
                    .collect();
                format!("{{{}{}}}", members.join(","), self.line(level))
            }
            _ => value.to_string(),
        }
    }

    /// The edit that puts `new` last into a container at `level`, after what ends at `last`.
    pub(super) fn insert(
        &self,
        into: &Node,
        last: Option<usize>,
        level: usize,
        new: &str,
    ) -> (Range<usize>, String) {
        let line = self.line(level + 1);
        if let Some(end) = last {
            return (end..end, format!(",{line}{new}"));
        }
        let inside = into.span.start + 1..into.span.end - 1;
        let (open, close) = if self.indent.is_some() { (line, self.line(level)) } else { Default::default() };
        (inside, format!("{open}{new}{close}"))
    }
}
