//! Masks secrets in text before it is stored, for example in logs and in errors.
//!
//! A text comes in; the same text goes out with `[masked: KIND]` in the place of each secret. Notes about work are full
//! of hashes, identifiers and long names that must stay readable. So a value is masked only if its form marks it as a
//! secret, or the name, header, command or URL in which it stands. Pure. Masking a masked text changes nothing.
//!
//! - [`scan`]: one pass that finds keywords; [`rule`]: a pattern that runs only near its keywords.
//! - [`tokens`]: values with a known prefix or form (`ghp_…`, JSON web tokens, Telegram's bots), private keys and
//!   password hashes.
//! - [`urls`]: webhooks, passwords and signatures in URLs.
//! - [`headers`]: cookies and authorization.
//! - [`commands`]: passwords on command lines, in netrc and pgpass files, in SQL.
//! - [`assigned`]: values after names such as `DB_PASSWORD`, judged by [`values`].
//!
//! The prefixes and lengths come from the default rules of gitleaks (`config/gitleaks.toml`, MIT; facts only, no code)
//! and from the documentation of the services. Two crates contain such rules. `scrubbers` 0.1 (rules of TruffleHog)
//! compiles all rules at its start, and overwrites a secret without naming its kind. `stakpak-shared` (rules of
//! gitleaks) is part of another agent and has that agent's dependencies. Neither was measured on the corpus here.

mod assigned;
mod commands;
mod headers;
mod rule;
mod scan;
mod tokens;
mod urls;
mod values;

use std::borrow::Cow;
use std::ops::Range;

use regex_lite::Regex;
use serde_json::Value;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Its kind, for a person: `github token`.
    pub kind: &'static str,
}

/// The beginning of each replacement.
pub const MASKED: &str = "[masked: ";

/// The replacement of a secret of this kind.
pub fn marker(kind: &str) -> String {
    format!("{MASKED}{kind}]")
}

/// The secrets of a text in their order; no two overlap.
pub fn find(text: &str) -> Vec<FoundSecret> {
    let mut found = scan::find(text);
    found.extend(without_escapes(text).iter().flat_map(|plain| scan::find(plain)));
    merged(found)
}

/// How a terminal's escape character stands in a text: as it is, or written out.
const ESC: [&[u8]; 7] = [b"\x1b", b"\\u001b", b"\\x1b", b"\\033", b"\\e", b"\\u{1b}", b"%1b"];

/// The text with blanks in the place of a terminal's sequences, and with signs in the place of their escapes (`%3D`,
/// `\u003d`, `\n`), since the last letter of an escape is no part of the word behind it. Each byte keeps its place. None
/// where there is no escape.
fn without_escapes(text: &str) -> Option<String> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(next) = memchr::memchr3(b'[', b'%', b'\\', &bytes[at..]) {
        at += next;
        let rest = &bytes[at + 1..];
        let hex = |from: usize| {
            let sign = u8::from_str_radix(text.get(at + 1 + from..at + 3 + from)?, 16).ok()?;
            (sign.is_ascii() && !sign.is_ascii_alphanumeric()).then_some((from + 2, sign))
        };
        let escape = match (bytes[at], rest) {
            (b'[', _) => {
                let digits = rest.iter().take(20).take_while(|byte| matches!(byte, b'0'..=b'?')).count();
                let before = |esc: &&[u8]| bytes[at.saturating_sub(esc.len())..at].eq_ignore_ascii_case(esc);
                let last = rest.get(digits).filter(|last| last.is_ascii_alphabetic());
                let is_end = |last: &u8| digits > 0 && *last == b'm' || ESC.iter().any(before);
                last.is_some_and(is_end).then_some((digits + 1, b' '))
            }
            // An escape may be escaped once more.
            (b'%', [b'2', b'5', ..]) => hex(2).or_else(|| hex(0)),
            (b'%', _) => hex(0),
            (_, [b'u', b'0', b'0', ..]) => hex(3),
            (_, [b'x', ..]) => hex(1),
            (_, [b'n' | b'r', ..]) => Some((1, b'\n')),
            (_, [b't', ..]) => Some((1, b' ')),
            _ => None,
        };
        if let Some((length, sign)) = escape {
            if out.is_empty() {
                out.extend_from_slice(bytes);
            }
            out[at..=at + length].fill(b' ');
            let sign = if sign == b'\r' { b'\n' } else { sign };
            out[at + length] = if sign.is_ascii_control() && sign != b'\n' { b' ' } else { sign };
        }
        at += 1;
    }
    String::from_utf8(out).ok().filter(|out| !out.is_empty())
}

/// Overlapping secrets become one; its kind is that of the first in the list.
fn merged(found: Vec<FoundSecret>) -> Vec<FoundSecret> {
    let mut ranked: Vec<(usize, FoundSecret)> = found.into_iter().enumerate().collect();
    ranked.retain(|(_, one)| !one.range.is_empty());
    ranked.sort_by_key(|(rank, one)| (one.range.start, *rank));
    let mut out: Vec<(usize, FoundSecret)> = Vec::with_capacity(ranked.len());
    for (rank, one) in ranked {
        match out.last_mut() {
            Some((first, last)) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
                if rank < *first {
                    (*first, last.kind) = (rank, one.kind);
                }
            }
            _ => out.push((rank, one)),
        }
    }
    out.into_iter().map(|(_, one)| one).collect()
}

/// Masks secrets as the settings want it.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    known: bool,
    own: Vec<Regex>,
}

impl Redactor {
    /// Masks by the built-in rules if `known` is true, and by the user's own patterns. An invalid pattern masks
    /// nothing; the settings refuse it earlier.
    pub fn new(known: bool, own: &[String]) -> Self {
        Self { known, own: own.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect() }
    }

    /// The text without secrets.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let own = self.own.iter().flat_map(|own| own.find_iter(text));
        let mut found: Vec<FoundSecret> =
            own.map(|hit| FoundSecret { range: hit.range(), kind: "own pattern" }).collect();
        if self.known {
            found.extend(find(text));
        }
        replaced(text, merged(found))
    }

    /// The same for every text and name in a value, with a member's name as a hint of what its text is.
    pub fn apply_to(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.apply(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply_to(item)),
            Value::Object(members) => {
                for (name, mut member) in std::mem::take(members) {
                    if self.known
                        && let Value::String(text) = &mut member
                        && let Some(kind) = assigned::of_member(&name, text)
                    {
                        *text = marker(kind);
                    }
                    self.apply_to(&mut member);
                    let mut name = self.apply(&name).into_owned();
                    // Two secrets of one kind are two members.
                    while members.contains_key(&name) {
                        name.push('\'');
                    }
                    members.insert(name, member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The text without what the built-in rules find.
pub fn redact(text: &str) -> Cow<'_, str> {
    replaced(text, find(text))
}

fn replaced(text: &str, found: Vec<FoundSecret>) -> Cow<'_, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for FoundSecret { range, kind } in found {
        out.push_str(&text[at..range.start]);
        out.push_str(&marker(kind));
        at = range.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// The longest beginning of `text` behind `from` whose bytes are all `of` a class.
fn run(text: &str, from: usize, of: impl Fn(u8) -> bool) -> &str {
    let rest = &text.as_bytes()[from..];
    let end = rest.iter().position(|byte| !of(*byte)).unwrap_or(rest.len());
    text.get(from..from + end).unwrap_or("")
}

#[cfg(test)]
mod tests;
