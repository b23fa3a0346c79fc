//! Stores the known files, one row each.
//!
//! Paths and rows come in, rows go out. A scan of a folder compares with [`Look`], a part of the row.

use rusqlite::{Connection, OptionalExtension, params};

use crate::search::IndexError;

/// Where the blocks of a file stand: documents of a segment side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The segment's number; 0 for one that isn't committed.
    pub segment: i64,
    /// The first document's number.
    pub start: u32,
    /// How many documents.
    pub count: u32,
}

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
    /// Why it isn't indexed.
    pub skipped: Option<String>,
    /// What could not be read as meant, a line each: `line<TAB>reason`.
    pub findings: Option<String>,
    /// Where its blocks stand, if it has some.
    pub place: Option<Place>,
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

const FILE: &str = "id, path, size, mtime, ctime, inode, hash, head, tags, time, skipped, findings, \
                    segment, start, count";

fn file_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRow> {
    let place = match row.get(12)? {
        None => None,
        Some(segment) => Some(Place { segment, start: row.get(13)?, count: row.get(14)? }),
    };
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
        skipped: row.get(10)?,
        findings: row.get(11)?,
        place,
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

/// Numbers, paths and reasons of the files that are left out, in the order of their paths.
pub fn left_out(conn: &Connection) -> Result<Vec<(i64, String, String)>, IndexError> {
    let mut find =
        conn.prepare_cached("SELECT id, path, skipped FROM files WHERE skipped IS NOT NULL ORDER BY path")?;
    let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
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

/// Inserts or replaces a file by its path (`id` 0 for a new one).
pub fn put_file(conn: &Connection, file: &FileRow) -> Result<(), IndexError> {
    let id = (file.id != 0).then_some(file.id);
    let mut put = conn.prepare_cached(&format!(
        "INSERT OR REPLACE INTO files ({FILE}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
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
        file.skipped,
        file.findings,
        file.place.map(|place| place.segment),
        file.place.map(|place| place.start),
        file.place.map(|place| place.count)
    ])?;
    Ok(())
}

/// The blocks of the file at `path` stand elsewhere from now on, if they still stood at `from`; whether they did. Both are
/// a segment and the first document there.
pub fn move_file(
    conn: &Connection,
    path: &str,
    from: (i64, u32),
    to: (i64, u32),
) -> Result<bool, IndexError> {
    let mut put = conn.prepare_cached(
        "UPDATE files SET segment = ?4, start = ?5 WHERE path = ?1 AND segment = ?2 AND start = ?3",
    )?;
    Ok(put.execute(params![path, from.0, from.1, to.0, to.1])? > 0)
}
