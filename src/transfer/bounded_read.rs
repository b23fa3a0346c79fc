//! Reads other programs' files, which lie outside the vault, with bounds. No link in a source's folder is followed.
//!
//! A source may come from anywhere. A link to a person's keys, an endless pipe or a file of a gigabyte isn't read; the
//! report names it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{ImportBatch, Result, TransferError};

/// The largest file of entries (JSON, JSON Lines) that is read.
pub const MAX_ENTRIES_BYTES: u64 = 64 << 20;
/// The largest note that is read.
pub const MAX_NOTE_BYTES: u64 = 16 << 20;
/// The most files that a workspace may have.
pub const MAX_FILES: usize = 100_000;
const MAX_DEPTH: usize = 32;

/// The bytes of one file that the user named; a link to it is followed.
///
/// # Errors
/// It isn't there, is no regular file, is larger than `limit`, or can't be read.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>> {
    // Not waiting for a pipe's other end: what isn't a file is found out below.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    read_open(path, file.map_err(|source| io(path, source))?, limit)
}

/// The bytes of a reader, such as standard input.
///
/// # Errors
/// There is more than `limit`, or it can't be read.
pub fn read_stream(name: &Path, stream: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit + 1).read_to_end(&mut bytes).map_err(|source| io(name, source))?;
    if bytes.len() as u64 > limit {
        return Err(TransferError::TooLarge { path: name.to_owned(), size: bytes.len() as u64, limit });
    }
    Ok(bytes)
}

/// The text of a file of a workspace. `None` if it can't be used; the reason is then in the batch.
pub(super) fn read_note(root: &Path, relative: &str, batch: &mut ImportBatch) -> Option<String> {
    let path = root.join(relative);
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(&path);
    let bytes =
        file.map_err(|source| io(&path, source)).and_then(|file| read_open(&path, file, MAX_NOTE_BYTES));
    let text = match bytes.map(String::from_utf8) {
        Ok(Ok(text)) if text.contains('\0') => Err("it is no text: it holds a null character".to_owned()),
        Ok(Ok(text)) => Ok(text),
        Ok(Err(_)) => Err("it is not UTF-8 text".to_owned()),
        Err(TransferError::TooLarge { size, limit, .. }) => {
            Err(format!("it has {size} bytes; notes are read up to {limit}"))
        }
        Err(error) => Err(error.to_string()),
    };
    text.map_err(|reason| batch.skip(relative, reason)).ok()
}

fn read_open(path: &Path, file: File, limit: u64) -> Result<Vec<u8>> {
    let metadata = file.metadata().map_err(|source| io(path, source))?;
    if !metadata.is_file() {
        return Err(TransferError::WrongType(path.to_owned(), "a file"));
    }
    if metadata.len() > limit {
        return Err(TransferError::TooLarge { path: path.to_owned(), size: metadata.len(), limit });
    }
    read_stream(path, file, limit)
}

/// The notes (`.md`) of a workspace, as relative paths with `/`, in order. Hidden names are skipped; links and invalid
/// names are reported in the batch, in order, too.
///
/// # Errors
/// `root` is no folder, or has too much in it.
pub(super) fn notes(root: &Path, batch: &mut ImportBatch) -> Result<Vec<String>> {
    let (mut found, skipped) = (Vec::new(), batch.skipped.len());
    let mut folders = vec![(PathBuf::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let absolute = root.join(&folder);
        let entries = match std::fs::read_dir(&absolute) {
            Ok(entries) => entries,
            Err(source) if depth == 0 => return Err(io(&absolute, source)),
            Err(source) => {
                batch.skip(folder.to_string_lossy(), source.to_string());
                continue;
            }
        };
        for entry in entries.flatten() {
            let relative = folder.join(entry.file_name());
            let shown = relative.to_string_lossy().into_owned();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let is_note = relative.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth + 1 >= MAX_DEPTH => {
                    batch.skip(shown, format!("folders are read {MAX_DEPTH} deep"));
                }
                Ok(kind) if kind.is_dir() => folders.push((relative, depth + 1)),
                Ok(kind) if kind.is_symlink() => {
                    batch.skip(shown, "it is a symbolic link, which is not followed");
                }
                Ok(_) if !is_note => {}
                Ok(kind) if !kind.is_file() => batch.skip(shown, "it is not a file"),
                Ok(_) if relative.to_str().is_none() => batch.skip(shown, "its name is not UTF-8"),
                Ok(_) => found.push(shown),
                Err(source) => batch.skip(shown, source.to_string()),
            }
            if found.len() + folders.len() > MAX_FILES {
                return Err(TransferError::TooMuch(root.to_owned()));
            }
        }
    }
    // A file system gives names in an order of its own.
    batch.skipped[skipped..].sort_by(|one, other| one.place.cmp(&other.place));
    found.sort_unstable();
    Ok(found)
}

/// The texts of all notes in a folder, by their paths within it; those that can't be read are skipped.
pub(super) fn texts(root: &Path, batch: &mut ImportBatch) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for name in notes(root, batch)? {
        texts.extend(read_note(root, &name, batch).map(|text| (name, text)));
    }
    Ok(texts)
}

pub(super) fn io(path: &Path, source: std::io::Error) -> TransferError {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::NotFound => TransferError::Missing(path),
        ErrorKind::IsADirectory => TransferError::WrongType(path, "a file"),
        ErrorKind::NotADirectory => TransferError::WrongType(path, "a folder"),
        _ => TransferError::Io(path, source),
    }
}
