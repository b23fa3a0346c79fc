//! Parses lines with a checkbox that a person ticks or declines, as in `Approvals.md` and `Inbox.md`.
//!
//! The bytes of a line come in; what the line means goes out. A line that looks like an attempt at such a line, but has
//! a mistake, is a near miss: the mistake and its place go out. Pure.

use serde::Serialize;

use super::quote::unquote;
use crate::format::{Fault, Finding, ReminderId, dated_tasks, is_block_id, quote};

/// The place of the box's mark.
pub(in crate::format) const BOX: usize = 3;
/// The end of the box.
const HEAD: usize = 5;

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
    /// A line that looks like an attempt at one; what is wrong with it, as if it were the first.
    NearMiss(Finding),
    /// Something else.
    Other,
}

/// Parses one line with `read`. A line that `read` refuses is a near miss if `looks_meant` is true for it.
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
        Err(fault) if looks_meant(&String::from_utf8_lossy(line)) => ParsedBox::NearMiss(fault.finding()),
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

/// A line that is read from its box on.
pub(in crate::format) struct LineReader<'a> {
    pub text: &'a str,
    /// The place of what is read next.
    pub at: usize,
    /// The block id at the line's end.
    pub block_id: Option<String>,
    is_dated: bool,
}

impl<'a> LineReader<'a> {
    pub(in crate::format) fn new(text: &'a str) -> Self {
        Self { text, at: HEAD, block_id: None, is_dated: false }
    }

    pub(in crate::format) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(in crate::format) fn word(&self) -> &'a str {
        self.rest().split(' ').next().unwrap_or_default()
    }

    /// The fault of the text at the reader's position.
    pub(in crate::format) fn fault(&self, reason: impl Into<String>, how: impl Into<String>) -> Fault {
        Fault::new(self.at, reason, how)
    }

    /// Passes one or more spaces; `how` says where missing ones belong.
    pub(in crate::format) fn spaces(&mut self, how: &str) -> Result<(), Fault> {
        let rest = self.rest().trim_start_matches(' ');
        if rest.len() == self.rest().len() && !rest.is_empty() {
            return Err(self.fault("a space is missing", how));
        }
        self.at = self.text.len() - rest.len();
        Ok(())
    }

    /// Takes the id of a `what` with this prefix.
    pub(in crate::format) fn id(&mut self, prefix: &str, what: &str) -> Result<String, Fault> {
        let id = self.word();
        if !is_id(id, prefix) {
            let how = format!("one is `{prefix}` and 12 characters of A-Z and 2-7");
            let missing = format!("the id of the {what} is missing");
            let reason = if id.is_empty() { missing } else { format!("{} is no id of a {what}", quote(id)) };
            return Err(self.fault(reason, how));
        }
        self.at += id.len();
        Ok(id.to_owned())
    }

    /// Takes a text between quotes; `how` says what to write in place of a wrong one.
    pub(in crate::format) fn quoted(&mut self, how: &str) -> Result<String, Fault> {
        let wrong = |(place, reason)| Fault::new(self.at + place, reason, how);
        let (value, length) = unquote(self.rest()).map_err(wrong)?;
        self.at += length;
        Ok(value)
    }

    /// Goes on to the next field, after spaces; false where there is none. Other plugins may add a date behind the
    /// fields, and a block id ends the line.
    pub(in crate::format) fn next_field(&mut self, how: &str) -> Result<bool, Fault> {
        loop {
            self.spaces(how)?;
            if let Some(length) = dated_tasks::end_date(self.rest()).filter(|_| !self.is_dated) {
                self.is_dated = true;
                self.at += length;
            } else if let Some(block) = self.rest().strip_prefix('^') {
                let name = block.trim_end_matches(' ');
                if !is_block_id(name) {
                    let how = "delete it, or write `^` with letters, digits and `-`";
                    return Err(self.fault("this is no block id", how));
                }
                self.block_id = Some(name.to_owned());
                self.at = self.text.len();
            } else if self.is_dated && !self.rest().is_empty() {
                return Err(self.fault("something stands behind the date", "put it before the date"));
            } else {
                return Ok(!self.rest().is_empty());
            }
        }
    }
}

/// Whether a text can be a name in a field.
pub(in crate::format) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/+@".contains(&b))
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

/// Whether a word looks like an attempt at an id with this prefix.
pub(in crate::format) fn looks_like_id(word: &str, prefix: &str) -> bool {
    word.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        && word.len() > prefix.len() + 4
}
