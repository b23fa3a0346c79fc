//! Reminders as people and models handle them: add, change, remove, list, preview.
//!
//! The note `Reminders.md` is the only place where reminders are. Each call reads it anew, works out
//! the one line that it means ([`plan`], pure) and hands that line to [`vault::Editor`], which finds
//! it by its bytes. Nothing here sends anything; firing is [`crate::deliver`]'s work.
//!
//! - `book`: the reminders of a vault; `plan`, `snooze`, `occurrence`: what a change makes of a line;
//! - `adopt`: lines of other notes made ours; `findings`: what looks meant and isn't understood; `error`: what can go
//!   wrong.
//!
//! [`vault::Editor`]: crate::vault::Editor

mod adopt;
mod book;
mod error;
mod findings;
mod occurrence;
mod plan;
mod snooze;

use std::collections::HashSet;

use jiff::{Timestamp, tz::TimeZone};

use crate::format::id::ReminderId;
use crate::format::reminder::RemindersFile;

pub use adopt::{Adopted, Kept, adopt};
pub use book::{Book, Listed, Previewed, Written};
pub use error::ReminderError;
pub use findings::{IdAt, IdHashes, PlacedFinding, findings};
pub use plan::{Changes, Draft, LinePlan, MOST_MESSAGE_CHARS, add, change, check_message, find, remove};
pub use snooze::local_after;

/// A new random id that no reminder of the file has.
///
/// # Errors
/// The operating system gives no random numbers.
pub fn new_id(file: &RemindersFile) -> Result<ReminderId, ReminderError> {
    let taken: HashSet<&ReminderId> =
        file.reminders.iter().filter_map(|line| line.reminder.id.as_ref()).collect();
    random_id(|id| taken.contains(id))
}

/// A new random id that isn't `taken`.
///
/// # Errors
/// The operating system gives no random numbers.
pub fn random_id(taken: impl Fn(&ReminderId) -> bool) -> Result<ReminderId, ReminderError> {
    loop {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| ReminderError::Random(error.to_string()))?;
        let id = ReminderId::from_random(bytes);
        if !taken(&id) {
            return Ok(id);
        }
    }
}

/// An instant as every JSON answer shows it: RFC 3339 with the offset of the vault's zone.
pub fn rfc3339(at: Timestamp, tz: &TimeZone) -> String {
    at.to_zoned(tz.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
