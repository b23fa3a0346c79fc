//! Queues messages that belong to no line of a note: confirmations of changes, and notices about the agent itself. Also
//! sends a test message, at once and without the journal.

use jiff::Timestamp;

use super::delivery_journal::{Journal, NewMessage, Result};
use super::notifier::{MessageKind, Notifier, OutgoingMessage, SendOutcome};
use super::split::DEFAULT_LIMIT;
use super::words::compose;

/// Queues the confirmation of a reminder that was created or changed: `what` (`added`, `changed`, `removed`) and the
/// exact line of the note, or several of them. It is on disk when this returns; the next pass sends it, once.
///
/// A front door that prints the line itself (the console) needs none.
///
/// # Errors
/// The journal can't be written.
pub fn confirm(journal: &Journal, what: &str, line: &str, now: Timestamp) -> Result<()> {
    let message = new(MessageKind::Confirmation, compose::confirmation(what, line), now);
    journal.claim(&[message], |_| DEFAULT_LIMIT).map(drop)
}

/// Queues a notice that is sent once: `name` holds its subject and its day, and a second notice of the same name is
/// never queued, whatever happens in between. Returns whether it was queued.
///
/// # Errors
/// The journal can't be written.
pub fn notice_once(journal: &Journal, name: &str, text: &str, now: Timestamp) -> Result<bool> {
    let message = new(MessageKind::Notice, text.to_owned(), now);
    journal.queue_once(name, &message, DEFAULT_LIMIT, now)
}

/// Sends a test message at once, without the journal. A person checks that it comes.
///
/// # Errors
/// The message didn't arrive, or its arrival is unknown; the reason.
pub async fn send_test(notifier: &dyn Notifier) -> Result<(), String> {
    let key = format!("test:{}", ulid::Ulid::generate());
    let text = "This is vault-agent: reminders are delivered here from now on.";
    match notifier.send(&OutgoingMessage::whole(MessageKind::Notice, key, text)).await {
        SendOutcome::Sent { .. } => Ok(()),
        SendOutcome::Unknown { reason }
        | SendOutcome::Retry { reason, .. }
        | SendOutcome::Refused { reason }
        | SendOutcome::Never { reason } => Err(reason),
    }
}

fn new(kind: MessageKind, body: String, now: Timestamp) -> NewMessage {
    let key = format!("{kind}:{}:{}", now.as_millisecond(), ulid::Ulid::generate());
    NewMessage::plain(key, kind, None, body)
}
