//! Messages that no note waits for: confirmations of changes, notices about the agent itself.

use jiff::Timestamp;

use super::compose;
use super::journal::{Journal, JournalError, NewMessage};
use super::notifier::MessageKind;

/// Queues the confirmation of a reminder that was created or changed: `what` (`added`, `changed`,
/// `removed`) and the exact line as it stands in the note. It is on disk when this returns; the next
/// pass sends it, once.
///
/// A front door that prints the line itself (the console) needs none.
///
/// # Errors
/// The journal can't be written.
pub fn confirm(journal: &Journal, what: &str, line: &str, now: Timestamp) -> Result<(), JournalError> {
    queue(journal, MessageKind::Confirmation, compose::confirmation(what, line), now)
}

/// Queues a notice about the agent itself.
///
/// # Errors
/// The journal can't be written.
pub fn notice(journal: &Journal, text: &str, now: Timestamp) -> Result<(), JournalError> {
    queue(journal, MessageKind::Notice, text.to_owned(), now)
}

fn queue(journal: &Journal, kind: MessageKind, body: String, now: Timestamp) -> Result<(), JournalError> {
    let key = format!("{kind}:{}:{}", now.as_millisecond(), ulid::Ulid::generate());
    let message = NewMessage { key, kind, scope: None, body, deliveries: Vec::new() };
    journal.claim(&[message], super::split::DISCORD_LIMIT).map(|_| ())
}
