//! What the last snapshot saw of each file: size, times, identity and content hash.
//!
//! The full walk compares these with the file system and reads only what differs. The file is a log of
//! records beside the repository: a small snapshot appends, a full walk rewrites. It is worth nothing:
//! deleted, torn or stale, the next walk reads every file and writes it anew. The content's hash is the
//! truth; an entry whose file changed within [`RACY_NS`] of being read proves nothing and is read again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::history::store::{FileState, Mode};
use crate::vault::Stat;

/// A file whose mtime is closer than this to the moment when it was read may have changed since
/// without a sign (FAT stores two-second steps), in nanoseconds.
pub const RACY_NS: i64 = 2_000_000_000;

const MAGIC: &[u8; 8] = b"vaentr01";

/// A file as it was when its content was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Length in bytes.
    pub size: u64,
    /// Last change, in nanoseconds since 1970; 0 where it was too fresh to be trusted.
    pub mtime_ns: i64,
    /// The file's number.
    pub inode: u64,
    /// Content and kind.
    pub state: FileState,
}

impl Entry {
    /// The entry for a file whose content was hashed at `read_at_ns`.
    pub fn new(stat: &Stat, state: FileState, read_at_ns: i64) -> Self {
        let racy = stat.mtime_ns.saturating_add(RACY_NS) > read_at_ns;
        Self { size: stat.size, mtime_ns: if racy { 0 } else { stat.mtime_ns }, inode: stat.inode, state }
    }

    /// Whether the file's content is certainly the one that was hashed.
    pub fn proves(&self, stat: &Stat, mode: Mode) -> bool {
        self.mtime_ns != 0
            && self.mtime_ns == stat.mtime_ns
            && self.size == stat.size
            && self.inode == stat.inode
            && self.state.mode == mode
    }
}

/// The entries of a vault, by path.
#[derive(Debug, Default)]
pub struct Entries {
    /// By path.
    pub map: BTreeMap<Box<str>, Entry>,
    /// The tree that they describe exactly, if they do.
    pub tree: Option<Oid>,
    /// The tree that they described before the records that came after it.
    base: Option<Oid>,
    records: usize,
}

/// Where the entries are kept.
#[derive(Debug, Clone)]
pub struct EntryFile(PathBuf);

impl EntryFile {
    /// The file in the repository `dir`.
    pub fn new(dir: &Path) -> Self {
        Self(dir.join("entries"))
    }

    /// Reads what is there; nothing where it is missing or another version, all up to the first torn
    /// record otherwise.
    pub fn load(&self) -> Entries {
        let bytes = fs::read(&self.0).unwrap_or_default();
        let mut entries = Entries::default();
        let Some(mut rest) = bytes.strip_prefix(MAGIC) else { return entries };
        let mut torn = false;
        while !rest.is_empty() {
            match decode(rest) {
                Some((record, used)) => {
                    entries.apply(&record);
                    rest = &rest[used..];
                }
                None => {
                    torn = true;
                    break;
                }
            }
        }
        if torn {
            entries.tree = None;
        }
        entries
    }

    /// Adds what a small snapshot saw, which turned the tree `from` into `to`. A failure costs a re-read
    /// later and nothing else.
    pub fn append<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a str, Option<Entry>)>,
        from: Oid,
        to: Oid,
    ) {
        let mut out = Vec::new();
        for (path, entry) in changes {
            encode(&mut out, path, entry.as_ref());
        }
        encode_tree(&mut out, from, to);
        let done = OpenOptions::new().append(true).open(&self.0).and_then(|mut file| file.write_all(&out));
        if let Err(error) = done {
            tracing::debug!(%error, "entry file not extended; the next walk reads more");
            let _ = fs::remove_file(&self.0);
        }
    }

    /// Replaces the file by `entries`, in one step.
    pub fn rewrite(&self, entries: &Entries) {
        let temporary = self.0.with_extension("new");
        let write = || {
            let mut out = std::io::BufWriter::new(File::create(&temporary)?);
            out.write_all(MAGIC)?;
            let mut record = Vec::new();
            for (path, entry) in &entries.map {
                record.clear();
                encode(&mut record, path, Some(entry));
                out.write_all(&record)?;
            }
            if let Some(tree) = entries.tree {
                record.clear();
                encode_tree(&mut record, Oid::ZERO_SHA1, tree);
                out.write_all(&record)?;
            }
            out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            fs::rename(&temporary, &self.0)
        };
        if let Err(error) = write() {
            tracing::debug!(%error, "entry file not written; the next walk reads more");
            let _ = fs::remove_file(&self.0);
        }
    }
}

impl Entries {
    /// Whether so many records are outdated that a rewrite pays.
    pub fn is_wasteful(&self) -> bool {
        self.records > 2 * self.map.len() + 1_000
    }

    fn apply(&mut self, record: &Record<'_>) {
        self.records += 1;
        match *record {
            Record::Seen(path, entry) => drop(self.map.insert(path.into(), entry)),
            Record::Gone(path) => drop(self.map.remove(path)),
            Record::Tree(from, to) => {
                // A record whose base isn't the tree before it follows a change that nobody noted.
                self.base = (from.is_zero() || self.base == Some(from)).then_some(to);
                self.tree = self.base;
                return;
            }
        }
        self.tree = None;
    }
}

#[derive(Clone, Copy)]
enum Record<'a> {
    Seen(&'a str, Entry),
    Gone(&'a str),
    /// From which tree to which.
    Tree(Oid, Oid),
}

const SEEN_BYTES: usize = 8 + 8 + 8 + 1 + 20;

/// A record: kind, length of the path, path, fields, and a byte that catches a torn end.
fn encode(out: &mut Vec<u8>, path: &str, entry: Option<&Entry>) {
    let Ok(len) = u16::try_from(path.len()) else { return };
    out.push(if entry.is_some() { b'S' } else { b'G' });
    out.extend(len.to_le_bytes());
    out.extend(path.as_bytes());
    if let Some(entry) = entry {
        out.extend(entry.size.to_le_bytes());
        out.extend(entry.mtime_ns.to_le_bytes());
        out.extend(entry.inode.to_le_bytes());
        out.push(entry.state.mode as u8);
        out.extend(entry.state.id.as_bytes());
    }
    out.push(b'\n');
}

fn encode_tree(out: &mut Vec<u8>, from: Oid, to: Oid) {
    out.push(b'T');
    out.extend(40_u16.to_le_bytes());
    out.extend(from.as_bytes());
    out.extend(to.as_bytes());
    out.push(b'\n');
}

fn decode(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let kind = *bytes.first()?;
    let len = usize::from(u16::from_le_bytes(bytes.get(1..3)?.try_into().ok()?));
    let path = bytes.get(3..3 + len)?;
    let at = 3 + len;
    let (record, end) = match kind {
        b'T' => {
            (Record::Tree(Oid::from_bytes(path.get(..20)?).ok()?, Oid::from_bytes(path.get(20..)?).ok()?), at)
        }
        b'G' => (Record::Gone(std::str::from_utf8(path).ok()?), at),
        b'S' => {
            let fields = bytes.get(at..at + SEEN_BYTES)?;
            let mode = match fields[24] {
                0 => Mode::File,
                1 => Mode::Executable,
                2 => Mode::Link,
                _ => return None,
            };
            let entry = Entry {
                size: u64::from_le_bytes(fields[..8].try_into().ok()?),
                mtime_ns: i64::from_le_bytes(fields[8..16].try_into().ok()?),
                inode: u64::from_le_bytes(fields[16..24].try_into().ok()?),
                state: FileState { id: Oid::from_bytes(&fields[25..]).ok()?, mode },
            };
            (Record::Seen(std::str::from_utf8(path).ok()?, entry), at + SEEN_BYTES)
        }
        _ => return None,
    };
    (bytes.get(end) == Some(&b'\n')).then_some((record, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(size: u64, mtime_ns: i64) -> Entry {
        let id = Oid::hash_object(git2::ObjectType::Blob, b"x").unwrap();
        Entry { size, mtime_ns, inode: 7, state: FileState { id, mode: Mode::File } }
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
        assert!(!Entry::new(&stat, state, 11_000_000_000).proves(&stat, Mode::File));
        let old = Entry::new(&stat, state, 12_000_000_000);
        assert!(old.proves(&stat, Mode::File));
        assert!(!old.proves(&stat, Mode::Executable));
        assert!(!old.proves(&Stat { inode: 8, ..stat }, Mode::File));
        assert!(!old.proves(&Stat { mtime_ns: 10_000_000_001, ..stat }, Mode::File));
    }

    #[test]
    fn the_log_is_read_back_and_a_torn_end_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let file = EntryFile::new(dir.path());
        assert!(file.load().map.is_empty());
        let tree = Oid::hash_object(git2::ObjectType::Tree, b"").unwrap();
        let next = Oid::hash_object(git2::ObjectType::Tree, b"next").unwrap();
        let mut entries = Entries { tree: Some(tree), ..Entries::default() };
        entries.map.insert("a.md".into(), entry(1, 5));
        entries.map.insert("ü/b.md".into(), entry(2, 6));
        file.rewrite(&entries);
        file.append([("a.md", None), ("c.md", Some(entry(3, 9)))], tree, next);
        let read = file.load();
        assert_eq!(read.map.keys().map(|k| &**k).collect::<Vec<_>>(), ["c.md", "ü/b.md"]);
        assert_eq!(read.tree, Some(next));

        let whole = fs::read(dir.path().join("entries")).unwrap();
        for cut in 0..whole.len() {
            fs::write(dir.path().join("entries"), &whole[..cut]).unwrap();
            let read = file.load();
            assert!(read.tree.is_none() || read.tree == Some(tree) && read.map.len() == 2, "cut at {cut}");
        }
    }

    #[test]
    fn entries_do_not_claim_a_tree_whose_base_they_never_described() {
        let dir = tempfile::tempdir().unwrap();
        let file = EntryFile::new(dir.path());
        let [a, b, c] = [b"a", b"b", b"c"].map(|x| Oid::hash_object(git2::ObjectType::Tree, x).unwrap());
        file.rewrite(&Entries { tree: Some(a), ..Entries::default() });
        file.append([("x.md", Some(entry(1, 1)))], b, c);
        assert_eq!(file.load().tree, None);
        file.append([("y.md", Some(entry(1, 1)))], c, a);
        assert_eq!(file.load().tree, None);
    }
}
