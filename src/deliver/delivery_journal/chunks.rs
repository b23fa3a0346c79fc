//! Records the progress of a message and of the deliveries that it carries, from the claim until the message is sent or
//! refused. A claim reserves the deliveries, so that no other process sends them, and cuts the message into chunks that
//! fit its notifier. The chunks are sent one by one. After the last chunk, all deliveries of the message are `sent`.
//!
//! A step changes only rows in the state that it leaves. So a process that is late, because it was suspended or the lock
//! of its pass was deleted, takes back nothing that another process recorded meanwhile. A delivery that a message
//! carries is `due` or `sending`, and only steps of that message change it.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::keys::parts;
use super::message::{ChunkState, JournalMessage, NewMessage, read_messages};
use super::recipients::{self, Recipient};
use super::{Journal, Result};
use crate::deliver::notifier::{self, MessageKind, MessageScope, NotifiedItem};
use crate::deliver::split;
use crate::sqlite::{each, json};

impl Journal {
    /// Ends a message, if the notifier with this name got some of its items in another message: for a copy, in the
    /// counting message after another notifier refused it; for a counting message, in copies that it got while another
    /// notifier counted. The other items' deliveries are free again. Returns the key and fact of each item that was
    /// sent.
    pub fn end_already_sent(
        &self,
        message: &JournalMessage,
        name: &str,
    ) -> Result<Vec<(String, NotifiedItem)>> {
        let (key, is_copy) = (&message.key, message.to.is_copy());
        let told = if is_copy {
            "copies.message = ?1 AND state IN ('sent', 'done') AND (place = ?2 OR place GLOB ?2 || ' *')"
        } else {
            "deliveries.message = ?1 AND outlet = ?2 AND copies.message IS NULL AND copies.delivered IS NOT NULL"
        };
        let sql =
            format!("SELECT key, fact FROM deliveries JOIN copies USING (key) WHERE {told} ORDER BY number");
        let told: Vec<(String, NotifiedItem)> =
            self.db.rows(&sql, [key, name], |row| Ok((row.get(0)?, json(row, 1)?)))?;
        let may_split = !is_copy && message.chunks.iter().all(|chunk| chunk.state == ChunkState::Due);
        if told.is_empty() || told.len() < message.facts.len() && !may_split {
            return Ok(Vec::new());
        }
        self.db.write(|tx| {
            if !is_copy {
                let sql = "UPDATE deliveries SET state = 'sent', message = NULL, retry_ms = NULL, error = NULL, place = ?2,
                           delivered = copies.delivered FROM copies
                           WHERE copies.key = deliveries.key AND outlet = ?2 AND copies.message IS NULL
                           AND copies.delivered IS NOT NULL AND deliveries.message = ?1";
                tx.execute(sql, [key, name])?;
            }
            dissolve(tx, key)
        })?;
        Ok(told)
    }

    /// Claims messages with their deliveries in one transaction, each cut into chunks of at most `limit` units for its
    /// notifier, and returns the claimed ones, in order. A message is left out if one of its deliveries isn't free
    /// (another process was faster, or it is sent).
    pub fn claim(
        &self,
        messages: &[NewMessage],
        limit: impl Fn(&Recipient) -> usize,
    ) -> Result<Vec<JournalMessage>> {
        self.db.write(|tx| {
            let mut claimed = Vec::new();
            for message in messages {
                tx.execute_batch("SAVEPOINT claim")?;
                if claim_one(tx, message, limit(&message.to))? {
                    claimed.extend(read_messages(tx, "WHERE key = ?1", &[&message.key])?);
                } else {
                    tx.execute_batch("ROLLBACK TO claim")?;
                }
                tx.execute_batch("RELEASE claim")?;
            }
            Ok(claimed)
        })
    }

    /// The messages that are on their way, oldest first; without answers, questions and routine texts, whose callers
    /// send them.
    pub fn messages(&self) -> Result<Vec<JournalMessage>> {
        self.db.read(|tx| read_messages(tx, "WHERE kind NOT IN ('answer', 'approval', 'routine')", &[]))
    }

    /// Releases the deliveries of messages that were surely not sent in any part, so that the next pass reads the file
    /// again. Confirmations stay.
    pub fn release_unsent(&self) -> Result<()> {
        let unsent =
            "SELECT key FROM messages WHERE EXISTS (SELECT 1 FROM deliveries WHERE message = messages.key)
                      AND NOT EXISTS (SELECT 1 FROM chunks WHERE message = messages.key AND state <> 'due')";
        if !self.db.value::<bool>(&format!("SELECT EXISTS ({unsent})"), [])? {
            return Ok(());
        }
        self.db.write(|tx| {
            let keys: Vec<String> =
                tx.prepare(unsent)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            keys.iter().try_for_each(|key| dissolve(tx, key))
        })
    }

    /// Records, before the attempt, that a chunk is being sent. Returns false if another process has sent the chunk or
    /// ended the message. Refused where the disk may have no room left for the outcome, since the next pass would then
    /// send it again.
    pub fn sending(&self, key: &str, chunk: usize, now: Timestamp) -> Result<bool> {
        let now = now.as_millisecond();
        self.db.needs_room()?;
        self.db.write(|tx| {
            let begun = "UPDATE chunks SET state = 'sending', first_ms = min(coalesce(first_ms, ?3), ?3)
                         WHERE message = ?1 AND chunk = ?2 AND state <> 'sent'";
            if tx.execute(begun, params![key, chunk, now])? == 0 {
                return Ok(false);
            }
            for sql in [
                "UPDATE messages SET attempted_ms = ?2 WHERE key = ?1",
                "UPDATE deliveries SET state = 'sending', attempted_ms = ?2 WHERE message = ?1",
            ] {
                tx.execute(sql, params![key, now])?;
            }
            Ok(true)
        })
    }

    /// Records that a chunk arrived at the place of a route, also if another process was refused meanwhile. After the
    /// last chunk the message is deleted and its deliveries are `sent`: returns whether that is so.
    pub fn sent(
        &self,
        key: &str,
        (route, chunk): (u8, usize),
        message_id: Option<&str>,
        place: &str,
    ) -> Result<bool> {
        self.db.write(|tx| {
            let sent = "UPDATE chunks SET state = 'sent', message_id = ?4
                        WHERE message = ?1 AND chunk = ?3 AND state <> 'sent'
                        AND EXISTS (SELECT 1 FROM messages WHERE key = ?1 AND route = ?2)";
            tx.execute(sent, params![key, route, chunk, message_id])?;
            let rest = "SELECT EXISTS (SELECT 1 FROM chunks WHERE message = ?1 AND state <> 'sent')";
            let has_more: bool = tx.query_row(rest, [key], |row| row.get(0))?;
            if !has_more {
                let first =
                    "SELECT (SELECT coalesce(message_id, nonce) FROM chunks WHERE message = ?1 ORDER BY chunk LIMIT 1)";
                let id: Option<String> = tx.query_row(first, [key], |row| row.get(0))?;
                let copied = "UPDATE copies SET message = NULL, delivered = ?2 WHERE message = ?1";
                tx.execute(copied, params![key, id])?;
                let told = "UPDATE deliveries SET state = 'sent', message = NULL, retry_ms = NULL, error = NULL,
                            place = ?2, delivered = ?3 WHERE message = ?1";
                tx.execute(told, params![key, place, id])?;
                // An answer stays until its log holds it, and longer, so that its messages are known as counted; so
                // does a routine's.
                let kept = "kind IN ('answer', 'approval', 'routine')";
                tx.execute(&format!("DELETE FROM messages WHERE key = ?1 AND NOT {kept}"), [key])?;
            }
            Ok(!has_more)
        })
    }

    /// Records that a chunk surely did not arrive at a place, and the time of the next attempt. If no other chunk of
    /// the message may have arrived, its deliveries are free again, and wait for that place.
    pub fn not_sent(
        &self,
        key: &str,
        chunk: usize,
        retry: Timestamp,
        reason: &str,
        place: &str,
    ) -> Result<()> {
        self.db.write(|tx| {
            let sql = "UPDATE chunks SET state = 'due', first_ms = NULL
                       WHERE message = ?1 AND chunk = ?2 AND state = 'sending'";
            if tx.execute(sql, params![key, chunk])? == 0 {
                return Ok(());
            }
            tx.execute("UPDATE deliveries SET place = ?2 WHERE message = ?1", [key, place])?;
            put_off(tx, key, retry, reason)?;
            let is_unsent = "SELECT EXISTS (SELECT 1 FROM deliveries WHERE message = ?1)
                             AND NOT EXISTS (SELECT 1 FROM chunks WHERE message = ?1 AND state <> 'due')";
            if tx.query_row(is_unsent, [key], |row| row.get(0))? {
                dissolve(tx, key)?;
            }
            Ok(())
        })
    }

    /// Ends the waits for a place that takes messages again: of free deliveries, and of messages to `to` in `scope`.
    /// Returns whether anything waited.
    pub fn release(&self, place: &str, to: &Recipient, scope: Option<MessageScope>) -> Result<bool> {
        self.db.write(|tx| {
            let messages = tx.execute(
                "UPDATE messages SET retry_ms = NULL
                 WHERE retry_ms IS NOT NULL AND outlet IS ?1 AND copy = ?2 AND scope IS ?3",
                params![to.name(), to.is_copy(), scope.map(|scope| scope.to_string())],
            )?;
            let sql = "UPDATE deliveries SET retry_ms = NULL
                       WHERE retry_ms IS NOT NULL AND state = 'due' AND message IS NULL AND place = ?1";
            let deliveries = tx.execute(sql, [place])?;
            Ok(messages + deliveries > 0)
        })
    }

    /// Records that the arrival of the chunk that is being sent is unknown, and the time of the next lookup.
    pub fn unknown(&self, key: &str, retry: Timestamp, reason: &str) -> Result<()> {
        self.db.write(|tx| put_off(tx, key, retry, reason))
    }

    /// Moves a refused message on to the next place, whose chunks hold at most `limit` units. Returns the changed
    /// message; none if another process has moved or ended it.
    pub fn reroute(&self, key: &str, route: u8, limit: usize) -> Result<Option<JournalMessage>> {
        self.db.write(|tx| {
            let before = read_messages(tx, "WHERE key = ?1 AND route < ?2", &[&key, &route])?.pop();
            let Some(message) = before else { return Ok(None) };
            let sql = "UPDATE messages SET route = ?2, retry_ms = NULL WHERE key = ?1";
            tx.execute(sql, params![key, route])?;
            cut_anew(tx, &JournalMessage { route, ..message }, limit)
        })
    }

    /// Gives a message of which surely nothing was sent its present facts and body. Returns the changed message; none
    /// if another process has begun or ended it.
    pub fn reword(&self, message: &JournalMessage, limit: usize) -> Result<Option<JournalMessage>> {
        self.db.write(|tx| {
            let sql = "UPDATE messages SET facts = ?2, body = ?3 WHERE key = ?1
                       AND NOT EXISTS (SELECT 1 FROM chunks WHERE message = ?1 AND state <> 'due')";
            let is_unsent = tx.execute(sql, params![message.key, to_json(&message.facts), message.body])? > 0;
            if is_unsent { cut_anew(tx, message, limit) } else { Ok(None) }
        })
    }

    /// Gives a message up: every place refused it with these settings.
    pub fn failed(&self, key: &str, reason: &str, settings: &str) -> Result<()> {
        self.db.write(|tx| {
            let sql = "UPDATE deliveries SET state = 'failed', message = NULL, error = ?2, settings = ?3 WHERE message = ?1";
            tx.execute(sql, params![key, reason, settings])?;
            delete_message(tx, key)
        })
    }

    /// Deletes a message without deliveries, such as a confirmation that every place refuses.
    pub fn drop_message(&self, key: &str) -> Result<()> {
        self.db.write(|tx| dissolve(tx, key))
    }
}

pub(super) fn claim_one(tx: &Transaction<'_>, message: &NewMessage, limit: usize) -> rusqlite::Result<bool> {
    let facts: Vec<&NotifiedItem> = message.deliveries.iter().map(|(_, _, fact)| fact).collect();
    let (scope, to) = (message.scope.map(|scope| scope.to_string()), &message.to);
    let (id, kind, body) = (&message.key, message.kind.as_str(), &message.body);
    let sql = "INSERT INTO messages (key, kind, scope, facts, body, outlet, copy) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT DO NOTHING";
    if tx.execute(sql, params![id, kind, scope, to_json(&facts), body, to.name(), to.is_copy()])? == 0 {
        return Ok(false);
    }
    insert_chunks(tx, message.kind, id, 0, body, limit)?;
    if let Some(since) = message.lookup_since {
        let sql = "UPDATE chunks SET state = 'sending', first_ms = ?2 WHERE message = ?1";
        tx.execute(sql, params![id, since.as_millisecond()])?;
    }
    // Also for a copy: another machine may have sent the counting message.
    let sql =
        "INSERT INTO deliveries (key, subject, local, state, line, fact) VALUES (?1, ?2, ?3, 'due', ?4, ?5)
               ON CONFLICT DO NOTHING";
    let rows = message.deliveries.iter().map(|(key, line, fact)| {
        let (subject, local) = parts(key);
        (key, subject, local, line.bytes(), to_json(fact))
    });
    each(tx, sql, rows)?;
    if let Recipient::Copy(name) = to {
        let keys = message.deliveries.iter().map(|(key, ..)| key.as_str());
        return recipients::claim(tx, id, name, keys);
    }
    let sql = "UPDATE deliveries SET message = ?2, state = 'due', line = ?3, fact = ?4
               WHERE key = ?1 AND message IS NULL AND state IN ('due', 'failed')";
    let mut take = tx.prepare_cached(sql)?;
    for (key, line, fact) in &message.deliveries {
        if take.execute(params![key, id, line.bytes(), to_json(fact)])? == 0 {
            return Ok(false);
        }
    }
    // The wait between attempts goes on growing where an earlier message left off.
    let attempts = "UPDATE messages SET attempts =
                    coalesce((SELECT max(attempts) FROM deliveries WHERE message = ?1), 0) WHERE key = ?1";
    tx.execute(attempts, [id])?;
    if message.lookup_since.is_some() {
        tx.execute("UPDATE deliveries SET state = 'sending' WHERE message = ?1", [id])?;
    }
    Ok(true)
}

/// Cuts a message into chunks again, and reads it.
fn cut_anew(
    tx: &Transaction<'_>,
    message: &JournalMessage,
    limit: usize,
) -> rusqlite::Result<Option<JournalMessage>> {
    tx.execute("DELETE FROM chunks WHERE message = ?1", [&message.key])?;
    insert_chunks(tx, message.kind, &message.key, message.route, &message.body, limit)?;
    Ok(read_messages(tx, "WHERE key = ?1", &[&message.key])?.pop())
}

fn insert_chunks(
    tx: &Transaction<'_>,
    kind: MessageKind,
    key: &str,
    route: u8,
    body: &str,
    limit: usize,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO chunks (message, chunk, nonce, text, state) VALUES (?1, ?2, ?3, ?4, 'due')";
    let chunks = split::split(body, limit).into_iter().enumerate();
    each(tx, sql, chunks.map(|(chunk, text)| (key, chunk, notifier::nonce(kind, key, route, chunk), text)))
}

fn put_off(tx: &Transaction<'_>, key: &str, retry: Timestamp, reason: &str) -> rusqlite::Result<()> {
    let retry = retry.as_millisecond();
    let sql = "UPDATE messages SET attempts = attempts + 1, retry_ms = ?2, error = ?3 WHERE key = ?1";
    tx.execute(sql, params![key, retry, reason])?;
    let sql = "UPDATE deliveries SET attempts = attempts + 1, retry_ms = ?2, error = ?3 WHERE message = ?1";
    tx.execute(sql, params![key, retry, reason])?;
    Ok(())
}

fn dissolve(tx: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    tx.execute("UPDATE deliveries SET state = 'due', message = NULL WHERE message = ?1", [key])?;
    delete_message(tx, key)
}

/// Deletes a message with its chunks.
fn delete_message(tx: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM messages WHERE key = ?1", [key]).map(drop)
}

pub(super) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("facts are plain values: {error}"))
}
