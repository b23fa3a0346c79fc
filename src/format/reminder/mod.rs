//! Parses and edits reminder lines: `- [ ] date=2026-12-01 time=09:30 recur=weekly msg="Call" id=rid_…`, one reminder
//! on each line.
//!
//! [`parse`] collects the reminders among a file's live lines (those outside frontmatter, code and comments). Near
//! misses (lines that look like an attempt) come out as findings with a column, a reason and a suggestion. All other
//! lines are passed over. [`with_id`] and [`with_schedule`] are the only edits of a line. The grammar is
//! `grammar/reminder.abnf`.
//!
//! - [`Recur`]: the kinds of recurrence; [`crate::schedule::Series`] computes their dates;
//! - `syntax`: the grammar, and the two edits;
//! - `values`, `diagnose`: a field's value, and the faults of a value or of a line, in words for people.

mod diagnose;
mod syntax;
mod values;

use std::fmt;

use jiff::civil::{Date, Time};
use serde::Serialize;

use super::lines::{self, LiveLines};
use super::{Finding, Line, listed};
use crate::words::words;

pub use syntax::{split_id, with_id, with_schedule};

/// The content of a reminder line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reminder {
    /// The local date of the next occurrence, in the years 0001 to 9999.
    pub date: Date,
    /// The local time of day, in whole minutes.
    pub time: Time,
    /// Its recurrence.
    pub recur: Recur,
    /// The day of the month (29 to 31) that a monthly reminder goes back to; the scheduler's own.
    pub day: Option<i8>,
    /// The message, unescaped; never empty, no control characters.
    pub msg: String,
    /// Its id, once it has one.
    pub id: Option<ReminderId>,
    /// The Obsidian block id at the end of the line, without its caret.
    pub block_id: Option<String>,
}

/// A reminder and the line that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderLine {
    /// The line's number, from 1.
    pub line: usize,
    /// The line's bytes without the terminator: what an edit finds it by.
    pub text: Vec<u8>,
    /// Whether the line ends in a newline; a last line without one may still be being written.
    pub terminated: bool,
    /// Its parsed content.
    pub reminder: Reminder,
}

/// The reminders of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemindersFile {
    /// The valid ones, in file order.
    pub reminders: Vec<ReminderLine>,
    /// Lines that look like one and aren't.
    pub near_misses: Vec<Finding>,
}

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedLine {
    /// A reminder.
    Reminder(Reminder),
    /// A task that is ticked or has another mark of its owner's: inert.
    Ticked,
    /// Looks like a reminder and isn't one; what is wrong with it, as if it were the first line.
    NearMiss(Finding),
    /// Anything else: a heading, a note, a plain task.
    Other,
}

/// Everything in a file that is a reminder or looks like one.
pub fn parse(bytes: &[u8]) -> RemindersFile {
    // The finding about the whole file comes first.
    let near_misses = lines::not_understood(bytes).into_iter().collect();
    let mut file = RemindersFile { reminders: Vec::new(), near_misses };
    for Line { number, text, terminator, .. } in LiveLines::new(bytes) {
        match parse_line(text) {
            ParsedLine::Reminder(reminder) => file.reminders.push(ReminderLine {
                line: number,
                text: text.to_vec(),
                terminated: !terminator.is_empty(),
                reminder,
            }),
            ParsedLine::NearMiss(finding) => file.near_misses.push(Finding { line: number, ..finding }),
            ParsedLine::Ticked | ParsedLine::Other => {}
        }
    }
    file
}

/// Parses one line, without its terminator.
pub fn parse_line(text: &[u8]) -> ParsedLine {
    match syntax::read(text) {
        Ok((reminder, _)) => ParsedLine::Reminder(reminder),
        Err(fault) => diagnose::sort(text, fault),
    }
}

/// Whether a line without its terminator is a reminder.
pub fn is_reminder(text: &str) -> bool {
    syntax::read(text.as_bytes()).is_ok()
}

/// Checks that `msg` can stand in a reminder line.
///
/// # Errors
/// The reason, in words.
pub fn check_msg(msg: &str) -> Result<(), String> {
    if msg.is_empty() {
        return Err("the message is empty: say what to be reminded of".to_owned());
    }
    match msg.chars().enumerate().find(|(_, c)| c.is_control()) {
        Some((before, c)) => {
            let (shown, at) = (c.escape_default(), before + 1);
            Err(format!(
                "the message holds a control character ({shown}) at character {at}: write it on one line"
            ))
        }
        None => Ok(()),
    }
}

impl Reminder {
    /// The line, without terminator, with its fields in the canonical order. It is one line whatever the
    /// message holds: control characters, which [`check_msg`] refuses, come out as spaces.
    pub fn to_line(&self) -> String {
        let (date, time, recur) = (self.date, self.time.strftime("%H:%M"), self.recur);
        let mut line = format!("- [ ] date={date} time={time} recur={recur}");
        line.extend(self.day.map(|day| format!(" day={day}")));
        line.push_str(" msg=\"");
        for c in self.msg.chars() {
            match c {
                '"' | '\\' => line.extend(['\\', c]),
                c if c.is_control() => line.push(' '),
                c => line.push(c),
            }
        }
        line.push('"');
        line.extend(self.id.map(|id| format!(" id={id}")));
        line.extend(self.block_id.as_ref().map(|block_id| format!(" ^{block_id}")));
        line
    }
}

words! {
    /// The recurrence of a reminder.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Recur, name {
        /// Once.
        #[default]
        None = "none",
        /// Every day at the same local time.
        Daily = "daily",
        /// Every seven days.
        Weekly = "weekly",
        /// Every month on the same day, or on the last one of a month that lacks it.
        Monthly = "monthly",
    }
}

impl Recur {
    /// Their names as a sentence lists them: "`none`, `daily`, `weekly` and `monthly`" with this word before the last.
    pub fn listed(word: &str) -> String {
        listed(Recur::NAMES.map(|name| format!("`{name}`")).into(), word)
    }

    /// The recurrence with this name.
    ///
    /// # Errors
    /// There is none; what there is, in words.
    pub fn parse(text: &str) -> Result<Recur, String> {
        Recur::named(text).ok_or_else(|| {
            let names = Recur::NAMES.map(|name| format!("`{name}`")).join(", ");
            let hint = super::nearest(text, &Recur::NAMES).map(|name| format!("; did you mean `{name}`?"));
            format!("{} is not a recurrence: one of {names}{}", super::quote(text), hint.unwrap_or_default())
        })
    }
}

const ID_PREFIX: &str = "rid_";
const ID_ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// The length of an id in bytes.
const ID_LENGTH: usize = 16;

/// The id of a reminder, such as `rid_K5V4M2J7Q2ZP`: `rid_` and twelve characters of the base-32 alphabet, sixty random
/// bits. It is unique in its file, and never changed once written.
///
/// Written ids use A-Z and 2-7. Any digit is accepted when reading, as in the design's own example, so that a copied
/// line with a 9 still fires.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(8))]
pub struct ReminderId([u8; ID_LENGTH]);

impl ReminderId {
    /// The id made of the first sixty of these random bits.
    pub fn from_random(random: [u8; 8]) -> ReminderId {
        let bits = u64::from_be_bytes(random);
        let mut id = [0; ID_LENGTH];
        id[..ID_PREFIX.len()].copy_from_slice(ID_PREFIX.as_bytes());
        for (place, byte) in id[ID_PREFIX.len()..].iter_mut().enumerate() {
            *byte = ID_ALPHABET[(bits >> (59 - 5 * place)) as usize & 31];
        }
        ReminderId(id)
    }

    /// The id that these bytes spell, if they spell one.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Option<ReminderId> {
        let id: [u8; ID_LENGTH] = bytes.try_into().ok()?;
        let good = id[..4] == *b"rid_"
            && id[4..].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        good.then_some(ReminderId(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("an id is ASCII by construction")
    }
}

impl fmt::Display for ReminderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for ReminderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for ReminderId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for ReminderId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ReminderId, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let id = ReminderId::from_bytes(text.as_bytes());
        let words = "is not a reminder id: one is `rid_` and 12 characters of A-Z and 2-7";
        id.ok_or_else(|| serde::de::Error::custom(format!("{} {words}", super::quote(&text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bits_become_an_id_and_back() {
        assert_eq!(ReminderId::from_random([0; 8]).as_str(), "rid_AAAAAAAAAAAA");
        assert_eq!(ReminderId::from_random([0xff; 8]).as_str(), "rid_777777777777");
        let id = ReminderId::from_random(*b"whatever");
        assert_eq!(ReminderId::from_bytes(id.to_string().as_bytes()), Some(id));
    }

    #[test]
    fn anything_else_is_no_id() {
        for text in
            ["", "rid_", "rid_K5V4M2J-Q2ZP", "rid_k5v4m2j7q2zp", "RID_K5V4M2J7Q2ZP", "rid_K5V4M2J7Q2ZPA"]
        {
            assert!(ReminderId::from_bytes(text.as_bytes()).is_none(), "{text}");
        }
    }
}
