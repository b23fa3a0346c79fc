//! Reads small JSON files of the state directory, up to a size limit, and replaces files in one step. A file that is
//! missing, malformed or too large counts as absent.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest size of such a file, in bytes; a larger one isn't ours.
const MAX_BYTES: u64 = 16 << 20;

/// The value in the file at `path`; none where the file is missing, torn or strange.
pub fn load<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Replaces the file at `path` in one step, and makes its folder where there is none.
///
/// # Errors
/// The file can't be written.
pub fn save<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    replace(path, &serde_json::to_vec(value)?, false)
}

/// Replaces the file at `path` by these bytes in one step; with `sync` the bytes are on the disk before the file is
/// replaced.
///
/// # Errors
/// The file can't be written.
pub fn replace(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    replace_with(path, bytes, sync, None)
}

/// As [`replace`], with these permissions. Until the file has them only its owner reads it.
///
/// # Errors
/// As [`replace`].
pub fn replace_with(
    path: &Path,
    bytes: &[u8],
    sync: bool,
    permissions: Option<&Permissions>,
) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    // Another thread may replace the file, or one of that stem, at the same time.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let new = path.with_extension(format!("new-{}-{number}", std::process::id()));
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(if permissions.is_some() { 0o600 } else { 0o666 });
    let write = || {
        let mut file = options.open(&new)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.write_all(bytes)?;
        if sync {
            file.sync_all()?;
        }
        fs::rename(&new, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&new)))
}
