//! Parses a line of `Approvals.md`, and explains near misses.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::checkbox::{self, HEAD, LineTail, is_name};
use super::{Approval, ApprovalState, PREFIX, ParsedBox, is_id, quote::unquote};
use crate::format::{Fault, has_shape, nearest, quote};

const KEYS: [&str; 8] = ["until", "brain", "run", "hash", "why", "always", "turn", "state"];

/// Reads one line.
pub fn parse_line(line: &[u8]) -> ParsedBox<Approval> {
    checkbox::parse_line(line, looks_meant, |text| Ok(read(text)?.0))
}

/// Whether a line begins like a task and names a question, or two of its fields.
fn looks_meant(text: &str) -> bool {
    let Some(body) = checkbox::task_body(text) else { return false };
    let words = || body.split([' ', '\t']);
    words().any(|word| checkbox::looks_like_id(word, PREFIX))
        || words().any(|word| word.starts_with("run=")) && words().any(|word| word.starts_with("until="))
}

/// The end of a valid line's last field.
pub(super) fn end_of_fields(line: &[u8]) -> usize {
    let read = std::str::from_utf8(line).ok().and_then(|text| read(text).ok());
    read.map_or(line.len(), |(_, end)| end)
}

fn read(text: &str) -> Result<(Approval, usize), Fault> {
    let mark = checkbox::mark(text, "tick it")?;
    let mut at = checkbox::spaces(text, HEAD, "put one behind the box")?;
    let end = word_end(text, at);
    let id = &text[at..end];
    if !is_id(id) {
        let reason = format!("{} is no id of a question", quote(id));
        return Err(Fault::new(at, reason, "one is `ap_` and 12 characters of A-Z and 2-7"));
    }
    at = end;
    let mut fields = BTreeMap::new();
    let mut end_of_fields = at;
    let mut tail = LineTail::default();
    loop {
        let next = checkbox::spaces(text, at, "put one between two fields")?;
        if next == text.len() {
            break;
        }
        if let Some(end) = tail.take(text, next)? {
            at = end;
            continue;
        }
        at = take_field(&mut fields, text, next)?;
        end_of_fields = at;
    }
    let missing = |key: &str| {
        Fault::new(
            end_of_fields,
            format!("`{key}=` is missing"),
            "delete the line; it can be asked for again",
        )
    };
    let approval = Approval {
        mark,
        id: id.to_owned(),
        until: fields.remove("until").and_then(|said| until(&said)).ok_or_else(|| missing("until"))?,
        brain: fields.remove("brain").ok_or_else(|| missing("brain"))?,
        run: fields.remove("run").ok_or_else(|| missing("run"))?,
        hash: fields.remove("hash"),
        why: fields.remove("why"),
        always: fields.remove("always"),
        turn: fields.remove("turn"),
        state: fields.remove("state").and_then(|said| ApprovalState::named(&said)),
        block_id: tail.block_id,
    };
    Ok((approval, end_of_fields))
}

/// Takes the field at `at`; returns where it ends.
fn take_field<'a>(fields: &mut BTreeMap<&'a str, String>, text: &'a str, at: usize) -> Result<usize, Fault> {
    let rest = &text[at..];
    let Some((key, _)) = rest.split_once('=').filter(|(key, _)| !key.contains([' ', '"'])) else {
        let word = &text[at..word_end(text, at)];
        return Err(Fault::new(
            at,
            format!("{} is no field", quote(word)),
            format!("known are: {}", KEYS.join(", ")),
        ));
    };
    let from = at + key.len() + 1;
    let (value, end) = if matches!(key, "run" | "why" | "always") {
        let (value, length) = unquote(&text[from..]).map_err(|(place, reason)| {
            Fault::new(from + place, reason, "write it as it stood; a changed line approves nothing")
        })?;
        (value, from + length)
    } else {
        let end = word_end(text, from);
        check_word(key, &text[from..end], at, from)?;
        (text[from..end].to_owned(), end)
    };
    if fields.insert(key, value).is_some() {
        return Err(Fault::new(at, format!("`{key}=` stands twice"), "delete one"));
    }
    match text.as_bytes().get(end) {
        None | Some(b' ') => Ok(end),
        Some(_) => Err(Fault::new(end, "a space is missing", "put one between two fields")),
    }
}

/// Whether a word can be the value of a key, which stands at `at`, and the word at `from`.
fn check_word(key: &str, value: &str, at: usize, from: usize) -> Result<(), Fault> {
    let is_hash = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let (fits, what, how) = match key {
        "until" => (until(value).is_some(), "time", "write it as in `2026-12-01T09:30Z`"),
        "brain" | "turn" => (is_name(value), "name", "write letters, digits and `-._~:/+@`"),
        "hash" => {
            let fits = value.bytes().all(is_hash) && (12..=64).contains(&value.len());
            (fits, "hash", "write 12 to 64 digits of 0-9 and a-f")
        }
        "state" => {
            let how = "known are: used, declined, expired, changed, stopped";
            (ApprovalState::named(value).is_some(), "state", how)
        }
        _ => {
            let suggestion = match nearest(key, &KEYS) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known are: {}", KEYS.join(", ")),
            };
            return Err(Fault::new(at, format!("{} is no field", quote(key)), suggestion));
        }
    };
    if fits { Ok(()) } else { Err(Fault::new(from, format!("{} is no {what}", quote(value)), how)) }
}

/// `2026-12-01T09:30Z`.
fn until(text: &str) -> Option<Timestamp> {
    let local =
        DateTime::strptime("%Y-%m-%dT%H:%MZ", text).ok().filter(|_| has_shape(text, "0000-00-00T00:00Z"))?;
    (local.year() > 0).then(|| TimeZone::UTC.to_timestamp(local).ok())?
}

fn word_end(text: &str, at: usize) -> usize {
    text[at..].find(' ').map_or(text.len(), |end| at + end)
}
