//! Adds, changes, removes, lists and previews reminders. The note of reminders (`Reminders.md`) is the only place where
//! reminders are kept.
//!
//! Each call reads the note again. [`plan`] (pure) computes the changed lines, usually one. [`vault::Editor`] finds the
//! old lines by their bytes and replaces them. Nothing here sends a message; [`crate::deliver`] does.
//!
//! - `vault_reminders`: the reminders of a vault; `occurrences`: skips, moves or snoozes one occurrence;
//! - `plan`: changes of a line; `adopt`: turns lines of other notes into reminders; `error`: errors;
//! - `findings`: lines that look like reminders but can't be parsed, lines that stand twice, and shared ids.
//!
//! [`vault::Editor`]: crate::vault::Editor

mod adopt;
mod error;
mod findings;
mod occurrences;
mod plan;
mod vault_reminders;

use std::collections::HashSet;

use jiff::{Timestamp, tz::TimeZone};

use crate::format::reminder::{self, Reminder, ReminderLine, RemindersFile};
use crate::format::{ReminderId, commitment};
use crate::vault::NotePath;

pub use adopt::{AdoptedLine, UnadoptedLine, adopt};
pub use error::ReminderError;
pub(crate) use error::Result;
pub use findings::{PlacedFinding, findings};
pub use plan::{LinePlan, MOST_MESSAGE_CHARS, ReminderChanges, ReminderDraft, checked_message};
pub use vault_reminders::{
    ListedReminder, PreviewedReminder, SentRecord, VaultReminders, WrittenReminder, local_after,
};

/// Whether a text holds a reminder or a follow-up.
pub fn holds_items(text: &[u8]) -> bool {
    !reminder::parse(text).reminders.is_empty() || !commitment::parse(text).blocks.is_empty()
}

/// A new random id that no reminder of the file has.
///
/// # Errors
/// The operating system gives no random numbers.
pub fn new_id(file: &RemindersFile) -> Result<ReminderId> {
    loop {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| ReminderError::Random(error.to_string()))?;
        let id = ReminderId::from_random(bytes);
        if file.reminders.iter().all(|line| line.reminder.id != Some(id)) {
            return Ok(id);
        }
    }
}

/// The id of a line that a person wrote without one: a hash of its note's path and of its fields, without a block id,
/// so that each machine with a copy of the vault gives the same one. Of hashes that are `taken` the next is used.
pub fn id_of_line(note: &NotePath, reminder: &Reminder, taken: impl Fn(&ReminderId) -> bool) -> ReminderId {
    let mut hasher = blake3::Hasher::new_derive_key("vault-agent 2026-11-24 id of a reminder line");
    hasher.update(note.as_str().as_bytes()).update(b"\n").update(fields(reminder).as_bytes());
    let mut hashes = hasher.finalize_xof();
    loop {
        let mut bytes = [0; 8];
        hashes.fill(&mut bytes);
        let id = ReminderId::from_random(bytes);
        if !taken(&id) {
            return id;
        }
    }
}

/// The fields of a reminder's line, without a block id, independent of their order in the note.
pub(crate) fn fields(reminder: &Reminder) -> String {
    Reminder { block_id: None, ..reminder.clone() }.to_line()
}

/// The reminders of a file, without copies: lines with the same id and the same fields are one reminder, which is told
/// once. The first of them stands for all.
pub fn distinct(file: &RemindersFile) -> impl Iterator<Item = &ReminderLine> {
    let mut seen = HashSet::new();
    file.reminders.iter().filter(move |line| seen.insert(fields(&line.reminder)))
}

/// The lines of the reminders that `after` has and `before` hasn't, in order: those that were added or changed.
pub fn written_lines(before: &[u8], after: &[u8]) -> Vec<String> {
    let before = reminder::parse(before);
    let known: HashSet<&[u8]> = before.reminders.iter().map(|line| line.text.as_slice()).collect();
    let after = reminder::parse(after);
    let written = after.reminders.iter().filter(|line| !known.contains(line.text.as_slice()));
    written.map(|line| String::from_utf8_lossy(&line.text).into_owned()).collect()
}

/// An instant as every JSON answer shows it: RFC 3339 with the offset of the vault's zone; in UTC where that offset has
/// seconds (local mean time, before there were zones), which RFC 3339 can't say.
pub fn rfc3339(at: Timestamp, tz: &TimeZone) -> String {
    let has_seconds = tz.to_offset(at).seconds() % 60 != 0;
    let tz = if has_seconds { &TimeZone::UTC } else { tz };
    at.to_zoned(tz.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
