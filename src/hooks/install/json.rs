//! Parses JSON with byte ranges: each value's place in the text, so that one can be added or removed and all other bytes
//! stay.
//! `serde_json` checks the text, `jsonc-parser` finds the ranges.

use std::ops::Range;

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its bytes.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object(Vec<Member>),
    /// `[…]`
    Array(Vec<Node>),
    /// `"…"`, decoded.
    String(String),
    /// A number, `true`, `false` or `null`.
    Other,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The key, decoded.
    pub key: String,
    /// From the key's quote to the value's end.
    pub span: Range<usize>,
    /// The value.
    pub value: Node,
}

/// A text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON at line {line}, column {column}: {reason}")]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The fault there.
    pub reason: String,
}

impl Node {
    /// An object's members.
    pub fn members(&self) -> &[Member] {
        if let Kind::Object(members) = &self.kind { members } else { &[] }
    }

    /// An array's items.
    pub fn items(&self) -> &[Node] {
        if let Kind::Array(items) = &self.kind { items } else { &[] }
    }

    /// A string's text.
    pub fn text(&self) -> Option<&str> {
        if let Kind::String(text) = &self.kind { Some(text) } else { None }
    }

    /// The value of a key; the last one where it stands twice, as every reader has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }
}

/// Reads a whole text.
///
/// # Errors
/// It is no JSON.
pub fn parse(text: &str) -> Result<Node, JsonError> {
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        let message = error.to_string();
        let reason = message.rsplit_once(" at line").map_or(message.as_str(), |(reason, _)| reason);
        return Err(JsonError { line: error.line(), column: error.column(), reason: reason.to_owned() });
    }
    // From here on the text is known to be good; only the places are missing.
    let unplaced = |reason: String| JsonError { line: 1, column: 1, reason };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let value = parsed.map_err(|error| unplaced(error.to_string()))?.value;
    value.map(Node::from).ok_or_else(|| unplaced("it is empty".to_owned()))
}

impl From<ast::Value<'_>> for Node {
    fn from(value: ast::Value<'_>) -> Self {
        let range = value.range();
        let kind = match value {
            ast::Value::Object(object) => {
                Kind::Object(object.properties.into_iter().map(Member::from).collect())
            }
            ast::Value::Array(array) => Kind::Array(array.elements.into_iter().map(Self::from).collect()),
            ast::Value::StringLit(string) => Kind::String(string.value.into_owned()),
            _ => Kind::Other,
        };
        Self { span: range.start..range.end, kind }
    }
}

impl From<ast::ObjectProp<'_>> for Member {
    fn from(property: ast::ObjectProp<'_>) -> Self {
        let span = property.range.start..property.range.end;
        Self { key: property.name.into_string(), span, value: property.value.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_places() {
        let text = " {\"a\" : [1, {\"b\\\"\": -2e3}], \"c\":\"\\u00e9\" , \"a\":null}\n";
        let node = parse(text).unwrap();
        let spans: Vec<&str> = node.members().iter().map(|member| &text[member.span.clone()]).collect();
        assert_eq!(spans, ["\"a\" : [1, {\"b\\\"\": -2e3}]", "\"c\":\"\\u00e9\"", "\"a\":null"]);
        assert_eq!(node.members()[0].value.items()[1].members()[0].key, "b\"");
        assert_eq!(node.get("c").unwrap().text(), Some("é"));
        assert_eq!(node.get("a").unwrap().kind, Kind::Other);
    }

    #[test]
    fn errors_say_where() {
        let error = parse("{\n  \"a\": 1,\n}").unwrap_err();
        insta::assert_snapshot!(error, @"not valid JSON at line 3, column 1: trailing comma");
        assert!(parse("{} {}").is_err() && parse("").is_err() && parse("// x\n{}").is_err());
    }
}
