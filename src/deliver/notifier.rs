//! Defines the [`Notifier`] trait, and the types that its methods take and return.
//!
//! A notifier sends one chunk of text to one place and reports the outcome. It never retries, never sleeps and keeps no
//! state about deliveries. The delivery journal keeps that state; a pass ([`mod@crate::deliver::pass`], one run over all
//! that is due) retries and waits. [`Notifier::find`] looks for an earlier attempt, where the place can be asked;
//! elsewhere it finds nothing, so a message may come twice.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil};
use serde::{Deserialize, Serialize};

use crate::words::words;

/// The longest nonce in characters: Discord's limit, which all notifiers accept.
pub const MAX_NONCE: usize = 25;

/// Whether a message of a place, named by its id, isn't counted for another chunk.
pub type IsFree<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// Sends messages to the user at one place.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// The name that the settings, `status`, `doctor` and the journal have for it: `console`, `discord`, `ntfy`.
    fn name(&self) -> &'static str;

    /// Why it can't be used on this machine, if so: other machines send what it would.
    fn obstacle(&self) -> Option<&str> {
        None
    }

    /// The longest text that one message takes, in UTF-16 units; longer ones come in chunks.
    fn limit(&self) -> usize {
        crate::deliver::split::DEFAULT_LIMIT
    }

    /// How long the place itself drops a second message with the same nonce; afterwards it is asked
    /// with [`Notifier::find`] before anything is sent again.
    fn nonce_window(&self) -> SignedDuration {
        SignedDuration::from_mins(2)
    }

    /// Sends one message, once. The caller retries, with the same nonce.
    async fn send(&self, message: &OutgoingMessage) -> SendOutcome;

    /// Looks for a message that an earlier attempt may have left, by its nonce or its exact text, among those since
    /// `since` whose ids are free; several may have the same text. Most channels can't be asked.
    async fn find(
        &self,
        _message: &OutgoingMessage,
        _since: Timestamp,
        _is_free: IsFree<'_>,
    ) -> MessageLookup {
        MessageLookup::NotFound
    }
}

/// One message on its way out: a whole notification, or one chunk of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// The key of the notification in the delivery journal; the same for all its chunks.
    pub key: String,
    /// At most [`MAX_NONCE`] characters, the same for every attempt at this chunk.
    pub nonce: String,
    /// The chunk's index, from 0.
    pub chunk: usize,
    /// How many chunks the notification has, at least 1.
    pub chunks: usize,
    /// Its kind.
    pub kind: MessageKind,
    /// The text for the user.
    pub text: String,
    /// Its destination; `None` is the notifier's own default place.
    pub scope: Option<MessageScope>,
    /// The reminders or follow-ups in it: one, or several in a digest, oldest first.
    pub facts: Vec<NotifiedItem>,
    /// The message that it is a reply to.
    pub reply_to: Option<u64>,
}

impl OutgoingMessage {
    /// A notification of one chunk, to the notifier's own default place.
    pub fn whole(kind: MessageKind, key: impl Into<String>, text: impl Into<String>) -> Self {
        let key = key.into();
        Self {
            nonce: nonce(kind, &key, 0, 0),
            key,
            chunk: 0,
            chunks: 1,
            kind,
            text: text.into(),
            scope: None,
            facts: Vec::new(),
            reply_to: None,
        }
    }
}

words! {
    /// The kind of a message. A failure notice and the notification itself are different kinds, so that their nonces
    /// never coincide.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MessageKind, as_str {
        /// One reminder.
        Reminder = "reminder",
        /// One follow-up of `COMMITMENTS.md`.
        Commitment = "commitment",
        /// One task line of another plugin.
        Task = "task",
        /// Several that were missed, in one message.
        Digest = "digest",
        /// The exact line of a reminder that was just created or changed.
        Confirmation = "confirmation",
        /// Something that the user should know about the agent itself.
        Notice = "notice",
        /// The assistant's answer to a message.
        Answer = "answer",
        /// The assistant's question for approval.
        Approval = "approval",
        /// A routine's text.
        Routine = "routine",
    }
}

/// A reminder or follow-up in a message, for buttons and the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifiedItem {
    /// [`MessageKind::Reminder`] or [`MessageKind::Commitment`].
    pub kind: MessageKind,
    /// The reminder's or commitment's id.
    pub id: String,
    /// The local date and time that it was due, as written in the note.
    pub local: civil::DateTime,
    /// The instant that it was due.
    pub due: Timestamp,
    /// How late it was when the message was made, in seconds; never negative.
    pub late_seconds: i64,
    /// How many earlier occurrences were folded into this one.
    pub missed: u32,
    /// The reminder's message or the follow-up's text.
    pub msg: String,
    /// Whether it comes again.
    pub recurring: bool,
    /// When it comes next, local; `None` for a one-off.
    pub next: Option<civil::DateTime>,
    /// The note of a task; `None` for a line in its kind's own note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The outcome of one attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// It arrived.
    Sent {
        /// The message's id where the place gives one.
        message_id: Option<String>,
    },
    /// It may have arrived: a time-out, a 5xx, an answer that can't be read.
    Unknown {
        /// The failure.
        reason: String,
    },
    /// It surely did not arrive, and may later: unreachable, rate-limited.
    Retry {
        /// How long the place asks us to wait.
        after: Option<Duration>,
        /// The failure.
        reason: String,
    },
    /// It did not arrive and never will with these settings: forbidden, unknown channel.
    Refused {
        /// The failure, in words that say what to change.
        reason: String,
    },
    /// An answer or a question that its place will not take, whatever a person changes: its channel was deleted.
    Never {
        /// The failure.
        reason: String,
    },
}

/// The result of [`Notifier::find`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageLookup {
    /// The message is there.
    Found {
        /// Its id.
        message_id: String,
    },
    /// It isn't there, or the place can never be asked: a console, a webhook.
    NotFound,
    /// It can be asked, but not just now: the caller asks again later and sends nothing meanwhile.
    Later {
        /// The failure.
        reason: String,
    },
}

/// The destination of a message, in the form of `scope:` in `COMMITMENTS.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageScope {
    /// A channel: `channel:ID`.
    Channel(u64),
    /// A thread: `thread:ID`.
    Thread(u64),
    /// A user's direct messages: `user:ID`.
    User(u64),
}

impl fmt::Display for MessageScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(id) => write!(f, "channel:{id}"),
            Self::Thread(id) => write!(f, "thread:{id}"),
            Self::User(id) => write!(f, "user:{id}"),
        }
    }
}

/// A scope that isn't `channel:ID`, `thread:ID` or `user:ID`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scope: write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows")]
pub struct MessageScopeError(pub String);

impl FromStr for MessageScope {
    type Err = MessageScopeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || MessageScopeError(text.to_owned());
        let (kind, id) = text.trim().split_once(':').ok_or_else(wrong)?;
        let id: u64 = id.parse().ok().filter(|_| !id.starts_with('+')).ok_or_else(wrong)?;
        match kind {
            "channel" => Ok(Self::Channel(id)),
            "thread" => Ok(Self::Thread(id)),
            "user" => Ok(Self::User(id)),
            _ => Err(wrong()),
        }
    }
}

/// The nonce of one chunk: a hash over kind, key, route and chunk, the same on every attempt and
/// after every restart. 25 characters of base32 hold 125 bits of it.
///
/// `route` is 0 for the message's own place and counts up for each place that it falls back to: the
/// same text in another place is another message.
pub fn nonce(kind: MessageKind, key: &str, route: u8, chunk: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [kind.as_str().as_bytes(), key.as_bytes(), &[route]] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.update(&(chunk as u64).to_le_bytes());
    let mut text = data_encoding::BASE32_NOPAD.encode(&hasher.finalize().as_bytes()[..16]);
    text.truncate(MAX_NONCE);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_reads_back_as_written() {
        for text in ["channel:1482815120000000000", "thread:7", "user:18446744073709551615"] {
            let scope: MessageScope = text.parse().unwrap();
            assert_eq!(scope.to_string(), text);
        }
        for text in
            ["", "channel", "channel:", "channel:+7", "channel:18446744073709551616", "dm:4", "Channel:4"]
        {
            assert!(text.parse::<MessageScope>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_nonce_differs_by_every_part_and_fits() {
        let base = nonce(MessageKind::Reminder, "rid_A@2026-12-01T09:30", 0, 0);
        assert_eq!(base.len(), MAX_NONCE);
        assert_eq!(base, nonce(MessageKind::Reminder, "rid_A@2026-12-01T09:30", 0, 0));
        for other in [
            nonce(MessageKind::Notice, "rid_A@2026-12-01T09:30", 0, 0),
            nonce(MessageKind::Reminder, "rid_A@2026-12-01T09:31", 0, 0),
            nonce(MessageKind::Reminder, "rid_A@2026-12-01T09:30", 1, 0),
            nonce(MessageKind::Reminder, "rid_A@2026-12-01T09:30", 0, 1),
        ] {
            assert_ne!(base, other);
        }
    }
}
