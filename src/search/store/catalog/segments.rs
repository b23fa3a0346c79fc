//! Stores the segments, and the numbers of their deleted documents.
//!
//! Rows of segments come in and go out; numbers of documents are those of tantivy's segments.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::search::IndexError;

/// A segment of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRow {
    /// Its number.
    pub id: i64,
    /// tantivy's name for it.
    pub uuid: String,
    /// Documents in it, dead ones included.
    pub docs: u32,
    /// The seals of its files ([`crate::search::store::seal::of_files`]).
    pub seals: String,
}

/// The segments, oldest first.
pub fn segments(conn: &Connection) -> Result<Vec<SegmentRow>, IndexError> {
    let mut find = conn.prepare_cached("SELECT id, uuid, docs, seals FROM segments ORDER BY id")?;
    let rows = find.query_map([], |row| {
        Ok(SegmentRow { id: row.get(0)?, uuid: row.get(1)?, docs: row.get(2)?, seals: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The dead stretches by segment: `(start, count)`.
pub fn dead(conn: &Connection) -> Result<HashMap<i64, Vec<(u32, u32)>>, IndexError> {
    let mut find = conn.prepare_cached("SELECT segment, start, count FROM dead")?;
    let mut rows = find.query([])?;
    let mut dead: HashMap<i64, Vec<(u32, u32)>> = HashMap::new();
    while let Some(row) = rows.next()? {
        dead.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
    }
    Ok(dead)
}

/// Notes that a stretch of documents is dead.
pub fn put_dead(conn: &Connection, segment: i64, start: u32, count: u32) -> Result<(), IndexError> {
    conn.prepare_cached("INSERT INTO dead VALUES (?1, ?2, ?3)")?.execute(params![segment, start, count])?;
    Ok(())
}

/// Inserts a segment.
pub fn put_segment(conn: &Connection, segment: &SegmentRow) -> Result<(), IndexError> {
    conn.prepare_cached("INSERT INTO segments VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        segment.id,
        segment.uuid,
        segment.docs,
        segment.seals
    ])?;
    Ok(())
}

/// Forgets a segment.
pub fn remove_segment(conn: &Connection, id: i64) -> Result<(), IndexError> {
    conn.prepare_cached("DELETE FROM dead WHERE segment = ?1")?.execute([id])?;
    conn.prepare_cached("DELETE FROM segments WHERE id = ?1")?.execute([id])?;
    Ok(())
}
