//! Opens the bare repository (makes it if it is missing), reads it, and writes objects and the branch.
//!
//! The repository is an ordinary git repository with one branch, `main`. The history is linear, except for commits that
//! join the history of a remote ([`CommitWalk`](super::walk::CommitWalk)). The repository has no index and no work
//! tree. libgit2 reads neither the system's nor the user's git configuration here; only pushes and fetches
//! (`history::remote`) run the user's own git. The vault's own `.git` is never read.
//!
//! libgit2 writes loose objects without waiting for the disk. [`ObjectWriter::sync`] waits for all of them before the
//! branch moves: it syncs each file, or, on Linux, the whole file system if there are many files.

use std::cell::RefCell;
use std::fs::{self, File};
use std::sync::Once;

use git2::{ObjectType, Oid, Repository};

use super::commit;
use super::ledger::{Ledger, LineKind};
use crate::history::error::if_there;
use crate::history::prelude::*;
use crate::history::{Commit, HistoryError, Result};

pub(crate) const BRANCH: &str = "refs/heads/main";

/// Held while the branch may move; released when dropped.
#[derive(Debug)]
pub(crate) struct BranchLock(
    #[expect(dead_code, reason = "holds the lock until it is dropped")] pub(super) File,
);

/// The opened repository.
pub(crate) struct HistoryStore {
    repo: Repository,
    dir: PathBuf,
    /// The list of snapshots, outside the repository.
    pub(in crate::history) ledger: Ledger,
    /// A message for the person, until it is fetched.
    pub(in crate::history) notice: RefCell<Option<String>>,
    /// The identity of the opened folder, which differs from that of a new folder in its place.
    identity: Option<RepositoryIdentity>,
}

/// Device, number and last change of the repository's settings, which never change.
type RepositoryIdentity = (u64, u64, i64, i64);

fn identity(dir: &Path) -> Option<RepositoryIdentity> {
    use std::os::unix::fs::MetadataExt;
    let config = fs::metadata(dir.join("config")).ok()?;
    Some((config.dev(), config.ino(), config.ctime(), config.ctime_nsec()))
}

impl HistoryStore {
    /// Opens the repository at `dir`, making it where there is none.
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        isolate_libgit2();
        // Missing, or emptied by a power cut.
        let head = if_there(fs::metadata(dir.join("HEAD"))).map_err(HistoryError::io("read", dir))?;
        let is_whole = head.is_some_and(|head| head.len() > 0);
        let left = if is_whole { None } else { Self::create_or_complete(dir)? };
        let repo = Repository::open_bare(dir).map_err(HistoryError::git("open the history", dir))?;
        let store = Self {
            repo,
            dir: dir.to_owned(),
            ledger: Ledger::new(dir),
            notice: RefCell::new(left),
            identity: identity(dir),
        };
        let is_interrupted = store.ledger.expected().is_ok_and(|(_, next)| next.is_some());
        if is_interrupted || store.branch_is_torn() {
            drop(store.lock()?);
        }
        Ok(store)
    }

    /// Whether the folder that was opened is still the one that is there.
    pub(crate) fn is_current(&self) -> bool {
        self.identity.is_some() && self.identity == identity(&self.dir)
    }

    /// Every loose object with its file.
    pub(in crate::history) fn loose_objects(&self) -> Result<Vec<(Oid, PathBuf)>> {
        let mut out = Vec::new();
        let objects = self.dir.join("objects");
        for folder in fs::read_dir(&objects).map_err(HistoryError::io("list", &objects))?.flatten() {
            let begin = folder.file_name().to_string_lossy().into_owned();
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let hex = format!("{begin}{}", file.file_name().to_string_lossy());
                if begin.len() == 2
                    && hex.len() == 40
                    && let Ok(id) = Oid::from_str(&hex)
                {
                    out.push((id, file.path()));
                }
            }
        }
        Ok(out)
    }

    /// Makes a repository, or what is missing of one whose objects are there; one that can't be read at present is
    /// left alone. Returns where the rest of one that was deleted is now, in words.
    fn create_or_complete(dir: &Path) -> Result<Option<String>> {
        let objects = if_there(fs::metadata(dir.join("objects"))).map_err(HistoryError::io("read", dir))?;
        if !objects.is_some_and(|objects| objects.is_dir()) {
            let mut left = None;
            if dir.exists() {
                let aside = dir.with_extension(format!("{}.old", std::process::id()));
                fs::rename(dir, &aside).map_err(HistoryError::io("move away", dir))?;
                left = Some(format!("what was left of the history is in `{}`", aside.display()));
            }
            return Self::create(dir).map(|()| left);
        }
        let write = || {
            fs::create_dir_all(dir.join("refs"))?;
            fs::write(dir.join("HEAD"), format!("ref: {BRANCH}\n"))
        };
        write().map_err(HistoryError::io("mend", dir)).map(|()| None)
    }

    /// Made under another name and moved into place, so that a kill leaves none or a whole one.
    fn create(dir: &Path) -> Result<()> {
        let parent = dir.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(HistoryError::io("create", parent))?;
        let new = parent.join(format!(".history-{}.new", std::process::id()));
        let _ = fs::remove_dir_all(&new);
        let git = |error| HistoryError::git("create the history", dir)(error);
        let mut options = git2::RepositoryInitOptions::new();
        options.bare(true).external_template(false).initial_head("main").mkpath(true);
        options.description("vault-agent: snapshots of a vault");
        let repo = Repository::init_opts(&new, &options).map_err(git)?;
        let set = |key, value| repo.config().and_then(|mut config| config.set_str(key, value)).map_err(git);
        // Objects are synced together, before the branch moves.
        set("core.fsyncObjectFiles", "false")?;
        // Bounds on packing, so that a large vault is packed in little memory.
        set("pack.windowMemory", "4m")?;
        set("pack.deltaCacheSize", "8m")?;
        set("pack.threads", "1")?;
        set("gc.auto", "0")?;
        drop(repo);
        failpoint("history::created");
        match fs::rename(&new, dir) {
            Ok(()) => sync_dir(parent),
            // Another process was first.
            Err(_) if dir.join("HEAD").exists() => drop(fs::remove_dir_all(&new)),
            Err(error) => return Err(HistoryError::io("create", dir)(error)),
        }
        Ok(())
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn repo(&self) -> &Repository {
        &self.repo
    }

    pub(crate) fn git(&self, doing: impl Into<String>) -> impl FnOnce(git2::Error) -> HistoryError {
        HistoryError::git(doing, &self.dir)
    }

    pub(crate) fn damaged(&self, id: Oid) -> impl FnOnce(git2::Error) -> HistoryError {
        move |error| HistoryError::damaged(&self.dir, id, error.message())
    }

    /// Whether the branch's file is there and holds no id: it was emptied or cut.
    pub(super) fn branch_is_torn(&self) -> bool {
        fs::read(self.dir.join(BRANCH)).is_ok_and(|bytes| {
            let id = bytes.trim_ascii();
            !id.starts_with(b"ref:") && (id.len() != 40 || !id.iter().all(u8::is_ascii_hexdigit))
        })
    }

    /// The newest commit.
    pub(crate) fn head(&self) -> Result<Option<Oid>> {
        match self.repo.refname_to_id(BRANCH) {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.git("read the branch `main`")(error)),
        }
    }

    /// The newest commit's tree; the empty tree's id where there is no commit.
    pub(crate) fn head_tree(&self) -> Result<(Option<Oid>, Oid)> {
        match self.head()? {
            Some(head) => Ok((Some(head), self.commit(head)?.tree)),
            None => Ok((None, empty_tree())),
        }
    }

    /// A commit's data, parsed from its bytes, because libgit2's own commits follow `info/grafts` and `shallow`.
    pub(crate) fn commit(&self, id: Oid) -> Result<Commit> {
        let commit = self.read(id, |bytes| commit::parse(id, bytes))?;
        commit.ok_or_else(|| HistoryError::damaged(&self.dir, id, "not a commit"))
    }

    /// The tree that a commit changed.
    pub(crate) fn tree_before(&self, commit: &Commit) -> Result<Oid> {
        commit.parent().map_or(Ok(empty_tree()), |parent| Ok(self.commit(parent)?.tree))
    }

    /// All parents of a commit.
    pub(in crate::history) fn parents(&self, id: Oid) -> Result<Vec<Oid>> {
        self.read(id, |bytes| commit::parents(bytes).collect())
    }

    /// The parents of a commit, if `may` is false for the commit's message; otherwise `None`.
    pub fn parents_unless(&self, id: Oid, may: impl FnOnce(&[u8]) -> bool) -> Result<Option<Vec<Oid>>> {
        self.read(id, |bytes| {
            let message = memchr::memmem::find(bytes, b"\n\n")? + 1;
            (!may(&bytes[message..])).then(|| commit::parents(bytes).collect())
        })
    }

    fn read<T>(&self, id: Oid, take: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let odb = self.repo.odb().map_err(self.git("open the objects"))?;
        Ok(take(odb.read(id).map_err(self.damaged(id))?.data()))
    }

    /// The content of a file.
    pub(crate) fn blob(&self, id: Oid) -> Result<Vec<u8>> {
        let blob = self.repo.find_blob(id).map_err(self.damaged(id))?;
        Ok(blob.content().to_owned())
    }

    /// A writer for the objects of a snapshot.
    pub(crate) fn objects(&self) -> ObjectWriter<'_> {
        ObjectWriter { store: self, is_dry: false, written: Vec::new() }
    }

    /// A writer that writes nothing and only says which ids objects would have.
    pub(crate) fn dry_objects(&self) -> ObjectWriter<'_> {
        ObjectWriter { is_dry: true, ..self.objects() }
    }

    /// Makes `id`, whose objects are on the disk, the newest commit, durably. The lock must be held.
    pub(crate) fn move_branch(&self, _lock: &BranchLock, id: Oid) -> Result<()> {
        self.ledger.add(LineKind::Next, &[id])?;
        failpoint("history::logged");
        self.set_branch(id)?;
        failpoint("history::branch-set");
        self.ledger.add(LineKind::Kept, &[id])
    }

    pub(super) fn set_branch(&self, id: Oid) -> Result<()> {
        self.repo
            .reference(BRANCH, id, true, "snapshot")
            .map(drop)
            .map_err(self.git("move the branch `main`"))
    }

    /// Whether `old` is `new` or one of its ancestors.
    pub(crate) fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool> {
        Ok(old == new
            || self.repo.graph_descendant_of(new, old).map_err(self.git("compare two histories"))?)
    }

    /// Looks at the disk anew, where another process has packed or fetched.
    pub(crate) fn refresh(&self) -> Result<()> {
        let odb = self.repo.odb().map_err(self.git("open the objects"))?;
        odb.refresh().map_err(self.git("read the objects anew"))
    }
}

/// Makes libgit2 find no configuration but the repository's own, and bounds its memory.
fn isolate_libgit2() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[expect(unsafe_code, reason = "libgit2's options are global and have no safe setter")]
        // SAFETY: the options are global variables of libgit2, which only this room uses; every use
        // comes after `HistoryStore::open`, which runs this to its end first (`Once`), so nothing reads them
        // while they are written.
        unsafe {
            use git2::ConfigLevel::{Global, ProgramData, System, XDG};
            for level in [System, Global, XDG, ProgramData] {
                let _ = git2::opts::set_search_path(level, "");
            }
            let _ = git2::opts::set_cache_max_size(4 << 20);
            // A folder of a few hundred notes is larger than what libgit2 remembers by itself.
            let _ = git2::opts::set_cache_object_limit(ObjectType::Tree, 128 << 10);
            // The windows' size stays as it is: libgit2's indexer takes the end of a window for the end of
            // what it has been given so far, and then finds "unexpected data at the end of the pack".
            let _ = git2::opts::set_mwindow_mapped_limit(12 << 20);
        }
        // Our own tree and commit bytes are right by construction, and what they name was just written.
        git2::opts::strict_object_creation(false);
    });
}

/// Writes the objects of one snapshot.
pub(crate) struct ObjectWriter<'s> {
    store: &'s HistoryStore,
    /// Whether nothing is written and only the ids are wanted.
    is_dry: bool,
    /// The files of what was written.
    written: Vec<PathBuf>,
}

impl ObjectWriter<'_> {
    pub(crate) fn write(&mut self, kind: ObjectType, bytes: &[u8]) -> Result<Oid> {
        if self.is_dry {
            return Oid::hash_object(kind, bytes).map_err(self.store.git("hash an object"));
        }
        self.write_whole(|repo| repo.odb()?.write(kind, bytes))
    }

    /// Writes an object. libgit2 takes a file that is there for one that is whole, and never writes it again: one that
    /// a power cut tore is removed first.
    pub(super) fn write_whole(
        &mut self,
        write: impl Fn(&Repository) -> std::result::Result<Oid, git2::Error>,
    ) -> Result<Oid> {
        let store = self.store;
        let id = write(&store.repo).map_err(store.git("write an object"))?;
        let path = loose_path(&store.dir, id);
        if store.read(id, |_| ()).is_err() {
            fs::remove_file(&path).map_err(HistoryError::io("remove", &path))?;
            write(&store.repo).map_err(store.git("write an object anew"))?;
        }
        self.written.push(path);
        Ok(id)
    }

    /// Waits until all that was written is on the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        sync_files(&self.store.dir.join("objects"), &std::mem::take(&mut self.written))
    }
}

/// The file of a loose object in the repository `dir`.
pub(crate) fn loose_path(dir: &Path, id: Oid) -> PathBuf {
    let hex = id.to_string();
    dir.join("objects").join(&hex[..2]).join(&hex[2..])
}

/// The id of a tree without entries.
pub(crate) fn empty_tree() -> Oid {
    Oid::from_str("4b825dc642cb6eb9a060e54bf8d69288fbee4904").unwrap_or(Oid::ZERO_SHA1)
}

/// Makes a renamed or created name durable; a file system that can't is left alone.
pub(crate) fn sync_dir(dir: &Path) {
    if let Ok(dir) = File::open(dir) {
        let _ = dir.sync_all();
    }
}

/// Waits until files that were created in `dir` are on the disk, with their names; those that are gone are left out.
/// Linux syncs the file system instead of more than a few files.
pub(crate) fn sync_files(dir: &Path, files: &[PathBuf]) -> Result<()> {
    /// The most files that are synced one by one.
    #[cfg(target_os = "linux")]
    const MAX_SINGLE_SYNCS: usize = 32;
    #[cfg(target_os = "linux")]
    if files.len() > MAX_SINGLE_SYNCS {
        let synced = File::open(dir).and_then(|dir| Ok(rustix::fs::syncfs(dir)?));
        return synced.map_err(HistoryError::io("sync", dir));
    }
    let mut folders = BTreeSet::from([dir]);
    for path in files {
        if_there(File::open(path).and_then(|file| file.sync_all()))
            .map_err(HistoryError::io("sync", path))?;
        folders.extend(path.parent());
    }
    folders.into_iter().for_each(sync_dir);
    Ok(())
}

/// A place where a test may end the process.
pub(crate) fn failpoint(name: &'static str) {
    fail::eval(name, |_| std::process::abort());
}
