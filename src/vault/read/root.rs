//! Opens files of the vault's folder through [`Vault`].
//!
//! On Linux the kernel itself keeps a path beneath the root (`openat2` with `RESOLVE_BENEATH`). If another process
//! replaces a folder by a link during the open, the open still can't leave the vault. Without `openat2`, and for a link
//! with an absolute target, the path is canonicalised, and then opened without following further links. Without
//! `openat2` only the last name is checked again: a folder that is replaced during the open can lead outside.
//!
//! A link to a place inside the vault is followed, a link that leaves the vault is refused, a loop is an error. The
//! root isn't kept open between calls, so the vault's disk can be unmounted at any time.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use unicode_normalization::UnicodeNormalization;

use super::{Stat, check_kind, conflict, stat_of};
use crate::vault::prelude::*;
use crate::vault::{NotePath, VaultError};

type Result<T, E = VaultError> = std::result::Result<T, E>;

/// The largest file that is read, in bytes, unless the vault was opened with another limit.
pub const DEFAULT_LIMIT: u64 = 512 * 1024 * 1024;

/// The description of a link whose target is missing.
const DANGLING: &str = "a symbolic link to nothing";

/// A folder of notes.
#[derive(Debug, Clone)]
pub struct Vault {
    root: PathBuf,
    limit: u64,
}

/// The real place of a note, links resolved: an open folder and a name in it.
#[derive(Debug)]
pub(in crate::vault) struct LocatedNote {
    pub dir: OwnedFd,
    pub name: OsString,
}

/// The name in a folder that is `name` in Unicode's other form.
fn same_name(folder: &Path, name: &str) -> Option<String> {
    let names =
        std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|other| other.nfc().eq(name.nfc())).min()
}

impl Vault {
    /// The vault in the folder `root`.
    ///
    /// # Errors
    /// The folder doesn't exist or isn't one.
    pub fn open(root: &Path) -> Result<Self> {
        let canonical = std::fs::canonicalize(root).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => VaultError::Gone(root.to_owned()),
            io::ErrorKind::NotADirectory => VaultError::NotAFolder(root.to_owned()),
            _ => VaultError::Root(root.to_owned(), error),
        })?;
        if !canonical.is_dir() {
            return Err(VaultError::NotAFolder(canonical));
        }
        Ok(Self { root: canonical, limit: DEFAULT_LIMIT })
    }

    /// The same vault, reading files of up to `bytes` bytes.
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// The vault's folder, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The largest file that is read, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether the folder exists now.
    pub fn is_present(&self) -> bool {
        self.root.is_dir()
    }

    /// The place of `path` on disk, for messages and other programs. Opening it that way would follow links out of the
    /// vault; use [`Vault::read`].
    pub fn absolute(&self, path: &NotePath) -> PathBuf {
        self.root.join(path.as_str())
    }

    /// The bytes of a note.
    pub fn read(&self, path: &NotePath) -> Result<Vec<u8>> {
        let (file, stat) = self.open_file(path, OFlags::RDONLY)?;
        self.read_open(path, &file, stat.size)
    }

    /// The bytes of a note; none where there is no such file.
    pub fn read_if_there(&self, path: &NotePath) -> Result<Option<Vec<u8>>> {
        match self.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(VaultError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The bytes of a note; empty where there is no such file.
    pub fn read_or_empty(&self, path: &NotePath) -> Result<Vec<u8>> {
        Ok(self.read_if_there(path)?.unwrap_or_default())
    }

    /// Size, times and identity of a note, `None` where there is none.
    pub fn stat(&self, path: &NotePath) -> Result<Option<Stat>> {
        let file = match self.open_raw(path, PATH_ONLY) {
            Ok(file) => file,
            Err(VaultError::NotFound(_)) => return Ok(self.stub_stat(path)),
            Err(error) => return Err(error),
        };
        Ok(Some(stat_open(path, &file)?))
    }

    /// Whether there is a file of that name.
    pub fn exists(&self, path: &NotePath) -> bool {
        matches!(self.stat(path), Ok(Some(_)))
    }

    /// Whether the file is a sync tool's conflict copy: by its name alone, or because the note that the name leads to is
    /// there. Nothing is told from a copy.
    pub fn is_conflict_copy(&self, path: &NotePath) -> bool {
        let name = path.file_name();
        let original = || path.beside(&conflict::original_of(name)?);
        conflict::is_conflict_copy(name) || original().is_some_and(|note| self.exists(&note))
    }

    /// The path with its names as on disk, where an accent may be one character instead of two, or the reverse. If
    /// there is no such name, the path is returned as it is.
    #[must_use]
    pub fn with_names_on_disk(&self, path: NotePath) -> NotePath {
        if path.as_str().is_ascii() || self.absolute(&path).symlink_metadata().is_ok() {
            return path;
        }
        let mut there: Option<NotePath> = None;
        for part in path.as_str().split('/') {
            let folder = there.as_ref().map_or_else(|| self.root.clone(), |there| self.absolute(there));
            let name = match folder.join(part).symlink_metadata() {
                Ok(_) => Some(part.to_owned()),
                Err(_) => same_name(&folder, part),
            };
            there = name.and_then(|name| NotePath::child(there.as_ref(), &name));
            if there.is_none() {
                break;
            }
        }
        there.unwrap_or(path)
    }

    /// The path with its links resolved, as far as its names exist; none if a link leaves the vault.
    pub fn resolved(&self, path: &NotePath) -> Option<NotePath> {
        let absolute = self.absolute(path);
        let (there, real) =
            absolute.ancestors().find_map(|at| Some((at, std::fs::canonicalize(at).ok()?)))?;
        let rest = absolute.strip_prefix(there).ok()?;
        let inside = real.strip_prefix(&self.root).ok()?.components().chain(rest.components());
        NotePath::new(inside.collect::<PathBuf>().to_str()?).ok()
    }

    /// Whether the path, or the file that its links lead to, is hidden.
    pub fn is_hidden(&self, path: &NotePath) -> bool {
        path.is_hidden() || self.resolved(path).is_some_and(|real| real.is_hidden())
    }

    /// Opens a note for reading in pieces, because it may be long.
    pub fn open_note(&self, path: &NotePath) -> Result<File> {
        Ok(self.open_file(path, OFlags::RDONLY)?.0)
    }

    /// Opens a regular file; anything else is an error that names its kind. Never blocks on a pipe; waits where another
    /// process holds a lease on the file.
    pub(in crate::vault) fn open_file(&self, path: &NotePath, flags: OFlags) -> Result<(File, Stat)> {
        let file = match self.open_raw(path, flags | OFlags::NONBLOCK) {
            Err(VaultError::Io(_, source))
                if source.raw_os_error() == Some(Errno::WOULDBLOCK.raw_os_error()) =>
            {
                // Only a regular file can be leased, so waiting can't hang on a pipe.
                self.stat(path)?;
                self.open_raw(path, flags)?
            }
            Err(VaultError::Io(_, source)) if source.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                return Err(VaultError::NotAFile(path.clone(), "a socket or a pipe"));
            }
            Err(VaultError::NotFound(_)) if self.stub_stat(path).is_some() => {
                return Err(VaultError::Placeholder(path.clone()));
            }
            // A note that is away is not one that was never written.
            Err(VaultError::NotFound(_)) if self.absolute(path).is_symlink() => {
                return Err(VaultError::NotAFile(path.clone(), DANGLING));
            }
            opened => opened?,
        };
        let stat = stat_open(path, &file)?;
        if stat.is_placeholder { Err(VaultError::Placeholder(path.clone())) } else { Ok((file, stat)) }
    }

    /// Reads an open note from its start, up to the limit.
    pub(in crate::vault) fn read_open(&self, path: &NotePath, file: &File, size: u64) -> Result<Vec<u8>> {
        let too_large = |size| VaultError::TooLarge { path: path.clone(), size, limit: self.limit };
        if size > self.limit {
            return Err(too_large(size));
        }
        // One byte more than expected lets the usual read end without growing the buffer.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        io::Seek::rewind(&mut &*file).map_err(|error| VaultError::io(path, error))?;
        let read =
            file.take(self.limit + 1).read_to_end(&mut bytes).map_err(|error| VaultError::io(path, error))?;
        if read as u64 > self.limit { Err(too_large(read as u64)) } else { Ok(bytes) }
    }

    /// The open folder and the name to which `path` leads after links are resolved. The file itself needn't exist, but
    /// its folder must.
    pub(in crate::vault) fn locate(&self, path: &NotePath) -> Result<LocatedNote> {
        let absolute = self.absolute(path);
        let real = match std::fs::canonicalize(&absolute) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A dangling link would be created at its target; that is for its owner to mend.
                if std::fs::symlink_metadata(&absolute).is_ok() {
                    return Err(VaultError::NotAFile(path.clone(), DANGLING));
                }
                let parent = path.parent().map_or_else(|| self.root.clone(), |parent| self.absolute(&parent));
                let parent = std::fs::canonicalize(parent).map_err(|error| VaultError::io(path, error))?;
                parent.join(path.file_name())
            }
            Err(error) => return Err(VaultError::io(path, error)),
        };
        let inside = real.strip_prefix(&self.root).map_err(|_| VaultError::Escapes(path.clone()))?;
        let (parent, name) = match (inside.parent(), inside.file_name()) {
            (Some(parent), Some(name)) => (parent, name.to_owned()),
            _ => return Err(VaultError::NotAFile(path.clone(), "the vault itself")),
        };
        let dir = self.open_real(path, parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(LocatedNote { dir: dir.into(), name })
    }

    /// Makes the folders above `path` that don't exist, durably.
    pub(in crate::vault) fn create_parents(&self, path: &NotePath) -> Result<()> {
        let Some(parent) = path.parent() else { return self.root_fd().map(drop) };
        match self.open_raw(&parent, PATH_ONLY | OFlags::DIRECTORY) {
            Ok(_) => return Ok(()),
            Err(VaultError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        self.create_parents(&parent)?;
        let place = self.locate(&parent)?;
        match rustix::fs::mkdirat(&place.dir, &place.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => {}
            Err(Errno::EXIST) => {
                let words = format!("`{parent}` is no folder; move it out of the way");
                self.open_raw(&parent, PATH_ONLY | OFlags::DIRECTORY)
                    .map_err(|_| VaultError::Io(path.clone(), io::Error::other(words)))?;
            }
            Err(error) => return Err(VaultError::io(&parent, error.into())),
        }
        rustix::fs::fsync(&place.dir).map_err(|error| VaultError::io(&parent, error.into()))
    }

    /// An open descriptor of the root, for one call.
    pub(super) fn root_fd(&self) -> Result<OwnedFd> {
        rustix::fs::open(&self.root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| match error {
                Errno::NOENT | Errno::NOTDIR => VaultError::Gone(self.root.clone()),
                _ => VaultError::Root(self.root.clone(), error.into()),
            })
    }

    /// Opens the file or folder at `path`, beneath the root.
    fn open_raw(&self, path: &NotePath, flags: OFlags) -> Result<File> {
        let flags = flags | OFlags::CLOEXEC | no_terminal(flags);
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let root = self.root_fd()?;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&root, path.as_str(), flags, Mode::empty(), resolve) {
                Ok(file) => return Ok(file.into()),
                // A link that is absolute or climbs, or a kernel (or sandbox) without the call.
                Err(Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(VaultError::io(path, error.into())),
            }
        }
        let real = std::fs::canonicalize(self.absolute(path)).map_err(|error| VaultError::io(path, error))?;
        let inside = real.strip_prefix(&self.root).map_err(|_| VaultError::Escapes(path.clone()))?;
        self.open_real(path, inside, flags)
    }

    /// Opens a path that was canonicalised and holds no link any more.
    fn open_real(&self, path: &NotePath, inside: &Path, flags: OFlags) -> Result<File> {
        let flags = flags | OFlags::CLOEXEC | no_terminal(flags) | OFlags::NOFOLLOW;
        let root = self.root_fd()?;
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match rustix::fs::openat2(&root, inside, flags, Mode::empty(), resolve) {
                Ok(file) => return Ok(file.into()),
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(VaultError::io(path, error.into())),
            }
        }
        rustix::fs::openat(&root, inside, flags, Mode::empty())
            .map(File::from)
            .map_err(|error| VaultError::io(path, error.into()))
    }

    /// The stub `.NAME.icloud` that older iCloud clients leave in a file's place.
    fn stub_stat(&self, path: &NotePath) -> Option<Stat> {
        let stub = path.beside(&conflict::icloud_stub(path.file_name()))?;
        let file = self.open_raw(&stub, PATH_ONLY).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        Some(Stat { is_placeholder: true, size: 0, ..stat_of(&stat) })
    }
}

/// Opens a name without its content, for its metadata.
#[cfg(target_os = "linux")]
const PATH_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PATH_ONLY: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// The metadata of an open file, which has to be a regular one.
fn stat_open(path: &NotePath, file: &File) -> Result<Stat> {
    let stat = rustix::fs::fstat(file).map_err(|error| VaultError::io(path, error.into()))?;
    check_kind(path, FileType::from_raw_mode(stat.st_mode))?;
    Ok(stat_of(&stat))
}

/// Whether `name` in the open folder `dir` is at this moment the file `stat`.
pub(in crate::vault) fn names_same_file(dir: &OwnedFd, name: &OsStr, stat: &Stat) -> io::Result<bool> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) => {
            let now = stat_of(&now);
            Ok(now.inode == stat.inode && now.dev == stat.dev)
        }
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A terminal in a note's place never becomes ours. The kernel refuses the flag beside `O_PATH`, which
/// opens nothing.
fn no_terminal(flags: OFlags) -> OFlags {
    if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NOCTTY }
}
