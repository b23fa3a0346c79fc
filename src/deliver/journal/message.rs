//! Defines messages as the journal stores them, with their chunks.

use jiff::Timestamp;
use rusqlite::Connection;

use super::copies::Recipient;
use super::keys::{LineHash, replied_to};
use crate::deliver::notifier::{Fact, MessageKind, MessageScope, OutgoingMessage};
use crate::sqlite::{instant, json, word};
use crate::words::words;

/// A message to claim, with the deliveries that it carries (none for a confirmation).
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The key: a delivery's own, or one made of several.
    pub key: String,
    /// Its kind.
    pub kind: MessageKind,
    /// The notifier that it is for.
    pub to: Recipient,
    /// Its destination.
    pub scope: Option<MessageScope>,
    /// The whole text.
    pub body: String,
    /// The deliveries: key, hash of the line, fact.
    pub deliveries: Vec<(String, LineHash, Fact)>,
    /// It may have been sent since then, by another machine: the place is asked first.
    pub lookup_since: Option<Timestamp>,
}

/// A message of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalMessage {
    /// Its key.
    pub key: String,
    /// Its kind.
    pub kind: MessageKind,
    /// The notifier that it is for.
    pub to: Recipient,
    /// Its destination at route 0.
    pub scope: Option<MessageScope>,
    /// 0 for its own place, then each place that it falls back to.
    pub route: u8,
    /// The items in it.
    pub facts: Vec<Fact>,
    /// The whole text.
    pub body: String,
    /// How often sending failed.
    pub attempts: u32,
    /// When it was last tried.
    pub attempted: Option<Timestamp>,
    /// Not before this instant.
    pub retry: Option<Timestamp>,
    /// Its chunks in order.
    pub chunks: Vec<MessageChunk>,
}

/// One chunk of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageChunk {
    /// The same on every attempt.
    pub nonce: String,
    /// Its text.
    pub text: String,
    /// How far it came.
    pub state: ChunkState,
    /// The first attempt with an unknown outcome.
    pub first: Option<Timestamp>,
    /// A sent one: the message's id, where the place gives one.
    pub message_id: Option<String>,
}

words! {
    /// How far a chunk came.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ChunkState, as_str {
        /// Surely not sent.
        Due = "due",
        /// May have been sent.
        Sending = "sending",
        /// Sent.
        Sent = "sent",
    }
}

impl NewMessage {
    /// A message for the notifier that counts, about no reminder, follow-up or task.
    pub fn plain(key: String, kind: MessageKind, scope: Option<MessageScope>, body: String) -> Self {
        let (to, deliveries) = (Recipient::Primary, Vec::new());
        Self { key, kind, to, scope, body, deliveries, lookup_since: None }
    }
}

impl JournalMessage {
    /// The chunk as a notifier takes it, for the given place.
    pub fn outgoing(&self, chunk: usize, scope: Option<MessageScope>) -> OutgoingMessage {
        OutgoingMessage {
            key: self.key.clone(),
            nonce: self.chunks[chunk].nonce.clone(),
            chunk,
            chunks: self.chunks.len(),
            kind: self.kind,
            text: self.chunks[chunk].text.clone(),
            scope,
            facts: self.facts.clone(),
            reply_to: if chunk == 0 { replied_to(&self.key) } else { None },
        }
    }
}

pub(super) fn read_messages(
    tx: &Connection,
    filter: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<JournalMessage>> {
    let mut messages: Vec<JournalMessage> = tx
        .prepare_cached(&format!(
            "SELECT key, kind, scope, route, facts, body, attempts, attempted_ms, retry_ms, outlet, copy
             FROM messages {filter}
             ORDER BY rowid"
        ))?
        .query_map(values, |row| {
            let scope: Option<String> = row.get(2)?;
            Ok(JournalMessage {
                key: row.get(0)?,
                kind: word(row, 1)?,
                to: Recipient::read(row.get(9)?, row.get(10)?),
                scope: scope.and_then(|scope| scope.parse().ok()),
                route: row.get(3)?,
                facts: json(row, 4)?,
                body: row.get(5)?,
                attempts: row.get(6)?,
                attempted: instant(row.get(7)?),
                retry: instant(row.get(8)?),
                chunks: Vec::new(),
            })
        })?
        .collect::<Result<_, _>>()?;
    let mut chunks = tx.prepare_cached(
        "SELECT nonce, text, state, first_ms, message_id FROM chunks WHERE message = ?1 ORDER BY chunk",
    )?;
    for message in &mut messages {
        message.chunks = chunks
            .query_map([&message.key], |row| {
                Ok(MessageChunk {
                    nonce: row.get(0)?,
                    text: row.get(1)?,
                    state: word(row, 2)?,
                    first: instant(row.get(3)?),
                    message_id: row.get(4)?,
                })
            })?
            .collect::<Result<_, _>>()?;
    }
    Ok(messages)
}
