//! Computes checksums of the cache's files, so that a damaged file is detected and rebuilt.
//!
//! A [`Seal`] describes a whole file: its length, its checksum, and its stat. A file with an unchanged stat is trusted
//! without reading its bytes; any other is checked, and so are all after a start of the machine. Files that never
//! change (segments, recall's layers) are sealed by the code that lists them. The database changes, but its file only
//! at checkpoints, which are made here alone, under the write lock: `index.seal` holds its seal, and the number of the
//! last commit, because a damaged log of SQLite loses commits in silence. While a checkpoint changes the file, the seal
//! says so; a process that finds that after a crash lets SQLite check its file.

use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;

use crate::search::IndexError;

/// The database's file.
pub const DATABASE: &str = "index.sqlite";
const NAME: &str = "index.seal";
const VERSION: &str = "vault-agent seal 1";
const CHANGING: &str = "changing";

/// What a file was when it was whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    length: u64,
    sum: u32,
    stat: [i64; 3],
}

/// How a file is, against its seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Untouched, as far as the file system knows.
    Known,
    /// Another file with the same bytes: this is its seal.
    Same(Seal),
    /// Not there, or not what it was.
    Damaged,
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

    /// How the file at `path` is; where `deep`, by its bytes whatever the file system says.
    pub fn check(&self, path: &Path, deep: bool) -> Verdict {
        let Ok(meta) = std::fs::metadata(path) else { return Verdict::Damaged };
        if meta.len() != self.length {
            return Verdict::Damaged;
        }
        if !deep && stat(&meta) == self.stat {
            return Verdict::Known;
        }
        match Self::of(path) {
            Ok(now) if (now.length, now.sum) == (self.length, self.sum) => {
                if now.stat == self.stat {
                    Verdict::Known
                } else {
                    Verdict::Same(now)
                }
            }
            _ => Verdict::Damaged,
        }
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

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [modified, changed, inode] = self.stat;
        write!(f, "{} {} {modified} {changed} {inode}", self.length, self.sum)
    }
}

impl FromStr for Seal {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or(());
        let (length, sum) = (word()?.parse().map_err(drop)?, word()?.parse().map_err(drop)?);
        let mut number = || word()?.parse::<i64>().map_err(drop);
        Ok(Self { length, sum, stat: [number()?, number()?, number()?] })
    }
}

/// A text with its own checksum behind it.
pub fn signed(text: &str) -> String {
    format!("{text}\n{:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// The text of [`signed`]; none where it is damaged.
pub fn unsigned(signed: &str) -> Option<&str> {
    let (text, sum) = signed.strip_suffix('\n')?.rsplit_once('\n')?;
    (sum == format!("{:08x}", crc32fast::hash(text.as_bytes()))).then_some(text)
}

/// Writes a small file in one step.
///
/// # Errors
/// The disk's.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(new);
    }
    written
}

/// What `index.seal` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// The database's file.
    pub database: Seal,
    /// Which making of the index, and which commit of it, was the last.
    pub commit: (i64, u64),
    /// Whether a checkpoint was changing the database's file when it was written.
    pub is_changing: bool,
}

/// How the database's file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealState {
    /// There is none.
    Nothing,
    /// It has no seal.
    Unsealed,
    /// It is not what it was.
    Damaged,
    /// A checkpoint changed it and didn't end: SQLite knows whether it is whole.
    Changing(Sealed),
    /// It is as sealed.
    Whole {
        /// Its seal, as it is now.
        sealed: Sealed,
        /// Whether it is to be sealed again: it is another file with the same bytes, or was about to change.
        moved: bool,
    },
}

impl Sealed {
    /// Looks at the database under `root`.
    pub fn look(root: &Path, deep: bool) -> SealState {
        if !root.join(DATABASE).exists() {
            return SealState::Nothing;
        }
        let text = match std::fs::read_to_string(root.join(NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return SealState::Unsealed,
            Err(_) => return SealState::Damaged,
        };
        let Some(sealed) = Self::parse(&text) else { return SealState::Damaged };
        match sealed.database.check(&root.join(DATABASE), deep) {
            Verdict::Known => SealState::Whole { sealed, moved: sealed.is_changing },
            Verdict::Same(database) => SealState::Whole { sealed: Self { database, ..sealed }, moved: true },
            Verdict::Damaged if sealed.is_changing => SealState::Changing(sealed),
            Verdict::Damaged => SealState::Damaged,
        }
    }

    /// The seal under `root` as it stands; none where there is no whole one.
    pub fn read(root: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(root.join(NAME)).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = unsigned(text)?.lines();
        if lines.next() != Some(VERSION) {
            return None;
        }
        let database = lines.next()?.parse().ok()?;
        let (epoch, generation) = lines.next()?.split_once(' ')?;
        let commit = (epoch.parse().ok()?, generation.parse().ok()?);
        Some(Self { database, commit, is_changing: lines.next() == Some(CHANGING) })
    }

    /// Writes it under `root`; the write lock is held.
    ///
    /// # Errors
    /// The disk's.
    pub fn write(&self, root: &Path) -> Result<(), IndexError> {
        let (epoch, generation) = self.commit;
        let changing = if self.is_changing { format!("\n{CHANGING}") } else { String::new() };
        let text = signed(&format!("{VERSION}\n{}\n{epoch} {generation}{changing}", self.database));
        let path = root.join(NAME);
        replace(&path, &text).map_err(|error| IndexError::cache(&path, error))
    }

    /// Removes it.
    pub fn remove(root: &Path) -> io::Result<()> {
        std::fs::remove_file(root.join(NAME))
    }
}

/// The seals of a segment's files, which exist under `root`.
///
/// # Errors
/// The disk's.
pub fn of_files<'a>(root: &Path, names: impl Iterator<Item = &'a Path>) -> io::Result<String> {
    let mut seals = Vec::new();
    for name in names {
        let path = root.join(name);
        if path.exists() {
            seals.push(format!("{} {}", name.display(), Seal::of(&path)?));
        }
    }
    seals.sort();
    Ok(seals.join("\n"))
}

/// Checks the files that [`of_files`] sealed; the seals as they are now, where some are another file's.
///
/// # Errors
/// One is damaged.
pub fn check_files(root: &Path, seals: &str, deep: bool) -> Result<Option<String>, IndexError> {
    let (mut now, mut moved) = (Vec::new(), false);
    for line in seals.lines() {
        let torn =
            || IndexError::Torn(format!("`{}` is not what it was", line.split(' ').next().unwrap_or(line)));
        let (name, seal) = line.split_once(' ').ok_or_else(torn)?;
        let seal: Seal = seal.parse().map_err(|()| torn())?;
        match seal.check(&root.join(name), deep) {
            Verdict::Known => now.push(line.to_owned()),
            Verdict::Same(seal) => {
                moved = true;
                now.push(format!("{name} {seal}"));
            }
            Verdict::Damaged => return Err(torn()),
        }
    }
    if now.is_empty() {
        return Err(IndexError::Torn("a segment without files".to_owned()));
    }
    Ok(moved.then(|| now.join("\n")))
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
        assert_eq!(seal.to_string().parse(), Ok(seal));
        assert_eq!((seal.check(&a, false), seal.check(&a, true)), (Verdict::Known, Verdict::Known));
        std::fs::copy(&a, &b).unwrap();
        assert_eq!(seal.check(&b, false), Verdict::Same(Seal::of(&b).unwrap()));
        for damaged in ["", "some byte", "Some bytes", "some bytes "] {
            std::fs::write(&b, damaged).unwrap();
            assert_eq!(seal.check(&b, false), Verdict::Damaged);
        }
        std::fs::remove_file(&b).unwrap();
        assert_eq!(seal.check(&b, false), Verdict::Damaged);
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
