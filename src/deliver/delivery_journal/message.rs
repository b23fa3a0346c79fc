//! Defines messages as the journal stores them, with their chunks and the wait until the next attempt. Also finds the
//! answer to which a message in a channel belongs as a chunk.
//!
//! An answer is a message without deliveries: no note has a line for it. An answer's text and nonces are on disk before
//! its first byte is sent. The assistant's turn that waits for the answer sends it, by the same steps as the
//! scheduler's pass.
//!
//! The answers among the last two thousand messages are kept. So a chunk of an older answer isn't taken for a chunk of
//! a later answer with the same text.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

use super::keys::{LineHash, question_of, replied_to};
use super::recipients::Recipient;
use super::{Journal, Result};
use crate::deliver::notifier::{MessageKind, MessageScope, NotifiedItem, OutgoingMessage};
use crate::sqlite::{instant, json, word};
use crate::words::words;

/// The wait after the first failure.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(5);
/// The longest wait after a failure.
const BACKOFF_MOST: SignedDuration = SignedDuration::from_mins(10);

/// The answers among the last so many messages are kept, so that a message with the same text is never taken for a later
/// answer.
const KEEP: i64 = 2_000;

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
    pub deliveries: Vec<(String, LineHash, NotifiedItem)>,
    /// The instant since which another machine may have sent it: the place is asked first.
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
    pub facts: Vec<NotifiedItem>,
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

/// A chunk of an answer that arrived, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedChunk {
    /// The message that was answered.
    pub question: u64,
    /// The chunk's index, from 0.
    pub chunk: usize,
    /// Its text.
    pub text: String,
    /// How many chunks the answer has.
    pub chunks: usize,
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

    /// Until when it waits for another attempt. A clock that was put back to before the last one ends the wait.
    pub fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.retry.filter(|at| *at > now && self.attempted.is_none_or(|then| then <= now))
    }

    /// Whether every chunk arrived.
    pub fn is_sent(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.state == ChunkState::Sent)
    }

    /// The time of the next attempt at a chunk, at `now`: the place's own wish, else exponential backoff; both with a
    /// jitter that is fixed by the nonce and the attempt, so that a pass is a function of its input.
    pub fn retry_at(&self, chunk: usize, after: Option<Duration>, now: Timestamp) -> Timestamp {
        let seed = blake3::hash(format!("{}/{}", self.chunks[chunk].nonce, self.attempts).as_bytes());
        let jitter = f64::from(seed.as_bytes()[0]) / 255.0;
        let wait = match after {
            Some(after) => {
                SignedDuration::try_from(after).unwrap_or(BACKOFF_MOST).mul_f64(1.0 + jitter / 10.0)
            }
            None => backoff(self.attempts).mul_f64(0.8 + 0.4 * jitter),
        };
        now.saturating_add(wait).unwrap_or(now)
    }
}

impl Journal {
    /// An answer, a question or a routine's text with its chunks, if it was fixed and as long as it is remembered.
    pub fn answer(&self, key: &str) -> Result<Option<JournalMessage>> {
        let filter = "WHERE key = ?1 AND kind IN ('answer', 'approval', 'routine')";
        Ok(self.db.read(|tx| read_messages(tx, filter, &[&key]))?.pop())
    }

    /// Finds the chunk of an answer that one of our messages is: by its id, its nonce, or its text among the answers
    /// that are on their way.
    pub fn chunk_of_message(
        &self,
        message_id: &str,
        nonce: Option<&str>,
        text: &str,
    ) -> Result<Option<PostedChunk>> {
        let found = self.db.row(
            "SELECT chunks.message, chunks.chunk, chunks.text,
                    (SELECT count(*) FROM chunks AS all_of WHERE all_of.message = chunks.message),
                    CASE WHEN chunks.message_id = ?1 THEN 0 WHEN chunks.nonce = ?2 THEN 1 ELSE 2 END AS likeness
             FROM chunks JOIN messages ON messages.key = chunks.message
             WHERE messages.kind = 'answer' AND (chunks.message_id = ?1 OR chunks.nonce = ?2 OR ?2 IS NULL
                AND chunks.state = 'sending' AND trim(chunks.text, ' ' || char(9, 10, 13)) = ?3)
             ORDER BY likeness, messages.rowid, chunks.chunk LIMIT 1",
            (message_id, nonce, text.trim()),
            |row| {
                let question = question_of(&row.get::<_, String>(0)?);
                let (chunk, text, chunks) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(question.map(|question| PostedChunk { question, chunk, text, chunks }))
            },
        )?;
        Ok(found.flatten())
    }

    /// Whether a message of ours is a question to the person.
    pub fn is_approval(&self, message_id: &str, nonce: Option<&str>) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM chunks JOIN messages ON messages.key = chunks.message
                   WHERE messages.kind = 'approval' AND (chunks.message_id = ?1 OR chunks.nonce = ?2))";
        self.db.value(sql, (message_id, nonce))
    }

    /// The key under which the question with this line was fixed, whichever message asked it.
    pub fn approval_key_of(&self, id: &str, digest: &str) -> Result<Option<String>> {
        let sql = "SELECT key FROM messages WHERE kind = 'approval' AND key GLOB 'approval:*:' || ?1 || ':' || ?2 || ':*'
                   ORDER BY rowid LIMIT 1";
        self.db.row(sql, (id, digest), |row| row.get(0))
    }

    /// Deletes the oldest of many answers and routine texts that were sent completely.
    pub fn prune_answers(&self) -> Result<()> {
        // Their chunks go with them.
        let old = "DELETE FROM messages WHERE kind IN ('answer', 'approval', 'routine')
                   AND rowid < (SELECT max(rowid) FROM messages) - ?1
                   AND (kind = 'approval' OR
                        NOT EXISTS (SELECT 1 FROM chunks WHERE message = messages.key AND state <> 'sent'))";
        self.db.execute(old, [KEEP]).map(drop)
    }
}

/// 5 s, doubled with each attempt, up to 10 minutes.
fn backoff(attempts: u32) -> SignedDuration {
    BACKOFF_FIRST.saturating_mul(1 << attempts.min(10)).min(BACKOFF_MOST)
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
