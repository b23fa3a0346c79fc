//! JSON with places: where each value of a text stands, so that one can be added or taken out and every
//! other byte stays as it is.

use std::ops::Range;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its bytes.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
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
    /// What is wrong there.
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
    // From here on the text is known to be good; the reader only looks for places.
    let mut reader = Reader { text, at: 0 };
    reader.value().ok_or_else(|| JsonError { line: 1, column: 1, reason: "it can't be followed".to_owned() })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn value(&mut self) -> Option<Node> {
        let first = self.peek()?;
        let start = self.at;
        let kind = match first {
            b'{' => Kind::Object(self.list(b'}', Self::member)?),
            b'[' => Kind::Array(self.list(b']', Self::value)?),
            b'"' => Kind::String(self.string()?),
            _ => {
                let rest = &self.text.as_bytes()[self.at..];
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                Kind::Other
            }
        };
        Some(Node { span: start..self.at, kind })
    }

    fn member(&mut self) -> Option<Member> {
        self.peek()?;
        let start = self.at;
        let key = self.string()?;
        self.take(b':')?;
        let value = self.value()?;
        Some(Member { key, span: start..value.span.end, value })
    }

    fn list<T>(&mut self, close: u8, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.peek()? != close {
            items.push(item(self)?);
            while self.peek()? == b',' {
                self.at += 1;
                items.push(item(self)?);
            }
        }
        self.take(close)?;
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while *bytes.get(at)? != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.at = at + 1;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
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
