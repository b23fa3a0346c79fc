//! Gives tantivy a directory for its segment files, without its waits for the disk.
//!
//! A segment's files are written once and never changed. `index.sqlite` alone lists the files of the index, so
//! tantivy's own list (`meta.json`) lives in memory, and nothing here syncs: after a crash of the machine the files are
//! checked and, if torn, made again from the notes.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, FileHandle, MmapDirectory, RamDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// A folder of segment files, with a list of its own in memory.
#[derive(Clone, Debug)]
pub struct SegmentDirectory {
    root: PathBuf,
    files: MmapDirectory,
    lists: RamDirectory,
}

impl SegmentDirectory {
    /// The folder at `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self, OpenDirectoryError> {
        let (files, lists) = (MmapDirectory::open(root)?, RamDirectory::create());
        Ok(Self { root: root.to_owned(), files, lists })
    }
}

/// tantivy's lists; everything else is a segment's file.
fn is_list(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

struct Unsynced(std::fs::File);

impl Write for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
}

impl Directory for SegmentDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        if is_list(path) { self.lists.delete(path) } else { self.files.delete(path) }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        if is_list(path) { self.lists.exists(path) } else { self.files.exists(path) }
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        fail::fail_point!("index-disk-full", |_| Err(OpenWriteError::wrap_io_error(
            io::ErrorKind::StorageFull.into(),
            path.to_owned()
        )));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(self.root.join(path));
        match file {
            Ok(file) => Ok(BufWriter::with_capacity(1 << 16, Box::new(Unsynced(file)))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_owned()))
            }
            Err(error) => Err(OpenWriteError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.lists.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.lists.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
