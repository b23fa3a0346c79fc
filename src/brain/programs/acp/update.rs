//! Reads an agent's messages: a tool's output, a status, usage.

use serde_json::Value;

use crate::brain::event::Usage;

/// The result of a call, in words.
pub(super) fn output(update: &Value) -> String {
    let blocks = update["content"].as_array().into_iter().flatten();
    let words: Vec<&str> = blocks.filter_map(|block| block["content"]["text"].as_str()).collect();
    if !words.is_empty() {
        return words.join("\n");
    }
    match &update["rawOutput"] {
        Value::Null => String::new(),
        Value::String(words) => words.clone(),
        other => other["formatted_output"].as_str().map_or_else(|| other.to_string(), str::to_owned),
    }
}

/// An HTTP status that an error's words name.
pub(super) fn status(words: &str) -> Option<u16> {
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let says = |word: &str| ["status", "error", "http", "code"].contains(&word.to_ascii_lowercase().as_str());
    let pairs = words.windows(2).filter(|pair| says(pair[0]));
    pairs.filter_map(|pair| pair[1].parse().ok()).find(|status| (400..600).contains(status))
}

pub(super) fn usage(counts: &Value) -> Usage {
    let count = |key: &str| counts[key].as_u64();
    let output = count("outputTokens").unwrap_or_default();
    let input = count("totalTokens").map(|total| total.saturating_sub(output)).or(count("inputTokens"));
    Usage {
        input: input.unwrap_or_default(),
        cached: count("cachedReadTokens").unwrap_or_default(),
        cache_write: count("cachedWriteTokens").unwrap_or_default(),
        output,
    }
}
