//! Helps the three wire formats with the parts that they share.

use serde_json::{Map, Value};

use crate::brain::event::StopReason;
use crate::brain::request::{MessagePart, RawTurn, ToolCall};

/// The items of `raw`, if this wire and this endpoint sent them.
pub fn echo<'a>(raw: Option<&'a RawTurn>, wire: &str, endpoint: &str) -> Option<&'a [Value]> {
    let raw = raw.filter(|raw| raw.wire == wire && raw.endpoint == endpoint)?;
    (!raw.items.is_empty()).then_some(&raw.items)
}

/// The system text; a schema stands in it in words, because not every server takes one.
pub fn system(system: &str, schema: Option<&Value>) -> String {
    match schema {
        None => system.to_owned(),
        Some(schema) => {
            let gap = if system.is_empty() { "" } else { "\n\n" };
            format!(
                "{system}{gap}Answer with JSON alone, without a code fence. It must fit this JSON schema: {schema}"
            )
        }
    }
}

/// The parts that say something. Providers refuse empty texts and empty messages.
pub fn non_empty(parts: &[MessagePart]) -> Vec<MessagePart> {
    let empty = |part: &MessagePart| matches!(part, MessagePart::Text { text } if text.trim().is_empty());
    let non_empty: Vec<MessagePart> = parts.iter().filter(|part| !empty(part)).cloned().collect();
    if non_empty.is_empty() { vec![MessagePart::Text { text: "(no text)".to_owned() }] } else { non_empty }
}

/// A picture as a URL.
pub fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

/// A number of tokens.
pub fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_f64().map_or(0, |n| if n > 0.0 { n as u64 } else { 0 }))
}

/// Appends a string to the string under `key`.
pub fn append(map: &mut Map<String, Value>, key: &str, more: &str) {
    match map.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            map.insert(key.to_owned(), Value::String(more.to_owned()));
        }
    }
}

/// Why an answer ended, by its calls: some servers say `stop` where they call.
pub fn stop(reason: StopReason, calls: &[ToolCall]) -> StopReason {
    match reason {
        StopReason::End if !calls.is_empty() => StopReason::ToolUse,
        StopReason::ToolUse if calls.is_empty() => StopReason::End,
        other => other,
    }
}
