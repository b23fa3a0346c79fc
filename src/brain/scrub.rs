//! Removes keys from errors and answers, because gateways echo headers and keys, and such texts are shown to people and
//! kept on disk.
//!
//! An error loses the known secrets first, then those that [`crate::redact`] finds. It is also put on one line of at
//! most 400 characters. A server may echo the request with status 200. So the key of the call is removed from an HTTP
//! answer (unless the key is so short that it may be a word), but nothing else is.

use serde_json::Value;

use crate::brain::Reply;
use crate::format::{invisible, shortened};
use crate::redact::redact;

/// The text in the place of a key.
pub const HIDDEN: &str = "[hidden]";
/// The longest text that is kept, in characters.
pub const MOST: usize = 400;

/// `text` without `secrets` and without other keys, on one line, cut to [`MOST`] characters.
pub fn scrub(text: &str, secrets: &[&str]) -> String {
    // A key is one as well where invisible characters stand in it.
    let mut text = invisible::strip(text).into_owned();
    // Longest first: one secret may be the beginning of another.
    let mut secrets: Vec<&str> =
        secrets.iter().map(|secret| secret.trim()).filter(|s| s.len() >= 4).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in secrets {
        text = text.replace(secret, HIDDEN);
    }
    shortened(&one_line(&redact(&text)), MOST).into_owned()
}

/// Whether a key is a placeholder for a local server (`ollama`, `lm-studio`), a word that any text may contain: fewer
/// than 8 bytes, or fewer than 16 without a digit.
pub fn is_placeholder(key: &str) -> bool {
    let key = key.trim();
    key.len() < 8 || (key.len() < 16 && !key.bytes().any(|byte| byte.is_ascii_digit()))
}

/// A brain's answer without its key, including calls and raw items. A placeholder stays.
#[must_use]
pub fn scrub_reply(mut reply: Reply, key: &str) -> Reply {
    let key = key.trim();
    if is_placeholder(key) {
        return reply;
    }
    hide_in(&mut reply.text, key);
    hide_in(&mut reply.model, key);
    for call in &mut reply.tool_calls {
        for text in [&mut call.id, &mut call.name, &mut call.arguments] {
            hide_in(text, key);
        }
    }
    reply.raw.iter_mut().flat_map(|raw| &mut raw.items).for_each(|item| hide_in_value(item, key));
    reply
}

fn hide_in(text: &mut String, key: &str) {
    let bare = invisible::strip(text);
    if bare.contains(key) {
        *text = bare.replace(key, HIDDEN);
    }
    // In JSON, escapes may stand for its letters.
    if text.contains('\\')
        && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        let mut hidden = value.clone();
        hide_in_value(&mut hidden, key);
        if hidden != value {
            *text = hidden.to_string();
        }
    }
}

fn hide_in_value(value: &mut Value, key: &str) {
    match value {
        Value::String(text) => hide_in(text, key),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in_value(item, key)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide_in_value(field, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::StopReason;

    #[test]
    fn keys_go_and_words_stay() {
        let table = [
            (
                "Incorrect API key provided: sk-proj-abc123DEF456ghi7.",
                "Incorrect API key provided: [masked: openai key].",
            ),
            (
                "header Authorization: Bearer a1b2c3d4e5f6 was sent",
                "header Authorization: Bearer [masked: bearer token] was sent",
            ),
            ("{\"x-api-key\": \"a1b2c3d4e5f6\"}", "{\"x-api-key\": \"[masked: key]\"}"),
            (
                "GET https://h/v1?key=AIzaSyA1234567890abc&x=1",
                "GET https://h/v1?key=[masked: token in a URL]&x=1",
            ),
            ("ghp_0123456789abcdef0123 is no good", "[masked: github token] is no good"),
            ("token=00f1e2d3c4b5a697 refused", "token=[masked: token] refused"),
            // A key that the provider has masked itself, and a hash, are no keys.
            ("API key sk-proj-********cdef", "API key sk-proj-********cdef"),
            ("digest 0123456789abcdef0123456789abcdef", "digest 0123456789abcdef0123456789abcdef"),
            ("Unexpected token: unexpected", "Unexpected token: unexpected"),
            (
                "model claude-sonnet-4-6 not found, request req_011CSHoEeqs5C35K2UUq",
                "model claude-sonnet-4-6 not found, request req_011CSHoEeqs5C35K2UUq",
            ),
            ("two\n\nlines\u{1b}[31m", "two lines [31m"),
            ("s3cr3t and our-own-secret", "[hidden] and [hidden]"),
            ("s3c\u{200b}r3t and our-own\u{ad}-secret", "[hidden] and [hidden]"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(scrub(text, &["s3cr3t", "our-own-secret"]), expected, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_after_the_scrubbing() {
        let text = format!("{} sk-{}", "ä".repeat(MOST - 8), "a1".repeat(40));
        let scrubbed = scrub(&text, &[]);
        assert!(!scrubbed.contains("a1"), "{scrubbed}");
        assert_eq!(scrub(&"ä".repeat(1000), &[]).chars().count(), MOST + 1);
    }

    #[test]
    fn a_call_loses_the_key_however_it_is_written() {
        let key = "sk-canary-0123";
        let call = |id: &str, name: &str, arguments: &str| crate::brain::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let mut reply = Reply::said("", StopReason::End);
        reply.tool_calls =
            vec![call(key, key, r#"{"a":"\u0073k-canary-0123"}"#), call("c", "n", r#"{"a": "\u0073k"}"#)];
        let calls = scrub_reply(reply, key).tool_calls;
        let [hidden, kept] = &calls[..] else { panic!() };
        assert_eq!(*hidden, call("[hidden]", "[hidden]", r#"{"a":"[hidden]"}"#));
        assert_eq!(*kept, call("c", "n", r#"{"a": "\u0073k"}"#));
    }

    #[test]
    fn an_answer_loses_its_key_and_no_word() {
        let table = [
            (
                "canary-0123",
                "Bearer canary-0123,\n\nand sk-other-0123456789",
                "Bearer [hidden],\n\nand sk-other-0123456789",
            ),
            ("canary-0123", "It is canary\u{200b}-01\u{ad}23.", "It is [hidden]."),
            ("ollama", "Run\u{200b} ollama.", "Run\u{200b} ollama."),
            ("lm-studio", "Open lm-studio.", "Open lm-studio."),
            ("", "Nothing.", "Nothing."),
        ];
        for (key, text, expected) in table {
            assert_eq!(scrub_reply(Reply::said(text, StopReason::End), key).text, expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_secret_never_comes_through(before in ".{0,40}", secret in "[a-zA-Z0-9_-]{8,60}", after in ".{0,40}") {
            // The hidden word's own letters may be a "secret" of four letters; nothing longer.
            let text = format!("{before}{secret}{after}");
            proptest::prop_assert!(!scrub(&text, &[&secret]).contains(&secret));
        }
    }
}
