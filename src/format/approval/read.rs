//! Parses a line of `Approvals.md`, and explains near misses.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::checkbox::{self, Fault, HEAD, Tail, has_shape, is_name, wrong};
use super::{Approval, ApprovalState, PREFIX, Parsed, is_id, quote::unquote};
use crate::format::{nearest, quote};

const KEYS: [&str; 8] = ["until", "brain", "run", "hash", "why", "always", "turn", "state"];

/// Reads one line.
pub fn parse_line(line: &[u8]) -> Parsed<Approval> {
    checkbox::parse_line(line, looks_meant, |text| Ok(read(text)?.0))
}

/// Whether a line begins like a task and names a question, or two of its fields.
fn looks_meant(text: &str) -> bool {
    let Some(body) = checkbox::task_body(text) else { return false };
    let words = || body.split([' ', '\t']);
    words().any(|word| checkbox::looks_like_id(word, PREFIX))
        || words().any(|word| word.starts_with("run=")) && words().any(|word| word.starts_with("until="))
}

/// Where the last field of a valid line ends.
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
        return Err(wrong(at, reason, "one is `ap_` and 12 characters of A-Z and 2-7"));
    }
    at = end;
    let mut fields = Fields::default();
    let mut end_of_fields = at;
    let mut tail = Tail::default();
    loop {
        let next = checkbox::spaces(text, at, "put one between two fields")?;
        if next == text.len() {
            break;
        }
        if let Some(end) = tail.take(text, next)? {
            at = end;
            continue;
        }
        at = fields.take(text, next)?;
        end_of_fields = at;
    }
    let missing = |key: &str| {
        wrong(end_of_fields, format!("`{key}=` is missing"), "delete the line; it can be asked for again")
    };
    let approval = Approval {
        mark,
        id: id.to_owned(),
        until: fields.until.ok_or_else(|| missing("until"))?,
        brain: fields.brain.ok_or_else(|| missing("brain"))?,
        run: fields.run.ok_or_else(|| missing("run"))?,
        hash: fields.hash,
        why: fields.why,
        always: fields.always,
        turn: fields.turn,
        state: fields.state,
        block_id: tail.block_id,
    };
    Ok((approval, end_of_fields))
}

#[derive(Default)]
struct Fields {
    until: Option<Timestamp>,
    brain: Option<String>,
    run: Option<String>,
    hash: Option<String>,
    why: Option<String>,
    always: Option<String>,
    turn: Option<String>,
    state: Option<ApprovalState>,
}

impl Fields {
    /// Takes the field at `at`; returns where it ends.
    fn take(&mut self, text: &str, at: usize) -> Result<usize, Fault> {
        let rest = &text[at..];
        let Some((key, _)) = rest.split_once('=').filter(|(key, _)| !key.contains([' ', '"'])) else {
            let word = &text[at..word_end(text, at)];
            return Err(wrong(
                at,
                format!("{} is no field", quote(word)),
                format!("known are: {}", KEYS.join(", ")),
            ));
        };
        let from = at + key.len() + 1;
        let end = match key {
            "run" | "why" | "always" => {
                let (value, length) = unquote(&text[from..]).map_err(|(place, reason)| {
                    wrong(from + place, reason, "write it as it stood; a changed line approves nothing")
                })?;
                let value = Some(value);
                once(
                    match key {
                        "run" => std::mem::replace(&mut self.run, value).is_none(),
                        "why" => std::mem::replace(&mut self.why, value).is_none(),
                        _ => std::mem::replace(&mut self.always, value).is_none(),
                    },
                    key,
                    at,
                )?;
                from + length
            }
            _ => {
                let end = word_end(text, from);
                self.word(key, &text[from..end], at, from)?;
                end
            }
        };
        match text.as_bytes().get(end) {
            None | Some(b' ') => Ok(end),
            Some(_) => Err(wrong(end, "a space is missing", "put one between two fields")),
        }
    }

    fn word(&mut self, key: &str, value: &str, at: usize, from: usize) -> Result<(), Fault> {
        let is_word = is_name(value);
        let bad = |what: &str, how: &str| wrong(from, format!("{} is no {what}", quote(value)), how);
        let first = match key {
            "until" => {
                let until = until(value).ok_or_else(|| bad("time", "write it as in `2026-12-01T09:30Z`"))?;
                self.until.replace(until).is_none()
            }
            "brain" if is_word => self.brain.replace(value.to_owned()).is_none(),
            "turn" if is_word => self.turn.replace(value.to_owned()).is_none(),
            "brain" | "turn" => return Err(bad("name", "write letters, digits and `-._~:/+@`")),
            "hash" => {
                let digits = value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                if !digits || !(12..=64).contains(&value.len()) {
                    return Err(bad("hash", "write 12 to 64 digits of 0-9 and a-f"));
                }
                self.hash.replace(value.to_owned()).is_none()
            }
            "state" => {
                let state = ApprovalState::ALL.into_iter().find(|state| state.name() == value);
                let state = state
                    .ok_or_else(|| bad("state", "known are: used, declined, expired, changed, stopped"))?;
                self.state.replace(state).is_none()
            }
            _ => {
                let suggestion = match nearest(key, &KEYS) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => format!("known are: {}", KEYS.join(", ")),
                };
                return Err(wrong(at, format!("{} is no field", quote(key)), suggestion));
            }
        };
        once(first, key, at)
    }
}

fn once(first: bool, key: &str, at: usize) -> Result<(), Fault> {
    if first { Ok(()) } else { Err(wrong(at, format!("`{key}=` stands twice"), "delete one")) }
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
