//! Reads and writes the `vectors` table of `index.sqlite`: one row for each different text and model.
//!
//! A row's key is the model and the content hash of the text, so a moved note is not embedded again. The row holds the
//! fields that the agent specification names (embedding, path, line, timestamp, role, context id, pinned) and the state
//! of the embedding: `pending`, `ok` or `failed`. If a text occurs in several places the row points to the first. The
//! embedding is int8 with one scale in front (little-endian f32).
//!
//! The table can be computed again from the notes.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use crate::embed::retry::Backoff;
use crate::search::store::{Hash, to_bytes};

/// The position of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer<'a> {
    /// Its content hash.
    pub hash: Hash,
    /// The note.
    pub path: &'a str,
    /// First line.
    pub line: u32,
    /// Seconds since 1970.
    pub timestamp: Option<i64>,
    /// `user` or `agent`.
    pub role: Option<&'a str>,
    /// The conversation.
    pub context_id: Option<&'a str>,
}

/// The numbers of a model's rows by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Not embedded yet.
    pub pending: u64,
    /// With an embedding.
    pub ok: u64,
    /// Given up for now.
    pub failed: u64,
}

/// Makes sure that each pointer has a row of `model`; new ones are `pending`, known ones keep their state
/// and point to where the text stands now.
pub fn note(conn: &Connection, model: &str, pointers: &[Pointer<'_>]) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO vectors (model, hash, status, path, line, timestamp, role, context_id)
         VALUES (?1, ?2, 'pending', ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (model, hash) DO UPDATE SET path = ?3, line = ?4, timestamp = ?5, role = ?6,
         context_id = ?7 WHERE path != ?3 OR line != ?4",
    )?;
    for p in pointers {
        insert.execute(params![model, p.hash, p.path, p.line, p.timestamp, p.role, p.context_id])?;
    }
    Ok(())
}

/// Removes the rows of `model` whose text is in no note any more.
pub fn forget(conn: &Connection, model: &str, known: impl Fn(&Hash) -> bool) -> rusqlite::Result<usize> {
    let mut gone = Vec::new();
    {
        let mut rows = conn.prepare_cached("SELECT hash FROM vectors WHERE model = ?1")?;
        let mut rows = rows.query([model])?;
        while let Some(row) = rows.next()? {
            if let Ok(hash) = row.get::<_, Hash>(0)
                && !known(&hash)
            {
                gone.push(hash);
            }
        }
    }
    let mut delete = conn.prepare_cached("DELETE FROM vectors WHERE model = ?1 AND hash = ?2")?;
    for hash in &gone {
        delete.execute(params![model, hash])?;
    }
    Ok(gone.len())
}

/// Up to `most` texts to be embedded at `now` (seconds): never tried, or failed long enough ago. Texts of the notes
/// that changed last come first.
pub fn wanting(
    conn: &Connection,
    model: &str,
    now: i64,
    most: usize,
) -> rusqlite::Result<Vec<(Hash, String, u32)>> {
    let mut select = conn.prepare_cached(
        "SELECT vectors.hash, vectors.path, line FROM vectors LEFT JOIN files ON files.path = vectors.path
         WHERE model = ?1 AND status != 'ok' AND retry_at <= ?2
         ORDER BY files.mtime DESC, vectors.path, line LIMIT ?3",
    )?;
    let rows = select.query_map(params![model, now, i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    rows.collect()
}

/// The time in seconds at which the first failed text is to be tried again; `None` if there is none.
pub fn first_retry(conn: &Connection, model: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached(
        "SELECT min(retry_at) FROM vectors WHERE model = ?1 AND status = 'failed' AND retry_at < ?2",
    )?
    .query_row(params![model, i64::MAX], |row| row.get(0))
}

/// Stores an embedding.
pub fn store(conn: &Connection, model: &str, hash: &Hash, vector: &[f32]) -> rusqlite::Result<()> {
    let Some(bytes) = to_bytes(vector) else {
        return fail(conn, model, hash, "a vector without a direction", i64::MAX);
    };
    conn.prepare_cached(
        "UPDATE vectors SET status = 'ok', error = NULL, dimension = ?3, embedding = ?4 WHERE model = ?1 AND hash = ?2",
    )?
    .execute(params![model, hash, i64::try_from(vector.len()).unwrap_or(0), bytes])?;
    Ok(())
}

/// Marks a text as failed; it is tried again after a growing while, from `now` (seconds).
pub fn fail(conn: &Connection, model: &str, hash: &Hash, error: &str, now: i64) -> rusqlite::Result<()> {
    let attempts: u32 = conn
        .prepare_cached("SELECT attempts FROM vectors WHERE model = ?1 AND hash = ?2")?
        .query_row(params![model, hash], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    conn.prepare_cached(
        "UPDATE vectors SET status = 'failed', attempts = ?3, retry_at = ?4, error = ?5 WHERE model = ?1 AND hash = ?2",
    )?
    .execute(params![model, hash, attempts + 1, now.saturating_add(Backoff::next_try(attempts)), error])?;
    Ok(())
}

/// The dimension of a model's stored embeddings.
pub fn dimension(conn: &Connection, model: &str) -> rusqlite::Result<Option<usize>> {
    conn.prepare_cached("SELECT dimension FROM vectors WHERE model = ?1 AND status = 'ok' LIMIT 1")?
        .query_row([model], |row| row.get::<_, i64>(0))
        .optional()
        .map(|found| found.and_then(|found| usize::try_from(found).ok()))
}

/// The numbers of a model's rows by state.
pub fn counts(conn: &Connection, model: &str) -> rusqlite::Result<Counts> {
    let of = |status: &str| format!("count(*) FILTER (WHERE status = '{status}')");
    let all = ["pending", "ok", "failed"].map(of).join(", ");
    conn.prepare_cached(&format!("SELECT {all} FROM vectors WHERE model = ?1"))?
        .query_row([model], |row| Ok(Counts { pending: row.get(0)?, ok: row.get(1)?, failed: row.get(2)? }))
}

/// The dimension of a model's embeddings, and each as [`to_bytes`] made it, by the hash of its text.
pub fn load(conn: &Connection, model: &str) -> rusqlite::Result<(usize, HashMap<Hash, Vec<u8>>)> {
    let dimension = dimension(conn, model)?.unwrap_or(0);
    let mut select = conn.prepare_cached(
        "SELECT hash, embedding FROM vectors WHERE model = ?1 AND status = 'ok' AND dimension = ?2",
    )?;
    let of = params![model, i64::try_from(dimension).unwrap_or(0)];
    let rows = select
        .query_map(of, |row| Ok((row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default().to_vec())))?;
    Ok((dimension, rows.collect::<rusqlite::Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::store::vector_code::hash;

    fn pointer(text: &str, path: &'static str, line: u32) -> Pointer<'static> {
        Pointer {
            hash: hash(text),
            path,
            line,
            timestamp: Some(5),
            role: Some("user"),
            context_id: Some("1"),
        }
    }

    /// As much of the index's list of files as is looked at here.
    const FILES: &str = "CREATE TABLE files (path TEXT NOT NULL UNIQUE, mtime INTEGER NOT NULL)";

    #[test]
    fn notes_that_changed_last_are_wanted_first() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(crate::search::store::catalog::VECTORS).unwrap();
        conn.execute_batch(FILES).unwrap();
        conn.execute_batch("INSERT INTO files VALUES ('old.md', 5), ('new.md', 9)").unwrap();
        let places = [("a", "old.md", 1), ("b", "new.md", 7), ("c", "gone.md", 1), ("d", "new.md", 2)];
        note(&conn, "m", &places.map(|(text, path, line)| pointer(text, path, line))).unwrap();
        let wanted = |most| -> Vec<(String, u32)> {
            let found = wanting(&conn, "m", 0, most).unwrap();
            found.into_iter().map(|(_, path, line)| (path, line)).collect()
        };
        let all = [("new.md", 2), ("new.md", 7), ("old.md", 1), ("gone.md", 1)];
        assert_eq!(wanted(9), all.map(|(path, line)| (path.to_owned(), line)));
        assert_eq!(wanted(1).len(), 1);
    }

    #[test]
    fn a_row_goes_from_pending_to_ok_and_survives_a_move() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(crate::search::store::catalog::VECTORS).unwrap();
        conn.execute_batch(FILES).unwrap();
        let (a, b) = (pointer("a", "x.md", 1), pointer("b", "x.md", 5));
        note(&conn, "m", &[a.clone(), b.clone()]).unwrap();
        assert_eq!(counts(&conn, "m").unwrap(), Counts { pending: 2, ok: 0, failed: 0 });
        store(&conn, "m", &a.hash, &[0.6, 0.8]).unwrap();
        fail(&conn, "m", &b.hash, "down", 100).unwrap();
        assert_eq!(counts(&conn, "m").unwrap(), Counts { pending: 0, ok: 1, failed: 1 });
        assert_eq!(wanting(&conn, "m", 130, 9).unwrap(), []);
        assert_eq!(wanting(&conn, "m", 160, 9).unwrap(), [(b.hash, "x.md".to_owned(), 5)]);
        note(&conn, "m", &[pointer("a", "moved.md", 3)]).unwrap();
        let (dimension, found) = load(&conn, "m").unwrap();
        assert_eq!((dimension, found.len(), found.contains_key(&a.hash)), (2, 1, true));
        let place: (String, u32, String) = conn
            .query_row("SELECT path, line, status FROM vectors WHERE hash = ?1", [a.hash], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(place, ("moved.md".to_owned(), 3, "ok".to_owned()));
        assert_eq!(forget(&conn, "m", |known| *known == a.hash).unwrap(), 1);
        assert_eq!(counts(&conn, "other").unwrap(), Counts::default());
    }
}
