//! The folder of a vault, with its state and its cache beside it: all tests that need one are made on this.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Lets what has a field `folder` be used as that folder.
#[allow(unused_macros, unused_imports)]
macro_rules! holds_folder {
    ($holder:ty) => {
        impl std::ops::Deref for $holder {
            type Target = $crate::support::Folder;

            fn deref(&self) -> &Self::Target {
                &self.folder
            }
        }
    };
}
#[allow(unused_imports)]
pub(crate) use holds_folder;

/// The folder of a vault, with its state beside it.
#[derive(Debug)]
pub enum Folder {
    /// It goes with this.
    Own(tempfile::TempDir),
    /// Another process or value has made it and will remove it.
    Others(PathBuf),
}

impl Folder {
    /// A temporary one with an empty `vault` in it, and these folders.
    pub fn new(folders: &[&str]) -> Self {
        let temp = temporary();
        for folder in ["vault"].iter().chain(folders) {
            std::fs::create_dir_all(temp.path().join(folder)).expect("a folder");
        }
        Self::Own(temp)
    }

    /// The folder around the vault.
    pub fn dir(&self) -> &Path {
        match self {
            Self::Own(temp) => temp.path(),
            Self::Others(path) => path,
        }
    }

    /// The vault's folder.
    pub fn root(&self) -> PathBuf {
        self.dir().join("vault")
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.dir().join("state")
    }

    /// The cache directory.
    pub fn cache(&self) -> PathBuf {
        self.dir().join("cache")
    }

    /// A file of the vault; one elsewhere where the path begins at the root.
    pub fn path(&self, note: impl AsRef<Path>) -> PathBuf {
        self.root().join(note)
    }

    /// The text of a note; lossy where it isn't UTF-8.
    pub fn read(&self, note: &str) -> String {
        let bytes = std::fs::read(self.path(note)).unwrap_or_else(|error| panic!("{note}: {error}"));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The text of a note; empty where there is none.
    pub fn text(&self, note: &str) -> String {
        if self.has(note) { self.read(note) } else { String::new() }
    }

    /// Whether a note is there.
    pub fn has(&self, note: &str) -> bool {
        self.path(note).exists()
    }

    /// Writes a note as a person's editor would, in a folder that may have to be made.
    pub fn write(&self, note: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path(note);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a note");
    }

    /// Deletes a note.
    pub fn remove(&self, note: &str) {
        std::fs::remove_file(self.path(note)).expect("a note");
    }
}

/// A temporary folder: a test's is in memory, where Linux has two gigabytes for it, since a disk takes a tenth of the tests'
/// processor time, and each fsync milliseconds. What `vault` and `history` promise is about a disk, and benches measure
/// with one: theirs is on a disk. So are all where the environment names a place, as in `TMPDIR=/tmp cargo test`.
pub fn temporary() -> tempfile::TempDir {
    let thread = std::thread::current();
    // Of a test thread: the test's name.
    let name = thread.name().filter(|name| name.contains("::")).unwrap_or("vault::");
    let wants_disk = ["vault::", "history::"].iter().any(|room| name.starts_with(room));
    let place = if wants_disk { std::env::temp_dir() } else { PLACE.clone() };
    tempfile::tempdir_in(place).expect("a temporary folder")
}

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    #[cfg(target_os = "linux")]
    if std::env::var_os("TMPDIR").is_none()
        && rustix::fs::statvfs("/dev/shm").is_ok_and(|place| place.f_bavail * place.f_frsize >= 2 << 30)
        && tempfile::tempdir_in("/dev/shm").is_ok()
    {
        return PathBuf::from("/dev/shm");
    }
    std::env::temp_dir()
});

/// The names of what is in a folder, in order; none where there is no such folder.
pub fn names_in(folder: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// All files below a folder, in the order of their paths; none where there is no such folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let below = |name: String| match folder.join(name) {
        path if path.is_dir() => files_below(&path),
        path => vec![path],
    };
    names_in(folder).into_iter().flat_map(below).collect()
}
