//! Records answers: text and nonces are on disk before the first byte is sent, and stay until the answer's log holds
//! them.
//!
//! An answer is a message without deliveries: no note has a line for it. The channel that waits for it sends it, by the
//! same steps as the scheduler's pass.

use super::keys::question_of;
use super::message::{self, ChunkState, JournalMessage, NewMessage};
use super::{Journal, Result};
use crate::deliver::notifier::{MessageKind, MessageScope};

/// So many answers are kept, so that a message that says the same is never taken for a later answer.
const KEEP: i64 = 2_000;

/// A chunk of an answer that arrived, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedChunk {
    /// The message that was answered.
    pub question: u64,
    /// Which chunk, from 0.
    pub chunk: usize,
    /// Its text.
    pub text: String,
    /// How many chunks the answer has.
    pub chunks: usize,
}

impl Journal {
    /// Fixes an answer, or a question to the person: text, chunks of at most `limit` units and their nonces. One that is fixed already stays
    /// as it is. Returns it as it stands.
    pub fn fix_answer(
        &self,
        key: &str,
        kind: MessageKind,
        scope: Option<MessageScope>,
        text: &str,
        limit: usize,
    ) -> Result<Option<JournalMessage>> {
        let message = NewMessage::plain(key.to_owned(), kind, scope, text.to_owned());
        self.claim(&[message], |_| limit)?;
        self.answer(key)
    }

    /// An answer or a question with its chunks, if it was fixed.
    pub fn answer(&self, key: &str) -> Result<Option<JournalMessage>> {
        let filter = "WHERE key = ?1 AND kind IN ('answer', 'approval')";
        Ok(self.db.read(|tx| message::read_messages(tx, filter, &[&key]))?.pop())
    }

    /// The chunk of an answer that a message of ours is: by its id, its nonce, or its text among the answers
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
        self.db.value(
            "SELECT EXISTS (SELECT 1 FROM chunks JOIN messages ON messages.key = chunks.message
             WHERE messages.kind = 'approval' AND (chunks.message_id = ?1 OR chunks.nonce = ?2))",
            (message_id, nonce),
        )
    }

    /// The key under which the question with this line was fixed, for whichever message.
    pub fn approval_key_of(&self, id: &str, digest: &str) -> Result<Option<String>> {
        self.db.row(
            "SELECT key FROM messages WHERE kind = 'approval' AND key GLOB 'approval:*:' || ?1 || ':' || ?2 || ':*'
             ORDER BY rowid LIMIT 1",
            (id, digest),
            |row| row.get(0),
        )
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

impl JournalMessage {
    /// Whether every chunk arrived.
    pub fn is_sent(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.state == ChunkState::Sent)
    }
}
