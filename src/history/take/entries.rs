//! Caches the file stats of the last full walk: size, times, identity and content hash of each file.
//!
//! The next full walk compares these with the file system, reads only the files that differ, and then writes the cache
//! again. The cache stands beside the repository and is disposable: if it is deleted, torn or of another version, the
//! walk reads every file. The content hash is the truth. A stat is not trusted for a file that changed within
//! [`RACY_NS`] of being read; such a file is read again.

use crate::config::json_file;
use crate::history::prelude::*;
use crate::history::store::{FileMode, FileState};
use crate::vault::Stat;

/// A file whose last change is closer than this to the moment when it was read may have changed since
/// without a sign (FAT stores two-second steps), in nanoseconds.
pub const RACY_NS: i64 = 2_000_000_000;

/// The file begins so, and with the hash of what follows.
const MAGIC: &[u8; 8] = b"vaentr05";

/// A file as it was when its content was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileEntry {
    /// Length in bytes.
    pub size: u64,
    /// Last change, in nanoseconds since 1970; 0 where it was too fresh to be trusted.
    pub mtime_ns: i64,
    /// Last change of the file's text or facts: programs can set the one above back, but not this one. A new name, a
    /// link or another mode changes it, too, and costs a read.
    pub ctime_ns: i64,
    /// The file's number.
    pub inode: u64,
    /// Content and kind.
    pub state: FileState,
}

impl FileEntry {
    /// The entry for a file whose content was hashed at `read_at_ns`.
    pub fn new(stat: &Stat, state: FileState, read_at_ns: i64) -> Self {
        let racy = stat.mtime_ns.max(stat.ctime_ns).saturating_add(RACY_NS) > read_at_ns;
        let mtime_ns = if racy { 0 } else { stat.mtime_ns };
        Self { size: stat.size, mtime_ns, ctime_ns: stat.ctime_ns, inode: stat.inode, state }
    }

    /// Whether the file's content is certainly the one that was hashed.
    pub fn proves(&self, stat: &Stat, mode: FileMode) -> bool {
        self.mtime_ns != 0
            && self.mtime_ns == stat.mtime_ns
            && self.ctime_ns == stat.ctime_ns
            && self.size == stat.size
            && self.inode == stat.inode
            && self.state.mode == mode
    }
}

/// The entries of a vault, by path.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileEntries {
    /// By path.
    pub map: BTreeMap<Box<str>, FileEntry>,
}

const NAME: &str = "entries";

impl FileEntries {
    /// The entries in the repository `dir`; none where the file is missing, torn or of another version.
    pub fn load(dir: &Path) -> Self {
        let bytes = fs::read(dir.join(NAME)).unwrap_or_default();
        decode(&bytes).unwrap_or_default()
    }

    /// Replaces the file in one step. A failure costs a re-read later and nothing else.
    pub fn save(&self, dir: &Path) {
        let path = dir.join(NAME);
        if let Err(error) = json_file::replace(&path, &encode(self), false) {
            tracing::debug!(%error, "entry file not written; the next walk reads more");
            let _ = fs::remove_file(&path);
        }
    }
}

/// The stored form: of each file its path, size, mtime, ctime, inode, mode and content's id.
type StoredEntries = Vec<(Box<str>, u64, i64, i64, u64, i32, [u8; 20])>;

fn encode(entries: &FileEntries) -> Vec<u8> {
    let files = entries.map.iter().map(|(path, entry)| {
        let FileState { id, mode } = entry.state;
        let id = id.as_bytes().try_into().unwrap_or_default();
        (path.clone(), entry.size, entry.mtime_ns, entry.ctime_ns, entry.inode, mode.raw(), id)
    });
    let payload = bitcode::encode(&files.collect::<StoredEntries>());
    [&MAGIC[..], blake3::hash(&payload).as_bytes(), &payload].concat()
}

fn decode(bytes: &[u8]) -> Option<FileEntries> {
    let (hash, payload) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
    if blake3::hash(payload).as_bytes() != hash {
        return None;
    }
    let files: StoredEntries = bitcode::decode(payload).ok()?;
    let entry = |(path, size, mtime_ns, ctime_ns, inode, mode, id): (_, _, _, _, _, _, [u8; 20])| {
        let state = FileState { id: Oid::from_bytes(&id).ok()?, mode: FileMode::from_raw(mode)? };
        Some((path, FileEntry { size, mtime_ns, ctime_ns, inode, state }))
    };
    Some(FileEntries { map: files.into_iter().map(entry).collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(size: u64, mtime_ns: i64) -> FileEntry {
        let id = Oid::hash_object(git2::ObjectType::Blob, b"x").unwrap();
        FileEntry { size, mtime_ns, ctime_ns: 0, inode: 7, state: FileState { id, mode: FileMode::File } }
    }

    #[test]
    fn a_file_that_was_just_written_proves_nothing() {
        let stat = Stat {
            size: 1,
            mtime_ns: 10_000_000_000,
            ctime_ns: 0,
            inode: 7,
            dev: 1,
            mode: 0o100_644,
            is_placeholder: false,
        };
        let state = entry(1, 0).state;
        assert!(!FileEntry::new(&stat, state, 11_000_000_000).proves(&stat, FileMode::File));
        let old = FileEntry::new(&stat, state, 12_000_000_000);
        assert!(old.proves(&stat, FileMode::File));
        assert!(!old.proves(&stat, FileMode::Executable));
        assert!(!old.proves(&Stat { inode: 8, ..stat }, FileMode::File));
        assert!(!old.proves(&Stat { mtime_ns: 10_000_000_001, ..stat }, FileMode::File));
        // A program has set the mtime back.
        assert!(!old.proves(&Stat { ctime_ns: 11_000_000_000, ..stat }, FileMode::File));
        let fresh = Stat { ctime_ns: 11_000_000_000, ..stat };
        assert!(!FileEntry::new(&fresh, state, 12_000_000_000).proves(&fresh, FileMode::File));
    }

    #[test]
    fn entries_are_read_back_and_a_torn_file_holds_none() {
        let dir = tempfile::tempdir().unwrap();
        let load = || FileEntries::load(dir.path());
        assert!(load().map.is_empty());
        let mut entries = FileEntries::default();
        entries.map.insert("a.md".into(), entry(1, 5));
        entries.map.insert("ü/b.md".into(), entry(2, 6));
        entries.save(dir.path());
        assert_eq!(load(), entries);
        let whole = fs::read(dir.path().join("entries")).unwrap();
        for cut in 0..whole.len() {
            fs::write(dir.path().join("entries"), &whole[..cut]).unwrap();
            assert_eq!(load(), FileEntries::default(), "cut at {cut}");
        }
    }
}
