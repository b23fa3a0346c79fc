//! Parses lines with a checkbox that a person ticks or declines, as in `Approvals.md` and `Inbox.md`.
//!
//! A line's bytes come in; its meaning, or a near miss with its place, goes out. Pure.

use serde::Serialize;

use crate::format::{Fault, ReminderId, dated_tasks, is_block_id};

/// The place of the box's mark.
pub(in crate::format) const BOX: usize = 3;
/// The end of the box.
pub(in crate::format) const HEAD: usize = 5;

/// The meaning of a line's box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckboxMark {
    /// No decision yet.
    Open,
    /// Yes: `[x]` or `[X]`.
    Ticked,
    /// No: `[-]`.
    Declined,
}

impl CheckboxMark {
    /// The character in the box.
    pub const fn sign(self) -> char {
        match self {
            Self::Open => ' ',
            Self::Ticked => 'x',
            Self::Declined => '-',
        }
    }
}

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedBox<T> {
    /// A line of the format.
    Line(Box<T>),
    /// A line that looks meant as one.
    NearMiss {
        /// From 1: in characters, or in bytes where the line isn't valid UTF-8.
        column: usize,
        /// The fault.
        reason: String,
        /// The remedy.
        suggestion: String,
    },
    /// Something else.
    Other,
}

/// Reads one line with `read`; what `read` refuses is a near miss where it `looks_meant`.
pub(in crate::format) fn parse_line<T>(
    line: &[u8],
    looks_meant: fn(&str) -> bool,
    read: impl Fn(&str) -> Result<T, Fault>,
) -> ParsedBox<T> {
    let read = match std::str::from_utf8(line) {
        Ok(text) => read(text).map_err(|fault| fault.in_characters(text)),
        Err(error) => Err(Fault::not_utf8(line, error)),
    };
    match read {
        Ok(read) => ParsedBox::Line(Box::new(read)),
        Err(Fault { at, reason, suggestion }) if looks_meant(&String::from_utf8_lossy(line)) => {
            ParsedBox::NearMiss { column: at + 1, reason, suggestion }
        }
        Err(_) => ParsedBox::Other,
    }
}

/// The text of a line that begins like a task, from its box on.
pub(in crate::format) fn task_body(text: &str) -> Option<&str> {
    let body = text.trim_start();
    let body = body.strip_prefix(['-', '*', '+']).unwrap_or(body).trim_start();
    body.starts_with('[').then_some(body)
}

/// The meaning of the box; `ticking` says what a tick does.
pub(in crate::format) fn mark(text: &str, ticking: &str) -> Result<CheckboxMark, Fault> {
    match text.get(..HEAD) {
        Some("- [ ]") => Ok(CheckboxMark::Open),
        Some("- [x]" | "- [X]") => Ok(CheckboxMark::Ticked),
        Some("- [-]") => Ok(CheckboxMark::Declined),
        _ if text.starts_with("- [") && text[BOX..].chars().nth(1) == Some(']') => {
            let how = format!("{ticking}, or put `-` into it to decline");
            Err(Fault::new(BOX, "the box says nothing that is understood", how))
        }
        _ => {
            let how = "begin it with `- [ ] ` in the first column";
            Err(Fault::new(0, "the line doesn't begin with `- [ ] `", how))
        }
    }
}

/// The text that may follow the fields: the date that other plugins add, then a block id.
#[derive(Default)]
pub(in crate::format) struct LineTail {
    pub block_id: Option<String>,
    is_dated: bool,
}

impl LineTail {
    /// Takes a date or a block id at `at`; returns where it ends, or `None` if a field stands there. A block id ends the
    /// line.
    pub(in crate::format) fn take(&mut self, text: &str, at: usize) -> Result<Option<usize>, Fault> {
        let rest = &text[at..];
        if let Some(length) = dated_tasks::end_date(rest).filter(|_| !self.is_dated) {
            self.is_dated = true;
            return Ok(Some(at + length));
        }
        if let Some(block) = rest.strip_prefix('^') {
            let name = block.trim_end_matches(' ');
            if !is_block_id(name) {
                let how = "delete it, or write `^` with letters, digits and `-`";
                return Err(Fault::new(at, "this is no block id", how));
            }
            self.block_id = Some(name.to_owned());
            return Ok(Some(text.len()));
        }
        if self.is_dated {
            return Err(Fault::new(at, "something stands behind the date", "put it before the date"));
        }
        Ok(None)
    }
}

/// Whether a text can be a name in a field.
pub(in crate::format) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/+@".contains(&b))
}

/// The place after one or more spaces, or the end; `how` says where a missing one belongs.
pub(in crate::format) fn spaces(text: &str, at: usize, how: &str) -> Result<usize, Fault> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start_matches(' ').len();
    if blank == 0 && !rest.is_empty() {
        return Err(Fault::new(at, "a space is missing", how));
    }
    Ok(at + blank)
}

/// The id with this prefix that is made of the first sixty of these random bits.
pub(in crate::format) fn id_from_random(prefix: &str, random: [u8; 8]) -> String {
    format!("{prefix}{}", &ReminderId::from_random(random).as_str()[4..])
}

/// Whether a text is an id with this prefix.
pub(in crate::format) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == 12 && rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    })
}

/// Whether a word looks meant as an id with this prefix.
pub(in crate::format) fn looks_like_id(word: &str, prefix: &str) -> bool {
    word.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        && word.len() > prefix.len() + 4
}
