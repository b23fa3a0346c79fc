//! Reads the part of YAML that a note's header needs: `key: value` lines with plain or quoted scalars.
//!
//! Headers are written by people, by Obsidian's property editor and by this program. A full YAML parser refuses a whole
//! header for one odd line, and doesn't give the place of a value, which an edit needs. So each line is read on its
//! own; lines of other shapes (lists, nested values, comments) are left alone.

use std::ops::Range;

use nom::{
    IResult, Parser,
    bytes::complete::{tag, take_while, take_while1},
    character::complete::satisfy,
    combinator::{peek, recognize, rest_len},
    sequence::{pair, terminated},
};

/// A `key: value` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlEntry<'a> {
    pub key: &'a str,
    /// The value's bytes in the line, without quotes, comment and blanks around it.
    pub place: Range<usize>,
    /// The value, unquoted.
    pub value: String,
}

/// The entry that a line is, if its key starts in the first column.
pub(crate) fn entry(line: &[u8]) -> Option<YamlEntry<'_>> {
    let (value, key) = key(line).ok()?;
    let key = std::str::from_utf8(key).ok()?;
    let at = line.len() - value.len();
    let blanks = value.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let (place, text) = scalar(&value[blanks..]);
    Some(YamlEntry { key, place: at + blanks + place.start..at + blanks + place.end, value: text })
}

/// A key up to its colon, which a blank or the line's end follows.
fn key(input: &[u8]) -> IResult<&[u8], &[u8], ()> {
    let word = recognize(pair(
        satisfy(|c| c.is_ascii_alphabetic() || c == '_'),
        take_while(|b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')),
    ));
    let (rest, key) = terminated(word, (take_while(|b| b == b' '), tag(":"))).parse_complete(input)?;
    let (_, (left, _)) = pair(rest_len, peek(take_while(|_| true))).parse_complete(rest)?;
    if left == 0 {
        Ok((rest, key))
    } else {
        peek(take_while1(|b| matches!(b, b' ' | b'\t'))).parse_complete(rest).map(|_| (rest, key))
    }
}

/// A scalar at the start of `text`: where its content stands, and the content unquoted.
fn scalar(text: &[u8]) -> (Range<usize>, String) {
    let quote = text.first().copied().filter(|b| matches!(b, b'"' | b'\''));
    if let Some((quote, end)) = quote.and_then(|quote| Some((quote, closing(&text[1..], quote)? + 1))) {
        let inner = String::from_utf8_lossy(&text[1..end]);
        let value = if quote == b'"' {
            serde_json::from_str(&format!("\"{inner}\"")).unwrap_or_else(|_| inner.into_owned())
        } else {
            inner.replace("''", "'")
        };
        return (1..end, value);
    }
    let comment = memchr::memchr_iter(b'#', text).find(|at| *at == 0 || matches!(text[at - 1], b' ' | b'\t'));
    let plain = text[..comment.unwrap_or(text.len())].trim_ascii_end();
    (0..plain.len(), String::from_utf8_lossy(plain).into_owned())
}

/// The offset at which the quote that is open at the start of `text` closes.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(quote, b'\\', &text[at..])?;
        match (text[at], text.get(at + 1)) {
            (b'\\', Some(_)) if quote == b'"' => at += 2,
            (b'\\', _) => at += 1,
            (_, Some(b'\'')) if quote == b'\'' => at += 2,
            _ => return Some(at),
        }
    }
}

/// Text as a scalar on one line: plain where YAML reads it back as this text, else in double quotes.
pub(crate) fn to_scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b" _-:./+@,".contains(&b))
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "null"
        )
        && !text.bytes().all(|b| b.is_ascii_digit() || b"._+-eE".contains(&b));
    if plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // `%%` and `<!--` would begin a comment that hides what comes after the head.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '%' | '<') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(line: &str) -> Option<(&str, String)> {
        let entry = entry(line.as_bytes())?;
        Some((&line[entry.place], entry.value))
    }

    #[test]
    fn values_are_found_where_they_stand() {
        assert_eq!(value("status: pending   # a | b"), Some(("pending", "pending".into())));
        assert_eq!(value("a: \"x \\\" # y\" # z"), Some(("x \\\" # y", "x \" # y".into())));
        assert_eq!(value("a: 'it''s' "), Some(("it''s", "it's".into())));
        assert_eq!(value("a:"), Some(("", String::new())));
        assert_eq!(
            value("a: turn-2026-05-08T13:55Z#x"),
            Some(("turn-2026-05-08T13:55Z#x", "turn-2026-05-08T13:55Z#x".into()))
        );
        assert_eq!(value("a:b"), None);
        assert_eq!(value(" a: b"), None);
        assert_eq!(value("- a: b"), None);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "(?s).{0,30}") {
            let line = format!("key: {}", to_scalar(&text));
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(entry(line.as_bytes()).unwrap().value, text);
        }
    }
}
