//! Parses JSON that contains halves of characters, left by a program that cut its text. Pure.
//!
//! Bytes that are no UTF-8, and lone surrogates such as `\uD83D` (`JSON.stringify("😀".slice(0, 1))`), become U+FFFD.
//! [`Joiner`] joins the two halves of a character that a server split over two events.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;

/// The value in one JSON text.
///
/// # Errors
/// It isn't JSON beside halves of characters, or not of this type.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|error| {
        let mended = mend(&String::from_utf8_lossy(bytes));
        if mended.as_bytes() == bytes { Err(error) } else { serde_json::from_str(&mended) }
    })
}

/// Joins the halves of a character whose escapes end a string of one text and begin a string of the next one, as when a
/// server cuts an answer into events by UTF-16 units.
#[derive(Debug, Default)]
pub struct Joiner(String);

impl Joiner {
    /// The next text, with a first half from the text before it, and without one that its own string ends with.
    pub fn join<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        let is =
            |escape: &str, half: RangeInclusive<u16>| unit(escape).is_some_and(|unit| half.contains(&unit));
        let first = std::mem::take(&mut self.0);
        let begins = || text.match_indices("\"\\u").find(|(at, _)| is(&text[at + 1..], 0xdc00..=0xdfff));
        if let Some((at, _)) = begins().filter(|_| !first.is_empty()) {
            text.to_mut().insert_str(at + 1, &first);
        }
        let is_last = |(at, _): &(usize, &str)| {
            let is_escape = text[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0;
            is_escape && text[*at..].as_bytes().get(6) == Some(&b'"') && is(&text[*at..], 0xd800..=0xdbff)
        };
        if let Some((at, _)) = text.match_indices("\\u").find(is_last) {
            self.0 = text.to_mut().drain(at..at + 6).collect();
        }
        text
    }
}

/// The text with `\ufffd` in place of each escape that is half of a character.
fn mend(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit(rest), unit(rest.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // The escaped character may be a backslash itself.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out + rest
}

/// The UTF-16 unit of the `\uXXXX` with which a text begins.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_two_texts_are_joined() {
        for (texts, wanted) in [
            (&[r#"{"t":"ok \ud83d"}"#, r#"{"t":"\ude00 done"}"#][..], "ok |😀 done"),
            (&[r#"{"t":"a\ud83d"}"#, r#"{"t":"b"}"#, r#"{"t":"\ude00"}"#], "a|b|\u{fffd}"),
            (&[r#"{"t":"a\\ud83d"}"#, r#"{"t":"\ude00"}"#], "a\\ud83d|\u{fffd}"),
            (&[r#"{"t":"\ud83d"}"#, r#"{"t":"\ude00\ud83d"}"#, r#"{"t":"\ude00"}"#], "|😀|😀"),
        ] {
            let mut joiner = Joiner::default();
            let read = texts.iter().map(|text| {
                let value: serde_json::Value = from_slice(joiner.join(text).as_bytes()).unwrap();
                value["t"].as_str().unwrap().to_owned()
            });
            assert_eq!(read.collect::<Vec<_>>().join("|"), wanted, "{texts:?}");
        }
    }

    #[test]
    fn halves_of_characters_are_replaced_and_nothing_else() {
        for (json, wanted) in [
            (&br#""a \ud83d""#[..], Some("a \u{fffd}")),
            (br#""\ude00\ud83d\ud83d\ude00 \\ud83d \n""#, Some("\u{fffd}\u{fffd}😀 \\ud83d \n")),
            (b"\"a \xf0\x9f\"", Some("a \u{fffd}")),
            (br#""\ud83d\u0041""#, Some("\u{fffd}A")),
            (br#""\ud83d"#, None),
            (br#""\ud8"#, None),
            (b"\"\\", None),
            (br#""\x \ud83d""#, None),
        ] {
            assert_eq!(from_slice::<String>(json).ok().as_deref(), wanted, "{}", json.escape_ascii());
        }
    }
}
