//! Where the blocks of files stand in the segments, and which of them died.
//!
//! Rows of runs and segments enter and leave; numbers of documents are those of tantivy's segments.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use crate::search::IndexError;

/// A stretch of a file's blocks in one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its number; survives merges of segments.
    pub id: i64,
    /// The file.
    pub file: i64,
    /// The segment, and the first document there.
    pub segment: i64,
    /// The first document's number.
    pub start: u32,
    /// How many documents.
    pub count: u32,
    /// Terms in their `text` fields.
    pub text_terms: u64,
    /// Terms in their sections' `head` fields.
    pub head_terms: u64,
    /// Sections with terms in `head`.
    pub sections: u64,
    /// [`crate::search::store::segment::pack`]ed blocks.
    pub blocks: Vec<u8>,
}

/// A segment of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRow {
    /// Its number.
    pub id: i64,
    /// tantivy's name for it.
    pub uuid: String,
    /// Documents in it, dead ones included.
    pub docs: u32,
    /// What its files were when they were written ([`crate::search::store::seal::of_files`]).
    pub seals: String,
}

const RUN: &str = "id, file, segment, start, count, text_terms, head_terms, sections, blocks";

fn run_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        file: row.get(1)?,
        segment: row.get(2)?,
        start: row.get(3)?,
        count: row.get(4)?,
        text_terms: row.get::<_, i64>(5)?.cast_unsigned(),
        head_terms: row.get::<_, i64>(6)?.cast_unsigned(),
        sections: row.get::<_, i64>(7)?.cast_unsigned(),
        blocks: row.get(8)?,
    })
}

/// The number of blocks of each file.
pub fn block_counts(conn: &Connection) -> Result<HashMap<i64, u32>, IndexError> {
    let mut find = conn.prepare_cached("SELECT file, sum(count) FROM runs GROUP BY file")?;
    let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The runs of a file, oldest first.
pub fn runs_of(conn: &Connection, file: i64) -> Result<Vec<RunRow>, IndexError> {
    let mut find = conn.prepare_cached(&format!("SELECT {RUN} FROM runs WHERE file = ?1 ORDER BY id"))?;
    let rows = find.query_map([file], run_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The run that holds document `doc` of segment `segment`.
pub fn run_at(conn: &Connection, segment: i64, doc: u32) -> Result<RunRow, IndexError> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT {RUN} FROM runs WHERE segment = ?1 AND start <= ?2 ORDER BY start DESC LIMIT 1"
    ))?;
    let run = find.query_row(params![segment, doc], run_row).optional()?;
    run.filter(|run| doc < run.start + run.count)
        .ok_or_else(|| IndexError::Torn(format!("document {doc} of segment {segment} has no run")))
}

/// Where the runs of `segment` stand, by start: `(run, file, start, count)`.
pub fn places(conn: &Connection, segment: i64) -> Result<Vec<(i64, i64, u32, u32)>, IndexError> {
    let mut find =
        conn.prepare_cached("SELECT id, file, start, count FROM runs WHERE segment = ?1 ORDER BY start")?;
    let rows = find.query_map([segment], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
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

/// Inserts a run; its number.
pub fn put_run(conn: &Connection, run: &RunRow) -> Result<i64, IndexError> {
    let mut put = conn.prepare_cached(
        "INSERT INTO runs (file, segment, start, count, text_terms, head_terms, sections, blocks) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    put.execute(params![
        run.file,
        run.segment,
        run.start,
        run.count,
        run.text_terms.cast_signed(),
        run.head_terms.cast_signed(),
        run.sections.cast_signed(),
        run.blocks
    ])?;
    Ok(conn.last_insert_rowid())
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
