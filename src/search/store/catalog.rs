//! Reads and writes the tables of `index.sqlite` except `vectors`.
//!
//! The tables hold the known files, the segments with their deleted blocks, and values of the whole index, such as the
//! last commit. One transaction commits a change of the whole index: tantivy's
//! segment files never change once written, and a segment belongs to the index exactly if the table `segments` lists
//! it. A crash leaves files that no row names; they are removed later.

use std::path::Path;

use bitcode::{Decode, Encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::search::store::seal;
use crate::search::{IndexError, Result};

/// The tables. `known` is a [`FileRow`] in bitcode's form, and `mtime` its time of change, by which texts to embed are
/// ordered; `dead` are stretches of documents whose file changed since. SQLite doesn't sum up again what it reads from
/// its log, so `known` and the commit end with a checksum, and the commit has that of `dead`.
const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (path TEXT PRIMARY KEY, mtime INTEGER NOT NULL, known BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE segments (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, docs INTEGER NOT NULL, seals TEXT NOT NULL);
CREATE TABLE dead (segment INTEGER, start INTEGER, count INTEGER, PRIMARY KEY (segment, start)) WITHOUT ROWID;
";

/// The time for which a connection waits for another's lock.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// The vectors of blocks, one row for each model and different text (see `recall::vectors`).
pub const VECTORS: &str = "CREATE TABLE IF NOT EXISTS vectors (
  model TEXT NOT NULL, hash BLOB NOT NULL, status TEXT NOT NULL CHECK (status IN ('pending', 'ok', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER NOT NULL DEFAULT 0, error TEXT, dimension INTEGER,
  embedding BLOB, path TEXT NOT NULL, line INTEGER NOT NULL, timestamp INTEGER, role TEXT, context_id TEXT,
  pinned INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (model, hash))";

/// The last commit of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCommit {
    /// Goes up with every commit.
    pub generation: u64,
    /// Which making of the index it is: generations of several are counted from the same number.
    pub epoch: i64,
    /// When it was made, seconds since 1970.
    pub committed: i64,
    /// The checksum of the dead stretches.
    pub dead: u32,
}

/// Opens the database at `path` for reading and writing, making it if `create`.
pub fn open(path: &Path, create: bool) -> Result<Connection> {
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
pub fn open_immutable(path: &Path) -> Result<Connection> {
    let text = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(format!("file:{text}?immutable=1"), flags)?)
}

/// A database in memory, for a vault that is searched without a cache.
pub fn in_memory(fingerprint: &str) -> Result<Connection> {
    let conn = Connection::open_in_memory()?;
    reset(&conn, fingerprint, 0)?;
    Ok(conn)
}

fn prepare(conn: &Connection) -> Result<()> {
    conn.busy_timeout(PATIENCE)?;
    // The cache is worth nothing: never wait for the disk.
    conn.execute_batch(
        "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 1000000;
         PRAGMA wal_autocheckpoint = 0;",
    )?;
    // The file changes at checkpoints alone, and those seal it ([`crate::search::store::seal`]).
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// Makes all tables anew, of another epoch and of this generation; vectors stay.
pub fn reset(conn: &Connection, fingerprint: &str, generation: u64) -> Result<()> {
    for table in ["meta", "files", "segments", "dead"] {
        conn.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    conn.execute_batch(TABLES)?;
    conn.execute_batch(VECTORS)?;
    set(conn, "schema", fingerprint)?;
    let mut epoch = [0; 8];
    let _ = getrandom::fill(&mut epoch);
    set_last_commit(
        conn,
        &LastCommit { epoch: i64::from_le_bytes(epoch), generation, ..LastCommit::default() },
    )
}

/// Sets a value of `meta`.
pub fn set(conn: &Connection, key: &str, value: impl rusqlite::ToSql) -> Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")?.execute(params![key, value])?;
    Ok(())
}

/// A value of `meta`.
pub fn get<T: rusqlite::types::FromSql>(conn: &Connection, key: &str) -> Result<Option<T>> {
    Ok(conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Writes what the last commit is.
pub fn set_last_commit(conn: &Connection, commit: &LastCommit) -> Result<()> {
    let dead = sum_of(&dead_rows(conn)?);
    set(conn, "commit", seal::signed(&seal::json(&LastCommit { dead, ..*commit })))
}

/// The last commit of the index that `conn` sees.
pub fn last_commit(conn: &Connection) -> Result<LastCommit> {
    let text: String = get(conn, "commit")?.ok_or_else(|| IndexError::Torn("no commit".to_owned()))?;
    let commit = seal::unsigned(&text).and_then(|text| serde_json::from_str(text).ok());
    commit.ok_or_else(|| IndexError::Torn("the commit can't be read".to_owned()))
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
    /// The seals of its files ([`crate::search::store::seal::of_files`]).
    pub seals: String,
}

/// The segments, oldest first.
pub fn segments(conn: &Connection) -> Result<Vec<SegmentRow>> {
    let mut find = conn.prepare_cached("SELECT id, uuid, docs, seals FROM segments ORDER BY id")?;
    let rows = find.query_map([], |row| {
        Ok(SegmentRow { id: row.get(0)?, uuid: row.get(1)?, docs: row.get(2)?, seals: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A dead stretch: segment, start and count.
pub type DeadStretch = (i64, u32, u32);

/// The dead stretches of this commit.
pub fn dead(conn: &Connection, commit: &LastCommit) -> Result<Vec<DeadStretch>> {
    let dead = dead_rows(conn)?;
    let torn = || IndexError::Torn("the dead documents are not those of the commit".to_owned());
    if sum_of(&dead) == commit.dead { Ok(dead) } else { Err(torn()) }
}

fn dead_rows(conn: &Connection) -> Result<Vec<DeadStretch>> {
    let mut find = conn.prepare_cached("SELECT segment, start, count FROM dead ORDER BY segment, start")?;
    let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn sum_of(dead: &[DeadStretch]) -> u32 {
    crc32fast::hash(&bitcode::encode(dead))
}

/// Records that a range of documents is dead.
pub fn put_dead(conn: &Connection, segment: i64, start: u32, count: u32) -> Result<()> {
    conn.prepare_cached("INSERT INTO dead VALUES (?1, ?2, ?3)")?.execute(params![segment, start, count])?;
    Ok(())
}

/// Inserts a segment after all others.
pub fn put_segment(conn: &Connection, uuid: &str, docs: u32, seals: &str) -> Result<()> {
    let mut put = conn.prepare_cached("INSERT INTO segments (uuid, docs, seals) VALUES (?1, ?2, ?3)")?;
    put.execute(params![uuid, docs, seals])?;
    Ok(())
}

/// Forgets a segment.
pub fn remove_segment(conn: &Connection, id: i64) -> Result<()> {
    conn.prepare_cached("DELETE FROM dead WHERE segment = ?1")?.execute([id])?;
    conn.prepare_cached("DELETE FROM segments WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// The stat of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct FileStat {
    /// Length in bytes when it was read.
    pub size: u64,
    /// Last change of its bytes, nanoseconds since 1970.
    pub mtime: i64,
    /// Last change of anything, nanoseconds since 1970; 0 where the index was too close to it to be sure.
    pub ctime: i64,
    /// Its number on the file system.
    pub inode: u64,
}

/// A known file.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct FileRow {
    /// Its path in the vault.
    pub path: String,
    /// Its stat.
    pub look: FileStat,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 32],
    /// Why it isn't indexed.
    pub skipped: Option<String>,
    /// The parts that could not be parsed, a line each: `line<TAB>reason`.
    pub findings: Option<String>,
}

/// A row of path and `known`.
fn file_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRow> {
    let torn = || rusqlite::Error::InvalidColumnType(1, "known".to_owned(), rusqlite::types::Type::Blob);
    let (known, sum) = row.get_ref(1)?.as_blob()?.split_last_chunk().ok_or_else(torn)?;
    let file: FileRow = bitcode::decode(known).map_err(|_| torn())?;
    let is_whole = crc32fast::hash(known).to_le_bytes() == *sum && row.get_ref(0)?.as_str()? == file.path;
    if is_whole { Ok(file) } else { Err(torn()) }
}

/// The file at `path`.
pub fn file(conn: &Connection, path: &str) -> Result<Option<FileRow>> {
    let mut find = conn.prepare_cached("SELECT path, known FROM files WHERE path = ?1")?;
    Ok(find.query_row([path], file_row).optional()?)
}

/// All files, ordered by path, handed to `each`.
pub fn each_file(conn: &Connection, mut each: impl FnMut(FileRow)) -> Result<()> {
    let mut all = conn.prepare_cached("SELECT path, known FROM files ORDER BY path")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        each(file_row(row)?);
    }
    Ok(())
}

/// Paths of the files whose path begins with `prefix`.
pub fn paths(conn: &Connection, prefix: &str) -> Result<Vec<String>> {
    let mut find =
        conn.prepare_cached("SELECT path FROM files WHERE path >= ?1 AND path < ?2 ORDER BY path")?;
    let rows = find.query_map([prefix, &format!("{prefix}\u{10ffff}")], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many files are known, skipped ones included.
pub fn file_count(conn: &Connection) -> Result<u64> {
    Ok(conn.prepare_cached("SELECT count(*) FROM files")?.query_row([], |row| row.get(0))?)
}

/// Whether the path of a file begins with `prefix`.
pub fn begins(conn: &Connection, prefix: &str) -> Result<bool> {
    let mut find = conn.prepare_cached("SELECT 1 FROM files WHERE path >= ?1 AND path < ?2 LIMIT 1")?;
    Ok(find.exists([prefix, &format!("{prefix}\u{10ffff}")])?)
}

/// Inserts or replaces a file by its path.
pub fn put_file(conn: &Connection, file: &FileRow) -> Result<()> {
    let mut put = conn.prepare_cached("INSERT OR REPLACE INTO files VALUES (?1, ?2, ?3)")?;
    let mut known = bitcode::encode(file);
    known.extend(crc32fast::hash(&known).to_le_bytes());
    put.execute(params![file.path, file.look.mtime, known])?;
    Ok(())
}

/// Forgets the file at `path`.
pub fn remove_file(conn: &Connection, path: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM files WHERE path = ?1")?.execute([path])?;
    Ok(())
}
