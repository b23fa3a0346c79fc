//! Opens and manages the folder of the cache: its database, its segment files, its locks, and the snapshots
//! ([`Corpus`]) that queries read.
//!
//! A missing, damaged or outdated cache is rebuilt; on a full or read-only disk the cache is only read, or kept in
//! memory. `damage` seals the database's file with a checksum at each checkpoint, verifies all files on demand, and
//! replaces a damaged cache by an empty one.

mod damage;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use damage::{drop_logs, quick_check};
use rusqlite::Connection;

use crate::search::store::{Corpus, DATABASE, DatabaseState, Lock, Sealed, SegmentFiles, catalog, commit};
use crate::search::{IndexError, Result};

pub use damage::make_anew;

/// The way in which the cache can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Read and written.
    Writable,
    /// Read alone: the disk is read-only, or not ours. Why, for a person.
    ReadOnly(String),
    /// Not at all; everything is in memory. Why, for a person.
    Memory(String),
}

/// An open cache.
#[derive(Debug)]
pub struct Store {
    /// Its folder.
    pub root: PathBuf,
    /// The way in which it can be used.
    pub mode: Mode,
    files: Option<SegmentFiles>,
    corpus: Mutex<Option<Arc<Corpus>>>,
    /// Stays open, so that SQLite doesn't read its whole log again for each further connection.
    connection: Mutex<Connection>,
    /// The inputs of the index beside the notes, as text.
    pub fingerprint: String,
    identity: Option<(u64, u64)>,
    /// The damage for which it was made anew.
    mended: Mutex<Option<String>>,
}

/// A mutex's value, also after a panic of another thread.
pub(in crate::search) fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Opens the cache at `root`, making it where it is missing, of another version or damaged.
    pub fn open(root: &Path, fingerprint: &str) -> Result<Self> {
        let opened = match Self::open_writable(root, fingerprint, None) {
            Err(error) if error.is_damage() => Self::open_mended(root, fingerprint, &error, None),
            opened => opened,
        };
        match opened {
            Err(error) if error.is_full_or_read_only() => Self::open_read_only(root, fingerprint, &error)
                .or_else(|_| Self::in_memory(root, fingerprint, error.to_string())),
            opened => opened,
        }
    }

    /// Opens a cache in which the damage `why` was found, made anew unless another process has done so meanwhile: it is
    /// sound, and not of the making `epoch`.
    pub fn open_mended(root: &Path, fingerprint: &str, why: &IndexError, epoch: Option<i64>) -> Result<Self> {
        let writing = Lock::take(&root.join("write.lock"))?;
        match Self::open_writable(root, fingerprint, Some(&writing)) {
            Ok(store) if store.epoch() != epoch => return Ok(store),
            Err(error) if !error.is_damage() => return Err(error),
            _ => {}
        }
        tracing::debug!(%why, "the index is damaged and is rebuilt");
        make_anew(root, fingerprint, why)?;
        let opened = Self::open_writable(root, fingerprint, Some(&writing));
        opened.inspect(|store| *guard(&store.mended) = Some(why.damage()))
    }

    fn with(
        root: &Path,
        fingerprint: &str,
        mode: Mode,
        files: Option<SegmentFiles>,
        conn: Connection,
    ) -> Self {
        Self {
            root: root.to_owned(),
            mode,
            files,
            corpus: Mutex::default(),
            connection: Mutex::new(conn),
            fingerprint: fingerprint.to_owned(),
            identity: identity(root),
            mended: Mutex::default(),
        }
    }

    /// A message for `doctor` that the cache was damaged and rebuilt, returned once. Answers don't carry it: they are those
    /// of a fresh cache.
    pub fn take_mended(&self) -> Option<String> {
        let why = guard(&self.mended).take();
        why.map(|why| format!("the index was damaged ({why}) and was rebuilt"))
    }

    /// Whether the cache on disk is still the one that was opened. It may have been deleted.
    pub fn is_current(&self) -> bool {
        matches!(self.mode, Mode::Memory(_))
            || self.identity.is_some() && identity(&self.root) == self.identity
    }

    /// Opens the cache to be read and written, or not at all; `held` is the write lock, if the caller has it.
    pub fn open_writable(root: &Path, fingerprint: &str, held: Option<&Lock>) -> Result<Self> {
        fail::fail_point!("index-open-read-only", |_| Err(IndexError::cache(
            root,
            std::io::ErrorKind::ReadOnlyFilesystem.into()
        )));
        let segments = root.join("tantivy");
        let database = root.join(DATABASE);
        if !segments.is_dir() {
            std::fs::create_dir_all(&segments).map_err(|error| IndexError::cache(&segments, error))?;
        }
        // A process that makes the database or changes its file holds the lock, so the second look, under the lock, is final.
        let (mut found, mut own) = (Sealed::look(root, false), None);
        if held.is_none() && !matches!(found, Ok(DatabaseState::Whole)) {
            own = Some(Lock::take(&root.join("write.lock"))?);
            found = Sealed::look(root, false);
        }
        let (found, is_locked) = (found?, held.or(own.as_ref()).is_some());
        if found == DatabaseState::Nothing {
            drop_logs(root)?;
        }
        let conn = catalog::open(&database, true)?;
        if matches!(found, DatabaseState::Nothing | DatabaseState::Unsealed) {
            // One of an older version keeps its vectors.
            quick_check(&conn)?;
            conn.execute_batch("PRAGMA journal_mode = WAL")?;
        }
        let store = Self::with(root, fingerprint, Mode::Writable, Some(SegmentFiles::open(&segments)?), conn);
        match found {
            DatabaseState::Whole if store.is_ours()? => {}
            DatabaseState::Doubtful if store.is_ours()? => store.examine_locked()?,
            _ => {
                let _writing = if is_locked { None } else { Some(store.write_lock()?) };
                // Another process may have been faster.
                if is_locked || !store.is_ours()? {
                    store.begin(0)?;
                }
            }
        }
        Ok(store)
    }

    /// Whether the database is of this version and these settings. One without our tables is of another version.
    fn is_ours(&self) -> Result<bool> {
        let schema = catalog::get::<String>(&self.conn()?, "schema").unwrap_or_default();
        Ok(schema.as_deref() == Some(&*self.fingerprint))
    }

    fn open_read_only(root: &Path, fingerprint: &str, why: &IndexError) -> Result<Self> {
        let conn = catalog::open_immutable(&root.join(DATABASE))?;
        if !matches!(Sealed::look(root, false)?, DatabaseState::Whole | DatabaseState::Doubtful) {
            return Err(IndexError::Torn("it has no seal".to_owned()));
        }
        let files = SegmentFiles::open(&root.join("tantivy"))?;
        let store = Self::with(root, fingerprint, Mode::ReadOnly(why.to_string()), Some(files), conn);
        if !store.is_ours()? {
            return Err(IndexError::Torn("another version".to_owned()));
        }
        store.corpus(&store.conn()?)?;
        Ok(store)
    }

    /// A store that keeps nothing.
    pub fn in_memory(root: &Path, fingerprint: &str, why: String) -> Result<Self> {
        let conn = catalog::in_memory(fingerprint)?;
        Ok(Self::with(root, fingerprint, Mode::Memory(why), None, conn))
    }

    /// Whether it can be committed to.
    pub fn is_writable(&self) -> bool {
        self.mode == Mode::Writable
    }

    /// The folder of the segment files.
    pub fn segments(&self) -> PathBuf {
        self.root.join("tantivy")
    }

    /// Opens segments; none in memory.
    pub fn files(&self) -> Result<&SegmentFiles> {
        self.files.as_ref().ok_or_else(|| IndexError::Torn("there is no cache".to_owned()))
    }

    /// A connection to the database.
    pub fn conn(&self) -> Result<Connection> {
        let database = self.root.join(DATABASE);
        match self.mode {
            Mode::Writable => catalog::open(&database, false),
            Mode::ReadOnly(_) => catalog::open_immutable(&database),
            Mode::Memory(_) => catalog::in_memory(&self.fingerprint),
        }
    }

    /// The corpus that `conn`'s open transaction sees.
    pub fn corpus(&self, conn: &Connection) -> Result<Arc<Corpus>> {
        let Some(files) = &self.files else { return Ok(Arc::default()) };
        let last = catalog::last_commit(conn)?;
        let before = guard(&self.corpus).clone();
        let is_same = |known: &&Arc<Corpus>| {
            known.commit == last && known.segs.iter().all(|seg| files.is_untouched(seg))
        };
        if let Some(known) = before.as_ref().filter(is_same) {
            return Ok(Arc::clone(known));
        }
        let corpus = Arc::new(Corpus::load(conn, files, before.as_deref())?);
        *guard(&self.corpus) = Some(Arc::clone(&corpus));
        Ok(corpus)
    }

    /// A transaction and its corpus. A merge may remove a segment between the two; then once more, while no process
    /// writes.
    pub fn snapshot(&self) -> Result<(Connection, Arc<Corpus>)> {
        match self.begun() {
            Err(IndexError::FullText(_) | IndexError::Torn(_)) if self.is_writable() => {
                let _writing = self.write_lock()?;
                self.begun()
            }
            begun => begun,
        }
    }

    /// Begins a transaction and loads its corpus.
    fn begun(&self) -> Result<(Connection, Arc<Corpus>)> {
        let conn = self.conn()?;
        conn.execute_batch("BEGIN")?;
        let corpus = self.corpus(&conn)?;
        Ok((conn, corpus))
    }

    /// Which making of the index it is; none where that can't be read.
    pub fn epoch(&self) -> Option<i64> {
        Some(catalog::last_commit(&guard(&self.connection)).ok()?.epoch)
    }

    /// The write lock, waiting for its holder.
    pub fn write_lock(&self) -> Result<Lock> {
        Lock::take(&self.root.join("write.lock"))
    }

    /// The write lock, if it is free.
    pub fn try_write_lock(&self) -> Result<Option<Lock>> {
        Lock::try_take(&self.root.join("write.lock"))
    }

    /// The write lock of a writable cache. If another process holds it, this waits for it, or gives up.
    pub fn lock_to_write(&self, wait: bool) -> Result<Lock> {
        if let Mode::ReadOnly(why) | Mode::Memory(why) = &self.mode {
            return Err(IndexError::Unwritable(why.clone()));
        }
        if wait { self.write_lock() } else { self.try_write_lock()?.ok_or(IndexError::Busy) }
    }

    /// Merges segments while some are worth it, each merge of at most `most` living documents; none while another
    /// process writes.
    pub fn compact(&self, most: u64) -> Result<()> {
        while self.is_writable() {
            let Some(_writing) = self.try_write_lock()? else { break };
            let (_, corpus) = self.begun()?;
            let Some(chosen) = commit::choose(&corpus, most) else { break };
            commit::merge(&self.conn()?, &corpus, self.files()?, &chosen)?;
            self.committed()?;
        }
        Ok(())
    }

    /// Removes files that a crash left behind, if no process is writing.
    pub fn sweep(&self) -> Result<()> {
        if self.is_writable()
            && let Some(_writing) = self.try_write_lock()?
        {
            commit::sweep(&self.conn()?, &self.segments())?;
        }
        Ok(())
    }
}

impl Drop for Store {
    /// Empties SQLite's log, which the next process would have to read, if no other process is writing.
    fn drop(&mut self) {
        if self.is_writable()
            && self.log_length() > 0
            && self.is_current()
            && let Ok(Some(_writing)) = self.try_write_lock()
            && self.is_current()
            && let Err(error) = self.checkpoint()
        {
            tracing::debug!(%error, "no checkpoint at the end");
        }
    }
}

/// The identity of the database's file.
fn identity(root: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let stat = std::fs::metadata(root.join(DATABASE)).ok()?;
    Some((stat.dev(), stat.ino()))
}

#[cfg(test)]
mod tests;
