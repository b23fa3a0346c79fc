//! `index.sqlite`: which files are known, where their blocks stand in the segments, and the numbers
//! that scores depend on.
//!
//! One transaction here is the commit of both stores: tantivy's segment files never change once
//! written, and a segment is part of the index exactly if it is in `segments`. What a crash leaves
//! behind is files that no row names; they are swept.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::search::IndexError;

/// The tables. `runs` are stretches of a file's blocks that stand together in one segment; `dead` are
/// stretches of documents whose file changed since; `gone` counts, for each term, the documents among
/// them in a segment, so that document frequencies are those of the living. `changes` says which files each of the
/// last commits wrote or forgot.
const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  ctime INTEGER NOT NULL, inode INTEGER NOT NULL, hash BLOB NOT NULL, head TEXT NOT NULL, tags TEXT NOT NULL, time INTEGER,
  resume TEXT, skipped TEXT, findings TEXT);
CREATE TABLE segments (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, docs INTEGER NOT NULL, seals TEXT NOT NULL);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, segment INTEGER NOT NULL, start INTEGER NOT NULL,
  count INTEGER NOT NULL, text_terms INTEGER NOT NULL, head_terms INTEGER NOT NULL, sections INTEGER NOT NULL,
  blocks BLOB NOT NULL);
CREATE INDEX runs_file ON runs (file);
CREATE UNIQUE INDEX runs_place ON runs (segment, start);
CREATE TABLE dead (segment INTEGER, start INTEGER, count INTEGER, PRIMARY KEY (segment, start)) WITHOUT ROWID;
CREATE TABLE gone (term BLOB, segment INTEGER, docs INTEGER NOT NULL, PRIMARY KEY (term, segment)) WITHOUT ROWID;
CREATE TABLE changes (generation INTEGER, path TEXT, PRIMARY KEY (generation, path)) WITHOUT ROWID;
CREATE TABLE pins (file INTEGER NOT NULL, path TEXT NOT NULL, block_id TEXT NOT NULL);
";

/// How long a connection waits for another's lock.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
/// [`changed_since`] reaches back so many generations.
const REMEMBERED: u64 = 4096;

/// The vectors of blocks, one row for each model and different text (see `recall::vectors`).
pub const VECTORS: &str = "CREATE TABLE IF NOT EXISTS vectors (
  model TEXT NOT NULL, hash BLOB NOT NULL, status TEXT NOT NULL CHECK (status IN ('pending', 'ok', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER NOT NULL DEFAULT 0, error TEXT, dimension INTEGER,
  embedding BLOB, path TEXT NOT NULL, line INTEGER NOT NULL, timestamp INTEGER, role TEXT, context_id TEXT,
  pinned INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (model, hash))";

/// A known file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its number; another after a reindex.
    pub id: i64,
    /// Its path in the vault.
    pub path: String,
    /// Length in bytes when it was read.
    pub size: u64,
    /// Last change of its bytes, nanoseconds since 1970.
    pub mtime: i64,
    /// Last change of anything, nanoseconds since 1970; 0 where the index was too close to it to be sure.
    pub ctime: i64,
    /// Its number on the file system.
    pub inode: u64,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 32],
    /// Title and aliases, as indexed in the `head` field; empty for logs.
    pub head: String,
    /// The note's own tags, each followed by a space.
    pub tags: String,
    /// The note's date.
    pub time: Option<i64>,
    /// For a log: where a later reading goes on.
    pub resume: Option<String>,
    /// Why it isn't indexed.
    pub skipped: Option<String>,
    /// What could not be read as meant, a line each: `line<TAB>reason`.
    pub findings: Option<String>,
}

/// What the file system said of a file; see [`FileRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Length in bytes.
    pub size: u64,
    /// Last change of its bytes.
    pub mtime: i64,
    /// Last change of anything; 0 where it can't be trusted.
    pub ctime: i64,
    /// Its number on the file system.
    pub inode: u64,
}

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

/// The numbers of the whole index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Goes up with every commit.
    pub generation: u64,
    /// Living documents.
    pub docs: u64,
    /// Their terms in `text`.
    pub text_terms: u64,
    /// Their sections' terms in `head`.
    pub head_terms: u64,
    /// Living sections with terms in `head`.
    pub sections: u64,
    /// Known files, skipped ones included.
    pub files: u64,
    /// When it was last committed, seconds since 1970.
    pub committed: i64,
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

/// Opens the database at `path` for reading and writing, making it if `create`.
pub fn open(path: &Path, create: bool) -> Result<Connection, IndexError> {
    let mut flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let conn = Connection::open_with_flags(path, flags)?;
    prepare(&conn)?;
    Ok(conn)
}

/// Opens the database of a cache that can't be written.
pub fn open_immutable(path: &Path) -> Result<Connection, IndexError> {
    let text = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(format!("file:{text}?immutable=1"), flags)?)
}

/// A database in memory, for a vault that is searched without a cache.
pub fn in_memory() -> Result<Connection, IndexError> {
    Ok(Connection::open_in_memory()?)
}

fn prepare(conn: &Connection) -> Result<(), IndexError> {
    conn.busy_timeout(PATIENCE)?;
    // The cache is worth nothing: never wait for the disk.
    conn.execute_batch(
        "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 1000000;
         PRAGMA wal_autocheckpoint = 0;",
    )?;
    // The file changes at checkpoints alone, and those seal it ([`crate::search::store::seal`]).
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.set_prepared_statement_cache_capacity(48);
    Ok(())
}

/// Makes all tables anew; vectors stay.
pub fn reset(conn: &Connection, fingerprint: &str) -> Result<(), IndexError> {
    for table in ["meta", "files", "segments", "runs", "dead", "gone", "changes", "pins"] {
        conn.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    conn.execute_batch(TABLES)?;
    conn.execute_batch(VECTORS)?;
    set(conn, "schema", fingerprint)?;
    begin_epoch(conn)?;
    set_totals(conn, &Totals::default())
}

/// Tells the index from now on from any other, whose generations have the same numbers.
pub fn begin_epoch(conn: &Connection) -> Result<(), IndexError> {
    let mut epoch = [0; 8];
    let _ = getrandom::fill(&mut epoch);
    set(conn, "epoch", i64::from_le_bytes(epoch))
}

/// Sets a value of `meta`.
pub fn set(conn: &Connection, key: &str, value: impl rusqlite::ToSql) -> Result<(), IndexError> {
    conn.prepare_cached("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")?.execute(params![key, value])?;
    Ok(())
}

/// A value of `meta`.
pub fn get<T: rusqlite::types::FromSql>(conn: &Connection, key: &str) -> Result<Option<T>, IndexError> {
    Ok(conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Writes the numbers of the index.
pub fn set_totals(conn: &Connection, totals: &Totals) -> Result<(), IndexError> {
    let text = format!(
        "{} {} {} {} {} {} {}",
        totals.generation,
        totals.docs,
        totals.text_terms,
        totals.head_terms,
        totals.sections,
        totals.files,
        totals.committed
    );
    set(conn, "totals", text)
}

/// The numbers of the index.
pub fn totals(conn: &Connection) -> Result<Totals, IndexError> {
    let text: Option<String> = get(conn, "totals")?;
    let text = text.ok_or_else(|| IndexError::Torn("no totals".to_owned()))?;
    let numbers: Vec<i64> = text.split(' ').filter_map(|n| n.parse().ok()).collect();
    let [generation, docs, text_terms, head_terms, sections, files, committed] = numbers[..] else {
        return Err(IndexError::Torn("the totals can't be read".to_owned()));
    };
    let [generation, docs, text_terms, head_terms, sections, files] =
        [generation, docs, text_terms, head_terms, sections, files].map(i64::cast_unsigned);
    Ok(Totals { generation, docs, text_terms, head_terms, sections, files, committed })
}

const FILE: &str = "id, path, size, mtime, ctime, inode, hash, head, tags, time, resume, skipped, findings";
const RUN: &str = "id, file, segment, start, count, text_terms, head_terms, sections, blocks";

fn file_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRow> {
    Ok(FileRow {
        id: row.get(0)?,
        path: row.get(1)?,
        size: row.get::<_, i64>(2)?.cast_unsigned(),
        mtime: row.get(3)?,
        ctime: row.get(4)?,
        inode: row.get::<_, i64>(5)?.cast_unsigned(),
        hash: row.get(6)?,
        head: row.get(7)?,
        tags: row.get(8)?,
        time: row.get(9)?,
        resume: row.get(10)?,
        skipped: row.get(11)?,
        findings: row.get(12)?,
    })
}

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

/// The file at `path`.
pub fn file(conn: &Connection, path: &str) -> Result<Option<FileRow>, IndexError> {
    let mut find = conn.prepare_cached(&format!("SELECT {FILE} FROM files WHERE path = ?1"))?;
    Ok(find.query_row([path], file_row).optional()?)
}

/// Whether there is a file at `path`, or one below it.
pub fn knows(conn: &Connection, path: &str) -> Result<bool, IndexError> {
    let mut find =
        conn.prepare_cached("SELECT 1 FROM files WHERE path = ?1 OR (path > ?2 AND path < ?3) LIMIT 1")?;
    // A slash is followed by a zero.
    Ok(find.exists([path, &format!("{path}/"), &format!("{path}0")])?)
}

/// The file numbered `id`.
pub fn file_by_id(conn: &Connection, id: i64) -> Result<FileRow, IndexError> {
    let mut find = conn.prepare_cached(&format!("SELECT {FILE} FROM files WHERE id = ?1"))?;
    find.query_row([id], file_row).optional()?.ok_or_else(|| IndexError::Torn(format!("no file {id}")))
}

/// All files, ordered by path, handed to `each`.
pub fn each_file(conn: &Connection, mut each: impl FnMut(FileRow)) -> Result<(), IndexError> {
    let mut all = conn.prepare_cached(&format!("SELECT {FILE} FROM files ORDER BY path"))?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        each(file_row(row)?);
    }
    Ok(())
}

/// Paths of all files, in no order, with what the file system said of them, handed to `each`.
pub fn each_look(conn: &Connection, mut each: impl FnMut(&str, Look)) -> Result<(), IndexError> {
    let mut all = conn.prepare_cached("SELECT path, size, mtime, ctime, inode FROM files")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let look = Look {
            size: row.get::<_, i64>(1)?.cast_unsigned(),
            mtime: row.get(2)?,
            ctime: row.get(3)?,
            inode: row.get::<_, i64>(4)?.cast_unsigned(),
        };
        each(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?, look);
    }
    Ok(())
}

/// Numbers and paths of the files whose path begins with `prefix`.
pub fn paths(conn: &Connection, prefix: &str) -> Result<Vec<(i64, String)>, IndexError> {
    let mut find =
        conn.prepare_cached("SELECT id, path FROM files WHERE path >= ?1 AND path < ?2 ORDER BY path")?;
    let end = format!("{prefix}\u{10ffff}");
    let rows = find.query_map([prefix, end.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether the path of a file begins with `prefix`.
pub fn begins(conn: &Connection, prefix: &str) -> Result<bool, IndexError> {
    let mut find = conn.prepare_cached("SELECT 1 FROM files WHERE path >= ?1 AND path < ?2 LIMIT 1")?;
    Ok(find.exists([prefix, &format!("{prefix}\u{10ffff}")])?)
}

/// Notes that the commit of `generation` changes these files.
pub fn put_changes<'a>(
    conn: &Connection,
    generation: u64,
    paths: impl Iterator<Item = &'a str>,
) -> Result<(), IndexError> {
    let mut put = conn.prepare_cached("INSERT OR IGNORE INTO changes VALUES (?1, ?2)")?;
    for path in paths {
        put.execute(params![generation.cast_signed(), path])?;
    }
    // Now and then the oldest are forgotten.
    if let Some(oldest) = generation.checked_sub(REMEMBERED).filter(|_| generation.is_multiple_of(64)) {
        conn.execute("DELETE FROM changes WHERE generation <= ?1", [oldest.cast_signed()])?;
        set(conn, "changes after", oldest.cast_signed())?;
    }
    Ok(())
}

/// The files that commits after `generation` of this making of the index wrote or forgot; none where that is too long
/// ago to be known.
pub fn changed_since(conn: &Connection, generation: u64) -> Result<Option<Vec<String>>, IndexError> {
    let known_after: i64 = get(conn, "changes after")?.unwrap_or(0);
    if generation.cast_signed() < known_after {
        return Ok(None);
    }
    let mut find = conn.prepare_cached("SELECT DISTINCT path FROM changes WHERE generation > ?1")?;
    let paths = find.query_map([generation.cast_signed()], |row| row.get(0))?;
    Ok(Some(paths.collect::<Result<_, _>>()?))
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

/// How many dead documents hold `term` ([`crate::search::store::view::term_key`]).
pub fn gone(conn: &Connection, term: &[u8]) -> Result<u64, IndexError> {
    let mut find = conn.prepare_cached("SELECT sum(docs) FROM gone WHERE term = ?1")?;
    let docs: Option<i64> = find.query_row([term], |row| row.get(0))?;
    Ok(docs.unwrap_or(0).cast_unsigned())
}

/// Adds `docs` dead documents of `segment` to `term`.
pub fn add_gone(conn: &Connection, term: &[u8], segment: i64, docs: i64) -> Result<(), IndexError> {
    conn.prepare_cached(
        "INSERT INTO gone VALUES (?1, ?2, ?3) ON CONFLICT (term, segment) DO UPDATE SET docs = docs + excluded.docs",
    )?
    .execute(params![term, segment, docs])?;
    Ok(())
}

/// The dead documents of `segment` by term.
pub fn gone_in(conn: &Connection, segment: i64) -> Result<HashMap<Vec<u8>, i64>, IndexError> {
    let mut find = conn.prepare_cached("SELECT term, docs FROM gone WHERE segment = ?1")?;
    let rows = find.query_map([segment], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Inserts or replaces a file by its path (`id` 0 for a new one); its number.
pub fn put_file(conn: &Connection, file: &FileRow) -> Result<i64, IndexError> {
    let id = (file.id != 0).then_some(file.id);
    let mut put = conn.prepare_cached(&format!(
        "INSERT OR REPLACE INTO files ({FILE}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    ))?;
    put.execute(params![
        id,
        file.path,
        file.size.cast_signed(),
        file.mtime,
        file.ctime,
        file.inode.cast_signed(),
        file.hash,
        file.head,
        file.tags,
        file.time,
        file.resume,
        file.skipped,
        file.findings
    ])?;
    Ok(id.unwrap_or_else(|| conn.last_insert_rowid()))
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

/// The pinned blocks: target path without extension, and block id.
pub fn pins(conn: &Connection) -> Result<Vec<(String, String)>, IndexError> {
    let mut find = conn.prepare_cached("SELECT path, block_id FROM pins")?;
    let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
