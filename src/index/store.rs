//! The cache's folder: its database, its segment files, its locks, and the views of them.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::IndexError;
use super::catalog;
use super::commit;
use super::directory::SegmentDirectory;
use super::lock::Lock;
use super::schema::Fields;
use super::segment::SegmentFiles;
use super::view::{Readers, View};

/// How the cache can be used.
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
pub struct Store {
    /// Its folder.
    pub root: PathBuf,
    /// How it can be used.
    pub mode: Mode,
    /// The schema.
    pub fields: Fields,
    files: Option<SegmentFiles>,
    readers: Readers,
    view: Mutex<Option<Arc<View>>>,
    pool: Mutex<Vec<Connection>>,
    fingerprint: String,
    identity: Option<(u64, u64)>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("root", &self.root).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// A connection that goes back to its store.
#[derive(Debug)]
pub struct Pooled<'a> {
    store: &'a Store,
    conn: Option<Connection>,
}

impl std::ops::Deref for Pooled<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.conn.as_ref().expect("the connection is there until the drop")
    }
}

impl std::ops::DerefMut for Pooled<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.conn.as_mut().expect("the connection is there until the drop")
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            if !conn.is_autocommit() {
                let _ = conn.execute_batch("ROLLBACK");
            }
            guard(&self.store.pool).push(conn);
        }
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Opens the cache at `root`, making it where it is missing, of another version or damaged.
    pub fn open(root: &Path, fingerprint: &str) -> Result<Self, IndexError> {
        match Self::open_writable(root, fingerprint) {
            Ok(store) => Ok(store),
            Err(error) if error.is_damage() => {
                tracing::warn!(%error, "the index is damaged and is made anew");
                wipe(root)?;
                Self::open_writable(root, fingerprint)
            }
            Err(error) if error.is_full_or_read_only() => {
                match Self::open_read_only(root, fingerprint, &error) {
                    Ok(store) => Ok(store),
                    Err(_) => Self::in_memory(root, fingerprint, error.to_string()),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn with(
        root: &Path,
        fingerprint: &str,
        mode: Mode,
        files: Option<SegmentFiles>,
        conn: Connection,
    ) -> Result<Self, IndexError> {
        Ok(Self {
            root: root.to_owned(),
            mode,
            fields: Fields::new(),
            files,
            readers: Readers::default(),
            view: Mutex::default(),
            pool: Mutex::new(vec![conn]),
            fingerprint: fingerprint.to_owned(),
            identity: identity(root),
        })
    }

    /// Whether the cache on disk is still the one that was opened; somebody may have deleted it.
    pub fn is_current(&self) -> bool {
        matches!(self.mode, Mode::Memory(_))
            || self.identity.is_some() && identity(&self.root) == self.identity
    }

    fn open_writable(root: &Path, fingerprint: &str) -> Result<Self, IndexError> {
        fail::fail_point!("index-open-read-only", |_| Err(IndexError::cache(
            root,
            std::io::ErrorKind::ReadOnlyFilesystem.into()
        )));
        let segments = root.join("tantivy");
        let database = root.join("index.sqlite");
        if !segments.is_dir() {
            std::fs::create_dir_all(&segments).map_err(|error| IndexError::cache(&segments, error))?;
        }
        // Whoever reads a database that is just being made keeps its maker from turning it to WAL, and neither waits.
        let making = if is_wal(&database) { None } else { Some(Lock::take(&root.join("write.lock"))?) };
        let conn = catalog::open(&database, true)?;
        if making.is_some() {
            conn.execute_batch("PRAGMA journal_mode = WAL")?;
        }
        drop(making);
        let known = catalog::get::<String>(&conn, "schema").or_else(no_table)?;
        let store =
            Self::with(root, fingerprint, Mode::Writable, Some(SegmentFiles::open(&segments)?), conn)?;
        if known.as_deref() != Some(fingerprint) {
            let _write = store.write_lock()?;
            let conn = store.conn()?;
            // Another process may have been faster.
            if catalog::get::<String>(&conn, "schema").or_else(no_table)?.as_deref() != Some(fingerprint) {
                conn.execute_batch("BEGIN IMMEDIATE")?;
                catalog::reset(&conn, fingerprint)?;
                catalog::set(&conn, "boot", boot_id())?;
                conn.execute_batch("COMMIT")?;
            }
        } else {
            store.check_after_boot()?;
        }
        Ok(store)
    }

    fn open_read_only(root: &Path, fingerprint: &str, why: &IndexError) -> Result<Self, IndexError> {
        let conn = catalog::open_immutable(&root.join("index.sqlite"))?;
        if catalog::get::<String>(&conn, "schema")?.as_deref() != Some(fingerprint) {
            return Err(IndexError::Torn("another version".to_owned()));
        }
        let files = SegmentFiles::open(&root.join("tantivy"))?;
        let store = Self::with(root, fingerprint, Mode::ReadOnly(why.to_string()), Some(files), conn)?;
        store.view(&*store.conn()?)?;
        Ok(store)
    }

    /// A store that keeps nothing.
    pub fn in_memory(root: &Path, fingerprint: &str, why: String) -> Result<Self, IndexError> {
        let conn = catalog::in_memory()?;
        catalog::reset(&conn, fingerprint)?;
        Self::with(root, fingerprint, Mode::Memory(why), None, conn)
    }

    /// Whether it can be committed to.
    pub fn is_writable(&self) -> bool {
        self.mode == Mode::Writable
    }

    /// Where segment files are.
    pub fn segments(&self) -> PathBuf {
        self.root.join("tantivy")
    }

    /// Opens segments; none in memory.
    pub fn files(&self) -> Result<&SegmentFiles, IndexError> {
        self.files.as_ref().ok_or_else(|| IndexError::Torn("there is no cache".to_owned()))
    }

    /// What the index depends on beside the notes.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// A connection to the database.
    pub fn conn(&self) -> Result<Pooled<'_>, IndexError> {
        let known = guard(&self.pool).pop();
        let conn = match (known, &self.mode) {
            (Some(conn), _) => conn,
            (None, Mode::Writable) => catalog::open(&self.root.join("index.sqlite"), false)?,
            (None, Mode::ReadOnly(_)) => catalog::open_immutable(&self.root.join("index.sqlite"))?,
            (None, Mode::Memory(_)) => {
                let conn = catalog::in_memory()?;
                catalog::reset(&conn, &self.fingerprint)?;
                conn
            }
        };
        Ok(Pooled { store: self, conn: Some(conn) })
    }

    /// The view that `conn`'s open transaction sees.
    pub fn view(&self, conn: &Connection) -> Result<Arc<View>, IndexError> {
        if self.files.is_none() {
            return Ok(Arc::default());
        }
        let generation = catalog::totals(conn)?.generation;
        if let Some(view) = guard(&self.view).as_ref().filter(|view| view.totals.generation == generation) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(View::load(conn, self.files()?, &self.readers)?);
        *guard(&self.view) = Some(Arc::clone(&view));
        Ok(view)
    }

    /// Begins a transaction and loads its view. A merge may remove a segment between the two; then once
    /// more.
    pub fn snapshot(&self) -> Result<(Pooled<'_>, Arc<View>), IndexError> {
        let mut tries = 0;
        loop {
            let conn = self.conn()?;
            conn.execute_batch("BEGIN")?;
            match self.view(&conn) {
                Ok(view) => return Ok((conn, view)),
                Err(IndexError::FullText(_)) if tries < 3 => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The right to commit, waiting for whoever has it.
    pub fn write_lock(&self) -> Result<Lock, IndexError> {
        Lock::take(&self.root.join("write.lock"))
    }

    /// The right to commit, if nobody has it.
    pub fn try_write_lock(&self) -> Result<Option<Lock>, IndexError> {
        Lock::try_take(&self.root.join("write.lock"))
    }

    /// Merges segments while some are worth it, each merge of at most `most` living documents. Returns
    /// how many merges were made; none while another process merges.
    pub fn compact(&self, most: u64) -> Result<usize, IndexError> {
        if !self.is_writable() {
            return Ok(0);
        }
        let Some(_merging) = Lock::try_take(&self.root.join("merge.lock"))? else { return Ok(0) };
        let mut merges = 0;
        loop {
            let merged = {
                let (conn, view) = self.snapshot()?;
                let Some(chosen) = commit::choose(&view, most) else { return Ok(merges) };
                commit::merge(&conn, &view, self.files()?, &self.segments(), &chosen)?
            };
            let _writing = self.write_lock()?;
            if commit::commit_merge(&mut *self.conn()?, &merged, &self.segments())? {
                merges += 1;
            }
        }
    }

    /// Removes files that a crash left behind, if nobody is writing any.
    pub fn sweep(&self) -> Result<usize, IndexError> {
        if !self.is_writable() {
            return Ok(0);
        }
        let Some(_merging) = Lock::try_take(&self.root.join("merge.lock"))? else { return Ok(0) };
        let Some(_writing) = self.try_write_lock()? else { return Ok(0) };
        commit::sweep(&*self.conn()?, &self.segments())
    }

    /// After a start of the machine, what was written without waiting for the disk may be torn: looks.
    fn check_after_boot(&self) -> Result<(), IndexError> {
        let boot = boot_id();
        let conn = self.conn()?;
        if catalog::get::<String>(&conn, "boot")?.as_deref() == Some(boot.as_str()) {
            return Ok(());
        }
        let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(IndexError::Torn(verdict));
        }
        let view = self.view(&conn)?;
        for (seg, row) in view.segs.iter().zip(catalog::segments(&conn)?) {
            if seg.reader.max_doc() != row.docs {
                return Err(IndexError::Torn(format!("segment {} is not whole", row.uuid)));
            }
        }
        check_files(&self.segments(), &view)?;
        // The last commits may be lost, and their numbers given to others.
        catalog::begin_epoch(&conn)?;
        catalog::set(&conn, "boot", boot)
    }
}

/// Compares each segment file's checksum with its end.
fn check_files(root: &Path, view: &View) -> Result<(), IndexError> {
    let directory = SegmentDirectory::open(root).map_err(tantivy::TantivyError::from)?;
    let directory: Box<dyn tantivy::Directory> = Box::new(directory);
    let managed = tantivy::directory::ManagedDirectory::wrap(directory)?;
    for seg in &view.segs {
        let name = seg.reader.segment_id().uuid_string();
        for entry in std::fs::read_dir(root).map_err(|error| IndexError::cache(root, error))?.flatten() {
            let file = PathBuf::from(entry.file_name());
            if file.to_string_lossy().starts_with(&name)
                && !managed.validate_checksum(&file).map_err(tantivy::TantivyError::from)?
            {
                return Err(IndexError::Torn(format!("`{}` has a wrong checksum", file.display())));
            }
        }
    }
    Ok(())
}

/// Which file the database is.
fn identity(root: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let stat = std::fs::metadata(root.join("index.sqlite")).ok()?;
    Some((stat.dev(), stat.ino()))
}

/// Which start of the machine this is; empty where the system doesn't say.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Whether a database's header says that it is written by a log of its own.
fn is_wal(database: &Path) -> bool {
    let mut header = [0; 20];
    let read = std::fs::File::open(database).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18..] == [2, 2]
}

/// A database without our tables is one of another version.
fn no_table(error: IndexError) -> Result<Option<String>, IndexError> {
    match error {
        IndexError::Database(rusqlite::Error::SqliteFailure(failure, _))
            if failure.code == rusqlite::ErrorCode::Unknown =>
        {
            Ok(None)
        }
        error => Err(error),
    }
}

/// Removes all that the index keeps under `root`.
pub fn wipe(root: &Path) -> Result<(), IndexError> {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"] {
        remove(std::fs::remove_file(root.join(name)), &root.join(name))?;
    }
    remove(std::fs::remove_dir_all(root.join("tantivy")), &root.join("tantivy"))
}

fn remove(result: std::io::Result<()>, path: &Path) -> Result<(), IndexError> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::cache(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_may_make_the_cache_at_once() {
        for _ in 0..40 {
            let dir = tempfile::tempdir().unwrap();
            let open = || Store::open(dir.path(), "a version").map(drop);
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
            });
        }
    }
}
