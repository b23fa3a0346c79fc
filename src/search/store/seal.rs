//! Computes and compares checksums of the cache's files.
//!
//! A [`Seal`] describes a whole file: its length, its checksum, and its stat. A file with an unchanged stat is trusted
//! without reading its bytes. Any other file is read and checked; after a start of the machine, every file is. Files
//! that never change (those of segments) are sealed by the catalog that lists them. The database's file changes only at
//! checkpoints, which this program makes under the write lock; `index.seal` holds its seal. While a checkpoint changes
//! the file, the seal is marked; after a crash in that state, SQLite checks the file. If SQLite's write-ahead log is
//! damaged, commits are lost without an error. The next scan of all files finds their changes again. A daemon scans
//! when it starts; a query scans if it has no proof of freshness from a daemon.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::config::json_file;
use crate::search::{IndexError, Result};

/// The database's file.
pub const DATABASE: &str = "index.sqlite";
/// The file of its seal.
pub const NAME: &str = "index.seal";

/// The length, checksum and stat of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    length: u64,
    sum: u32,
    stat: [i64; 3],
}

impl Seal {
    /// Of the file at `path`, from its bytes.
    ///
    /// # Errors
    /// The disk's.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = std::fs::File::open(path)?;
        let meta = file.metadata()?;
        let (mut sum, mut buffer, mut length) = (crc32fast::Hasher::new(), vec![0; 1 << 18], 0);
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok(Self { length, sum: sum.finalize(), stat: stat(&meta) });
            }
            sum.update(&buffer[..read]);
            length += read as u64;
        }
    }

    /// The present seal of the file at `path`, if the file has the sealed bytes; `None` if it is missing or has
    /// changed. Its bytes are read only if its stat has changed, or if `deep` is true.
    pub fn check(&self, path: &Path, deep: bool) -> Option<Self> {
        let meta = std::fs::metadata(path).ok().filter(|meta| meta.len() == self.length)?;
        if !deep && stat(&meta) == self.stat {
            return Some(*self);
        }
        Self::of(path).ok().filter(|now| (now.length, now.sum) == (self.length, self.sum))
    }

    /// Whether the file at `path` has the same stat as when it was sealed, or is gone: then an open file has its bytes
    /// still.
    pub fn is_untouched(&self, path: &Path) -> bool {
        std::fs::metadata(path).map_or(true, |meta| stat(&meta) == self.stat)
    }
}

fn stat(meta: &std::fs::Metadata) -> [i64; 3] {
    let nanoseconds = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
    [
        nanoseconds(meta.mtime(), meta.mtime_nsec()),
        nanoseconds(meta.ctime(), meta.ctime_nsec()),
        meta.ino().cast_signed(),
    ]
}

/// A text followed by its checksum.
pub fn signed(text: &str) -> String {
    format!("{text}\n{:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// The text of [`signed`]; none where it is damaged.
pub fn unsigned(signed: &str) -> Option<&str> {
    let (text, sum) = signed.strip_suffix('\n')?.rsplit_once('\n')?;
    (sum == format!("{:08x}", crc32fast::hash(text.as_bytes()))).then_some(text)
}

/// Reads a small file. A pipe in its place would be waited for.
///
/// # Errors
/// The disk's; it is no file.
pub fn read(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    std::fs::read_to_string(path)
}

/// The seals of a segment's files, by name.
pub type Seals = Vec<(String, Seal)>;

/// The contents of `index.seal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// The database's file.
    pub database: Seal,
    /// Whether a checkpoint was changing the database's file when it was written.
    pub is_changing: bool,
    /// The start of the machine that it was written after.
    pub boot: String,
}

/// The state of the database's file, if it isn't damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseState {
    /// There is none.
    Nothing,
    /// It has no seal, or that of an older version.
    Unsealed,
    /// All of the cache is to be looked at: the machine was started since, the file is another one with the same bytes,
    /// or a checkpoint changed it and didn't end.
    Doubtful,
    /// It is as sealed.
    Whole,
}

impl Sealed {
    /// Compares the database under `root` with its seal; if `deep` is true, by all of its bytes.
    ///
    /// # Errors
    /// It is not what it was.
    pub fn look(root: &Path, deep: bool) -> Result<DatabaseState> {
        let damaged = || IndexError::Torn(format!("`{DATABASE}` is not what it was"));
        let database = root.join(DATABASE);
        if !database.exists() {
            return Ok(DatabaseState::Nothing);
        } else if !database.is_file() {
            return Err(damaged());
        }
        let text = match read(&root.join(NAME)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DatabaseState::Unsealed),
            text => text.map_err(|_| damaged())?,
        };
        let Ok(sealed) = serde_json::from_str::<Self>(unsigned(&text).ok_or_else(damaged)?) else {
            return Ok(DatabaseState::Unsealed);
        };
        let is_new_start = sealed.boot != boot_id();
        let is_settled = !is_new_start && !sealed.is_changing;
        match sealed.database.check(&database, deep || is_new_start) {
            None if is_new_start || !sealed.is_changing => Err(damaged()),
            Some(now) if now == sealed.database && is_settled => Ok(DatabaseState::Whole),
            _ => Ok(DatabaseState::Doubtful),
        }
    }

    /// The seal under `root` as it stands; none where there is no whole one.
    pub fn read(root: &Path) -> Option<Self> {
        serde_json::from_str(unsigned(&read(&root.join(NAME)).ok()?)?).ok()
    }

    /// Writes it under `root`; the write lock is held.
    ///
    /// # Errors
    /// The disk's.
    pub fn write(&self, root: &Path) -> Result<()> {
        let path = root.join(NAME);
        let text = signed(&json(self));
        json_file::replace(&path, text.as_bytes(), false).map_err(|error| IndexError::cache(&path, error))
    }
}

/// A seal or several as text.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and names are JSON")
}

/// The id of the machine's present start; empty if the system has none.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// The seals of a segment's files: all under `root` whose names begin with `name`.
///
/// # Errors
/// The disk's.
pub fn of_files(root: &Path, name: &str) -> io::Result<String> {
    let mut seals = Seals::new();
    for entry in std::fs::read_dir(root)? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        if file.starts_with(name) {
            let seal = Seal::of(&root.join(&file))?;
            seals.push((file, seal));
        }
    }
    Ok(json(&seals))
}

/// Checks the files that [`of_files`] sealed, and returns their present seals.
///
/// # Errors
/// One is damaged.
pub fn check_files(root: &Path, seals: &str, deep: bool) -> Result<Seals> {
    let torn = |name: &str| IndexError::Torn(format!("`{name}` is not what it was"));
    let mut seals: Seals = serde_json::from_str(seals).map_err(|_| torn("a segment"))?;
    for (name, seal) in &mut seals {
        *seal = seal.check(&root.join(&*name), deep).ok_or_else(|| torn(name))?;
    }
    if seals.is_empty() {
        return Err(IndexError::Torn("a segment without files".to_owned()));
    }
    Ok(seals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_moved_or_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&a, "some bytes").unwrap();
        let seal = Seal::of(&a).unwrap();
        assert_eq!(serde_json::from_str::<Seal>(&json(&seal)).unwrap(), seal);
        assert_eq!((seal.check(&a, false), seal.check(&a, true)), (Some(seal), Some(seal)));
        std::fs::copy(&a, &b).unwrap();
        assert_eq!(seal.check(&b, false), Some(Seal::of(&b).unwrap()));
        assert_ne!(Seal::of(&b).unwrap(), seal);
        for damaged in ["", "some byte", "Some bytes", "some bytes "] {
            std::fs::write(&b, damaged).unwrap();
            assert_eq!(seal.check(&b, false), None);
        }
        std::fs::remove_file(&b).unwrap();
        assert_eq!(seal.check(&b, false), None);
    }

    #[test]
    fn a_signed_text_comes_back_whole_or_not_at_all() {
        let text = signed("one\ntwo");
        assert_eq!(unsigned(&text), Some("one\ntwo"));
        for at in 0..text.len() {
            let mut torn = text.clone().into_bytes();
            torn[at] ^= 1;
            assert_eq!(String::from_utf8(torn).ok().as_deref().and_then(unsigned), None, "{at}");
            assert_eq!(unsigned(&text[..at]), None, "{at}");
        }
    }
}
