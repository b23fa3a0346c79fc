//! Keeps the edit journal: the planned write of a note is in it, on disk, before the note is changed.
//!
//! The journal is one file, `edits/journal` in the state directory. The file is reused, and its first block stays
//! allocated as long as the file can be written, so a durable entry needs only one flush.
//!
//! The journal holds at most one entry, because edits are made one at a time. The process that makes or recovers an
//! edit holds the lock `edits/lock`, which the kernel releases when the process dies. So an open entry that is read
//! under the lock always belongs to an interrupted edit.
//!
//! An entry counts only if its checksum is right; a torn entry belongs to an edit that had not begun. Clearing an entry
//! is not made durable: if an old entry comes back after a power cut, recovery finds its edit already done.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use crate::vault::plan::FileImages;
use crate::vault::prelude::*;
use crate::vault::{ChangeReason, EditError, NotePath, ObservedChange, Result};

const MAGIC: &[u8; 16] = b"vault-agent-j01\n";
const STATE_AT: u64 = 16;
const OPEN: u8 = b'o';
const CLEAR: u8 = b'c';
const HEADER: usize = 512;
/// The journal is made this long at once, and cut back to it after a large entry.
const PREPARED: u64 = 64 * 1024;
/// Its folder in the state directory.
pub(super) const FOLDER: &str = "edits";
/// The longest wait for a lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const KEEP: u64 = 4 * 1024 * 1024;

/// The kind of the planned change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EditKind {
    /// Written in place.
    InPlace,
    /// Exchanged with the temporary file of that name beside it.
    Swap {
        /// Name of the temporary file, in the note's real folder.
        temp: String,
    },
    /// Made anew, from the temporary file of that name.
    Create {
        /// Name of the temporary file, in the note's real folder.
        temp: String,
    },
    /// Removed, by renaming it to that name beside it.
    Remove {
        /// Name it is kept under for a minute.
        kept: String,
    },
}

/// An edit that was about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JournalEntry {
    pub kind: EditKind,
    pub path: NotePath,
    pub why: ChangeReason,
    pub images: FileImages,
}

#[derive(Serialize, Deserialize)]
struct Head {
    kind: EditKind,
    path: NotePath,
    why: ChangeReason,
    pre_len: usize,
    /// The offset where the images begin to differ.
    at: usize,
}

impl JournalEntry {
    /// The note's bytes before the edit; none of one that it creates.
    pub(super) fn before(&self) -> Option<&[u8]> {
        (!matches!(self.kind, EditKind::Create { .. })).then_some(&self.images.pre)
    }

    /// The change as observers get it.
    pub(super) fn change<'a>(&'a self, after: Option<&'a [u8]>) -> ObservedChange<'a> {
        ObservedChange { path: &self.path, before: self.before(), after, why: &self.why }
    }

    fn encode(&self) -> io::Result<Vec<u8>> {
        let FileImages { pre, post } = &self.images;
        let [old, new] = self.images.differing();
        let head = serde_json::to_vec(&Head {
            kind: self.kind.clone(),
            path: self.path.clone(),
            why: self.why.clone(),
            pre_len: pre.len(),
            at: old.start,
        })?;
        let mut bytes = vec![0; HEADER];
        for part in [&head[..], &pre[old], &post[new], pre] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        let sum = blake3::hash(&bytes[HEADER..]);
        let len = (bytes.len() - HEADER) as u64;
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16] = OPEN;
        bytes[24..32].copy_from_slice(&len.to_le_bytes());
        bytes[32..64].copy_from_slice(sum.as_bytes());
        Ok(bytes)
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let mut rest = payload;
        let mut part = || {
            let (len, after) = rest.split_first_chunk::<8>()?;
            let (part, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
            rest = after;
            Some(part)
        };
        let head: Head = serde_json::from_slice(part()?).ok()?;
        let (old, new, pre) = (part()?, part()?, part()?.to_vec());
        let rest = pre.get(head.at..)?.strip_prefix(old)?;
        let post = [&pre[..head.at], new, rest].concat();
        let is_whole = pre.len() == head.pre_len;
        let images = FileImages { pre, post };
        is_whole.then_some(Self { kind: head.kind, path: head.path, why: head.why, images })
    }
}

/// The file for a note's entry that is set aside.
fn stuck_file(edits: &Path, path: &NotePath) -> PathBuf {
    edits.join("stuck").join(blake3::hash(path.as_str().as_bytes()).to_hex().as_str())
}

fn decode_whole(bytes: &[u8]) -> Option<JournalEntry> {
    let (header, payload) = bytes.split_at_checked(HEADER)?;
    (blake3::hash(payload).as_bytes() == &header[32..64]).then(|| JournalEntry::decode(payload))?
}

fn read_entry(file: &File) -> io::Result<Option<JournalEntry>> {
    let mut header = [0; 64];
    if file.metadata()?.len() < HEADER as u64 {
        return Ok(None);
    }
    file.read_exact_at(&mut header, 0)?;
    if header[..16] != *MAGIC || header[16] != OPEN {
        return Ok(None);
    }
    let len = header[24..32].try_into().map(u64::from_le_bytes).map_err(io::Error::other)?;
    if len > file.metadata()?.len().saturating_sub(HEADER as u64) {
        return Ok(None);
    }
    let mut whole = vec![0; HEADER + usize::try_from(len).map_err(io::Error::other)?];
    file.read_exact_at(&mut whole, 0)?;
    Ok(decode_whole(&whole))
}

/// The note whose edit is in the journal of the state directory, read without the journal's lock. The entry stays until
/// observers have taken the write, so it is certain for a caller that keeps them waiting.
pub(crate) fn edited_note(state: &Path) -> Option<NotePath> {
    let file = File::open(state.join(FOLDER).join("journal")).ok()?;
    read_entry(&file).ok()?.map(|entry| entry.path)
}

/// The journal's file and its lock.
#[derive(Debug)]
pub(in crate::vault) struct Journal {
    path: PathBuf,
    file: File,
    lock: File,
}

impl Journal {
    /// The journal in the folder `edits`, which is made if need be.
    pub(in crate::vault) fn open(edits: &Path) -> Result<Self> {
        let path = edits.join("journal");
        let open = || -> io::Result<(File, File)> {
            std::fs::create_dir_all(edits)?;
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let lock = options.open(edits.join("lock"))?;
            let file = options.open(&path)?;
            if file.metadata()?.len() < PREPARED {
                // Real zeros, not a hole: later entries then change no metadata of the file system.
                lock.lock()?;
                let len = file.metadata()?.len();
                if len < PREPARED {
                    file.write_all_at(&vec![0; usize::try_from(PREPARED - len).unwrap_or(0)], len)?;
                    file.sync_all()?;
                    File::open(edits)?.sync_all()?;
                }
                lock.unlock()?;
            }
            Ok((file, lock))
        };
        let (file, lock) = open().map_err(|source| EditError::Journal(path.clone(), source))?;
        Ok(Self { path, file, lock })
    }

    /// Waits until no other process is editing or recovering, which takes milliseconds unless one was
    /// stopped in the middle.
    pub(in crate::vault) fn lock(&self) -> Result<JournalLock<'_>> {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(100);
        loop {
            match self.lock.try_lock() {
                Ok(()) => return Ok(JournalLock { journal: self }),
                Err(TryLockError::Error(source)) => return Err(self.error(source)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_PATIENCE => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    let words = "another process of vault-agent has been in the middle of an edit for 10 s; is it stopped?";
                    return Err(self.error(io::Error::new(io::ErrorKind::WouldBlock, words)));
                }
            }
        }
    }

    fn edits(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    fn error(&self, source: io::Error) -> EditError {
        EditError::Journal(self.path.clone(), source)
    }
}

/// The right to edit, until dropped.
#[derive(Debug)]
pub(super) struct JournalLock<'j> {
    journal: &'j Journal,
}

impl JournalLock<'_> {
    /// The entry of an interrupted edit.
    pub(super) fn entry(&self) -> Result<Option<JournalEntry>> {
        read_entry(&self.journal.file).map_err(|source| self.journal.error(source))
    }

    /// Makes an entry durable; afterwards the note may be touched.
    pub(super) fn write(&self, entry: &JournalEntry) -> Result<()> {
        let write = || -> io::Result<()> {
            let bytes = entry.encode()?;
            self.journal.file.write_all_at(&bytes, 0)?;
            self.journal.file.sync_data()
        };
        write().map_err(|source| {
            // A half-written entry fails its checksum; clearing says so even if the disk is full.
            drop(self.mark_clear());
            self.journal.error(source)
        })
    }

    /// Moves the open entry, which can't be recovered now, to the folder `stuck`, so that other notes can be edited
    /// meanwhile.
    pub(super) fn set_aside(&self, entry: &JournalEntry) -> Result<()> {
        let file = stuck_file(self.journal.edits(), &entry.path);
        let save = || -> io::Result<()> {
            let stuck = self.journal.edits().join("stuck");
            std::fs::create_dir_all(&stuck)?;
            std::fs::write(&file, entry.encode()?)?;
            File::open(&file)?.sync_all()?;
            File::open(&stuck)?.sync_all()
        };
        save().map_err(|source| EditError::Journal(file.clone(), source))?;
        self.clear()
    }

    /// The entries that were set aside, or the one for a note.
    pub(super) fn set_aside_entries(&self, only: Option<&NotePath>) -> Vec<JournalEntry> {
        let files = std::fs::read_dir(self.journal.edits().join("stuck")).into_iter().flatten().flatten();
        let entries = files.filter_map(|file| decode_whole(&std::fs::read(file.path()).ok()?));
        entries.filter(|entry| only.is_none_or(|path| entry.path == *path)).collect()
    }

    /// Removes an entry that was set aside and is now recovered.
    pub(super) fn clear_set_aside(&self, path: &NotePath) {
        drop(std::fs::remove_file(stuck_file(self.journal.edits(), path)));
    }

    /// Clears the journal after an edit.
    pub(super) fn clear(&self) -> Result<()> {
        fail::fail_point!("vault::journal::clear", |_| Err(self.journal.error(io::Error::other("no room"))));
        self.mark_clear().map_err(|source| self.journal.error(source))
    }

    fn mark_clear(&self) -> io::Result<()> {
        let file = &self.journal.file;
        let mark = || {
            fail::fail_point!("vault::journal::mark", |_| Err(io::Error::other("no room")));
            file.write_all_at(&[CLEAR], STATE_AT)
        };
        // An entry that stays open may be carried out later. To cut the file off needs no room.
        mark().or_else(|_| file.set_len(0))?;
        if file.metadata()?.len() > KEEP {
            file.set_len(PREPARED)?;
        }
        Ok(())
    }
}

impl Drop for JournalLock<'_> {
    fn drop(&mut self) {
        // The kernel does the same when the process ends, so an error has no consequence.
        drop(self.journal.lock.unlock());
    }
}
