//! Stores the known files, one row each.
//!
//! Paths and rows come in, rows go out. A scan of a folder compares with [`FileStat`], a part of the row.

use rusqlite::{Connection, OptionalExtension, params};

use crate::search::IndexError;

/// The position of a file's blocks: documents of a segment side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The segment's number; 0 for one that isn't committed.
    pub segment: i64,
    /// The first document's number.
    pub start: u32,
    /// How many documents.
    pub count: u32,
}

/// The stat of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The position of its blocks, if it has some.
    pub place: Option<Place>,
}

const FILE: &str = "path, size, mtime, ctime, inode, hash, skipped, findings, segment, start, count";

fn look(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileStat> {
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    Ok(FileStat { size: number(1)?, mtime: row.get(2)?, ctime: row.get(3)?, inode: number(4)? })
}

fn file_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRow> {
    let place = match row.get(8)? {
        None => None,
        Some(segment) => Some(Place { segment, start: row.get(9)?, count: row.get(10)? }),
    };
    Ok(FileRow {
        path: row.get(0)?,
        look: look(row)?,
        hash: row.get(5)?,
        skipped: row.get(6)?,
        findings: row.get(7)?,
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
    let mut find = conn.prepare_cached("SELECT 1 FROM files WHERE path = ?1")?;
    Ok(find.exists([path])? || begins(conn, &format!("{path}/"))?)
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
pub fn each_look(conn: &Connection, mut each: impl FnMut(&str, FileStat)) -> Result<(), IndexError> {
    let mut all = conn.prepare_cached("SELECT path, size, mtime, ctime, inode FROM files")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        each(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?, look(row)?);
    }
    Ok(())
}

/// Paths and reasons of the files that are left out, in the order of their paths.
pub fn left_out(conn: &Connection) -> Result<Vec<(String, String)>, IndexError> {
    let mut find =
        conn.prepare_cached("SELECT path, skipped FROM files WHERE skipped IS NOT NULL ORDER BY path")?;
    let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Paths of the files whose path begins with `prefix`.
pub fn paths(conn: &Connection, prefix: &str) -> Result<Vec<String>, IndexError> {
    let mut find =
        conn.prepare_cached("SELECT path FROM files WHERE path >= ?1 AND path < ?2 ORDER BY path")?;
    let rows = find.query_map([prefix, &format!("{prefix}\u{10ffff}")], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether the path of a file begins with `prefix`.
pub fn begins(conn: &Connection, prefix: &str) -> Result<bool, IndexError> {
    let mut find = conn.prepare_cached("SELECT 1 FROM files WHERE path >= ?1 AND path < ?2 LIMIT 1")?;
    Ok(find.exists([prefix, &format!("{prefix}\u{10ffff}")])?)
}

/// Inserts or replaces a file by its path.
pub fn put_file(conn: &Connection, file: &FileRow) -> Result<(), IndexError> {
    let FileRow { path, look, hash, skipped, findings, place } = file;
    let mut put = conn.prepare_cached(&format!(
        "INSERT OR REPLACE INTO files ({FILE}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
    ))?;
    let (size, inode) = (look.size.cast_signed(), look.inode.cast_signed());
    let [segment, start, count] = match place {
        Some(place) => [place.segment, place.start.into(), place.count.into()].map(Some),
        None => [None; 3],
    };
    put.execute(params![
        path, size, look.mtime, look.ctime, inode, hash, skipped, findings, segment, start, count
    ])?;
    Ok(())
}

/// Forgets the file at `path`.
pub fn remove_file(conn: &Connection, path: &str) -> Result<(), IndexError> {
    conn.prepare_cached("DELETE FROM files WHERE path = ?1")?.execute([path])?;
    Ok(())
}

/// The blocks of the file at `path` stand in this segment from now on, from document `start`.
pub fn move_file(conn: &Connection, path: &str, segment: i64, start: u32) -> Result<(), IndexError> {
    let mut put = conn.prepare_cached("UPDATE files SET segment = ?2, start = ?3 WHERE path = ?1")?;
    put.execute(params![path, segment, start])?;
    Ok(())
}
