//! Reads the files of two memory servers: `memory.json`, a JSON array of entries, and the graph of the MCP reference
//! server.
//!
//! ```json
//! [{"key": "kyle", "content": "prefers Rust", "context": "said so twice", "ts": "2026-05-08T13:55:00+00:00"}]
//! ```
//!
//! An object whose `memories` is such an array is read, too.
//!
//! The graph is JSON Lines, one object on each line. An entity's observations and its relations become memories in the
//! section with its name:
//!
//! ```json
//! {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes green tea"]}
//! {"type": "relation", "from": "Anna", "to": "Acme", "relationType": "works_at"}
//! ```

use jiff::{Timestamp, civil};
use serde_json::Value;

use super::{ImportBatch, ImportItem};
use crate::format::lenient_json;
use crate::format::lines::{Line, lines};

/// Whether a file is a graph: one of its first lines is an entity or a relation.
pub(super) fn is_graph(bytes: &[u8]) -> bool {
    filled_lines(bytes).take(20).any(|line| {
        let value = serde_json::from_slice::<Value>(line.text).unwrap_or_default();
        matches!(value["type"].as_str(), Some("entity" | "relation"))
    })
}

/// The lines of a file that aren't blank.
pub(super) fn filled_lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    lines(bytes).filter(|line| !line.text.trim_ascii().is_empty())
}

/// The memories of a graph. A line that is damaged costs itself and no other.
fn graph(bytes: &[u8]) -> ImportBatch {
    let mut batch = ImportBatch::default();
    for line in filled_lines(bytes) {
        let place = format!("line {}", line.number);
        match serde_json::from_slice::<Value>(line.text) {
            Ok(value) => node(&value, &place, &mut batch),
            Err(error) => batch.skip(place, format!("it is no JSON: {}", why(&error))),
        }
    }
    batch.without_scopes()
}

/// One entity or relation.
fn node(value: &Value, place: &str, batch: &mut ImportBatch) {
    let text = |key: &str| value[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    let mut add = |section: &str, text: String| {
        let item = ImportItem::Memory { section: Some(section.to_owned()), timestamp: None, text };
        batch.add(item, place);
    };
    match (text("type"), text("name"), text("from"), text("relationType"), text("to")) {
        (Some("entity"), Some(name), ..) => {
            if let Some(kind) = text("entityType") {
                add(name, format!("Type: {kind}"));
            }
            for observation in value["observations"].as_array().into_iter().flatten() {
                match observation.as_str().map(str::trim) {
                    Some("") => {}
                    Some(observation) => add(name, observation.to_owned()),
                    None => return batch.skip(place, "an observation of it is no text"),
                }
            }
        }
        (Some("relation"), _, Some(from), Some(relation), Some(to)) => add(from, format!("{relation} {to}")),
        (Some("entity"), ..) => batch.skip(place, "it has no `name`"),
        (Some("relation"), ..) => batch.skip(place, "it lacks `from`, `relationType` or `to`"),
        _ => batch.skip(place, "it is no entity and no relation"),
    }
}

/// The entries of a store, or the memories of a graph. Each entry becomes a memory in the section that its key names,
/// with its time before it and its context below it.
///
/// # Errors
/// It is no array of entries at all: why.
pub fn parse(bytes: &[u8]) -> Result<ImportBatch, String> {
    if is_graph(bytes) {
        return Ok(graph(bytes));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // `lenient_json` would put other signs in the place of those bytes.
    let bytes = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?.as_bytes();
    let store: Value = lenient_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    let entries = store.as_array().or_else(|| store["memories"].as_array());
    let entries = entries.ok_or("it is no JSON array of entries, and no line of it is an entity")?;
    let mut batch = ImportBatch::default();
    for (number, value) in (1..).zip(entries) {
        entry(value, &format!("entry {number}"), &mut batch);
    }
    Ok(batch.without_scopes())
}

/// One entry.
fn entry(value: &Value, place: &str, batch: &mut ImportBatch) {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::trim);
    let Some(key) = text("key").filter(|key| !key.is_empty()) else {
        return batch.skip(place, "it has no `key`, which is its section's name");
    };
    let Some(content) = text("content").filter(|content| !content.is_empty()) else {
        return batch.skip(place, "it has no `content`");
    };
    let timestamp = match value.get("ts").or_else(|| value.get("timestamp")) {
        None | Some(Value::Null) => None,
        Some(found) => {
            let stamp = timestamp(found);
            if stamp.is_none() {
                batch.remark(place, format!("its time `{}` can't be read; it is kept without", shown(found)));
            }
            stamp
        }
    };
    let text = match text("context").filter(|context| !context.is_empty()) {
        Some(context) => format!("{content}\n- Context: {}", context.replace('\n', "\n  ")),
        None => content.to_owned(),
    };
    batch.add(ImportItem::Memory { section: Some(key.to_owned()), timestamp, text }, place);
}

/// A time as it stands before a memory: an instant to the second, or what was written where it names none.
fn timestamp(value: &Value) -> Option<String> {
    if let Some(seconds) = value.as_f64() {
        return Timestamp::from_second(seconds as i64).ok().map(|instant| instant.to_string());
    }
    let text = value.as_str()?.trim();
    let whole = |instant: Timestamp| Timestamp::from_second(instant.as_second()).ok();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return whole(instant).map(|instant| instant.to_string());
    }
    if let Ok(date) = text.parse::<civil::Date>()
        && text.len() == 10
    {
        return Some(date.to_string());
    }
    let local = text.parse::<civil::DateTime>().ok()?;
    Some(local.strftime("%Y-%m-%dT%H:%M:%S").to_string())
}

/// A value in an error, not too long.
fn shown(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

/// The error without its place, which would be within the line.
pub(super) fn why(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown_batch(text: &str) -> String {
        let batch = parse(text.as_bytes()).unwrap();
        let mut out = String::new();
        for found in batch.found {
            let ImportItem::Memory { section, timestamp, text } = found.item else { unreachable!() };
            out.push_str(&format!("{}: {section:?} {timestamp:?} {text:?}\n", found.place));
        }
        for problem in batch.skipped.iter().chain(&batch.remarks) {
            out.push_str(&format!("{}: {}\n", problem.place, problem.reason));
        }
        out
    }

    #[test]
    fn entries_that_lack_something_cost_themselves_alone() {
        let text = r#"[
  {"key": "kyle", "content": "prefers Rust", "context": "", "ts": "2026-04-01T12:34:56.789012+00:00"},
  {"key": "kyle", "content": "a, [b] \"c\"", "context": "two\nlines", "ts": "2026-04-01"},
  {"key": "kyle"},
  17,
  {"content": "no key"},
  {"key": "x", "content": 3},
  {"key": "stack", "content": "k8s", "ts": "yesterday"},
  {"key": "stack", "content": "old", "ts": 1775046896}
]"#;
        insta::assert_snapshot!(shown_batch(text), @r#"
        entry 1: Some("kyle") Some("2026-04-01T12:34:56Z") "prefers Rust"
        entry 2: Some("kyle") Some("2026-04-01") "a, [b] \"c\"\n- Context: two\n  lines"
        entry 7: Some("stack") None "k8s"
        entry 8: Some("stack") Some("2026-04-01T12:34:56Z") "old"
        entry 3: it has no `content`
        entry 4: it has no `key`, which is its section's name
        entry 5: it has no `key`, which is its section's name
        entry 6: it has no `content`
        entry 7: its time `"yesterday"` can't be read; it is kept without
        "#);
    }

    #[test]
    fn what_is_no_array_of_entries_is_refused_with_the_place() {
        let batch = parse(b"{\"memories\": [{\"key\":\"a\",\"content\":\"b\"}]}").unwrap();
        assert_eq!(batch.found.len(), 1);
        let cut = parse(b"[{\"key\":\"a\",\"content\":\"b\"},\n{\"key\":\"c\",\"con").unwrap_err();
        assert_eq!(cut, "it is no JSON: EOF while parsing a string at line 2 column 15");
        assert_eq!(parse(b"[{\"key\":\"caf\xe9\",\"content\":\"b\"}]").unwrap_err(), "it is not UTF-8 text");
        assert!(parse("[".repeat(100_000).as_bytes()).is_err(), "nested too deep");
        assert!(parse(b"hello").is_err() && parse(b"{\"a\":1}").is_err() && parse(b"").is_err());
    }

    proptest! {
        #[test]
        fn what_json_writes_is_read(entries in proptest::collection::vec(("[a-z]{1,5}", "\\PC{1,20}", "[^\u{0}]{0,20}"), 0..8)) {
            let values: Vec<Value> = entries.iter()
                .map(|(key, content, context)| serde_json::json!({"key": key, "content": content, "context": context}))
                .collect();
            let batch = parse(serde_json::to_string_pretty(&values).unwrap().as_bytes()).unwrap();
            let blank = entries.iter().filter(|(_, content, _)| content.trim().is_empty()).count();
            prop_assert_eq!((batch.found.len(), batch.skipped.len()), (entries.len() - blank, blank));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"[]{},:\"\\".to_vec())], 0..100)) {
            let _ = parse(&[b"[", bytes.as_slice()].concat());
        }
    }
}
