//! Parses a line of `Approvals.md`, and explains near misses.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::{Approval, Mark, Parsed, State, is_id, quote::unquote};
use crate::format::{nearest, quote, tasks};

/// The place of the box's mark.
pub(super) const BOX: usize = 3;
/// The place of the first field.
const HEAD: usize = 5;
const KEYS: [&str; 8] = ["until", "brain", "run", "hash", "why", "always", "turn", "state"];

/// Something wrong in a line, by its byte.
struct Wrong {
    at: usize,
    reason: String,
    suggestion: String,
}

fn wrong(at: usize, reason: impl Into<String>, suggestion: impl Into<String>) -> Wrong {
    Wrong { at, reason: reason.into(), suggestion: suggestion.into() }
}

/// Reads one line.
pub fn parse_line(line: &[u8]) -> Parsed {
    let Ok(text) = std::str::from_utf8(line) else {
        let text = String::from_utf8_lossy(line);
        let at = line.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        return if looks_meant(&text) {
            let reason = format!("byte 0x{:02X} is not valid UTF-8", line[at]);
            Parsed::NearMiss { column: at + 1, reason, suggestion: "save the file as UTF-8".to_owned() }
        } else {
            Parsed::Other
        };
    };
    match read(text) {
        Ok((approval, _)) => Parsed::Approval(Box::new(approval)),
        Err(Wrong { at, reason, suggestion }) if looks_meant(text) => {
            let column = text.get(..at).unwrap_or(text).chars().count() + 1;
            Parsed::NearMiss { column, reason, suggestion }
        }
        Err(_) => Parsed::Other,
    }
}

/// Where the last field of a valid line ends.
pub(super) fn end_of_fields(line: &[u8]) -> usize {
    let read = std::str::from_utf8(line).ok().and_then(|text| read(text).ok());
    read.map_or(line.len(), |(_, end)| end)
}

/// Whether a line begins like a task and names a question, or two of its fields.
fn looks_meant(text: &str) -> bool {
    let body = text.trim_start();
    let body = body.strip_prefix(['-', '*', '+']).unwrap_or(body).trim_start();
    if !body.starts_with('[') {
        return false;
    }
    let words = || body.split([' ', '\t']);
    let id =
        |word: &str| word.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("ap_")) && word.len() > 7;
    words().any(id)
        || words().any(|word| word.starts_with("run=")) && words().any(|word| word.starts_with("until="))
}

/// The meaning of the box.
fn mark(text: &str) -> Result<Mark, Wrong> {
    match text.get(..HEAD) {
        Some("- [ ]") => Ok(Mark::Open),
        Some("- [x]" | "- [X]") => Ok(Mark::Ticked),
        Some("- [-]") => Ok(Mark::Declined),
        _ if text.starts_with("- [") && text[BOX..].chars().nth(1) == Some(']') => {
            let how = "tick it, or put `-` into it to decline";
            Err(wrong(BOX, "the box says nothing that is understood", how))
        }
        _ => {
            let how = "begin it with `- [ ] ` in the first column";
            Err(wrong(0, "the line doesn't begin with `- [ ] `", how))
        }
    }
}

fn read(text: &str) -> Result<(Approval, usize), Wrong> {
    let mark = mark(text)?;
    let mut at = spaces(text, HEAD)?;
    let end = word_end(text, at);
    let id = &text[at..end];
    if !is_id(id) {
        let reason = format!("{} is no id of a question", quote(id));
        return Err(wrong(at, reason, "one is `ap_` and 12 characters of A-Z and 2-7"));
    }
    at = end;
    let mut fields = Fields::default();
    let mut end_of_fields = at;
    let mut block_id = None;
    let mut is_dated = false;
    loop {
        let Ok(next) = spaces(text, at) else {
            return Err(wrong(at, "a space is missing", "put one between two fields"));
        };
        if next == text.len() {
            break;
        }
        let rest = &text[next..];
        if let Some(length) = tasks::end_date(rest).filter(|_| !is_dated) {
            (at, is_dated) = (next + length, true);
            continue;
        }
        if let Some(block) = rest.strip_prefix('^') {
            let name = block.trim_end_matches(' ');
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
                return Err(wrong(
                    next,
                    "this is no block id",
                    "delete it, or write `^` with letters, digits and `-`",
                ));
            }
            block_id = Some(name.to_owned());
            break;
        }
        if is_dated {
            return Err(wrong(next, "something stands behind the date", "put it before the date"));
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
        block_id,
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
    state: Option<State>,
}

impl Fields {
    /// Takes the field at `at`; returns where it ends.
    fn take(&mut self, text: &str, at: usize) -> Result<usize, Wrong> {
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

    fn word(&mut self, key: &str, value: &str, at: usize, from: usize) -> Result<(), Wrong> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/+@".contains(&b);
        let is_word = !value.is_empty() && value.bytes().all(plain);
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
                let state = State::ALL.into_iter().find(|state| state.name() == value);
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

fn once(first: bool, key: &str, at: usize) -> Result<(), Wrong> {
    if first { Ok(()) } else { Err(wrong(at, format!("`{key}=` stands twice"), "delete one")) }
}

/// `2026-12-01T09:30Z`.
fn until(text: &str) -> Option<Timestamp> {
    let shape = text.len() == 17
        && text.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            10 => b == b'T',
            13 => b == b':',
            16 => b == b'Z',
            _ => b.is_ascii_digit(),
        });
    let local = DateTime::strptime("%Y-%m-%dT%H:%MZ", text).ok().filter(|_| shape)?;
    (local.year() > 0).then(|| TimeZone::UTC.to_timestamp(local).ok())?
}

/// The place after one or more spaces, or the end.
fn spaces(text: &str, at: usize) -> Result<usize, Wrong> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start_matches(' ').len();
    if blank == 0 && !rest.is_empty() {
        return Err(wrong(at, "a space is missing", "put one behind the box"));
    }
    Ok(at + blank)
}

fn word_end(text: &str, at: usize) -> usize {
    text[at..].find(' ').map_or(text.len(), |end| at + end)
}
