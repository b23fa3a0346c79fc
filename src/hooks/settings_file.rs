//! A host's settings file on disk: read whole, written whole, with what it was kept beside it.
//!
//! The new text goes to a file of its own in the same folder and takes the old one's place in one step, so
//! the host never reads half of it. A link stays a link. The file as it was before our entries came is kept
//! as `<name>.before-vault-agent`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::install;

/// A settings file as it was read.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// The file itself, links followed.
    path: PathBuf,
    /// None where there is no file.
    text: Option<String>,
}

impl SettingsFile {
    /// Reads the file at `path`; a missing one is empty.
    ///
    /// # Errors
    /// It can't be read, or is not UTF-8.
    pub fn read(path: &Path) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()));
        match std::fs::read(path) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| {
                    named(io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text; nothing was written"))
                })?;
                Ok(Self { path: path.canonicalize()?, text: Some(text) })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { path: path.to_owned(), text: None })
            }
            Err(error) => Err(named(error)),
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The file as it was before our entries came, if it is kept.
    pub fn before(&self) -> Option<String> {
        std::fs::read_to_string(self.backup()).ok()
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".before-vault-agent");
        self.path.with_file_name(name)
    }

    /// Writes `after` in its place.
    ///
    /// # Errors
    /// The file was changed meanwhile, or can't be written; it is then as it was.
    pub fn write(&self, after: &str) -> io::Result<()> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir)?;
        let is_clean = install::installed(self.text()).is_ok_and(|entries| entries.is_empty());
        if let Some(text) = self.text.as_ref().filter(|_| is_clean) {
            put(&self.backup(), text.as_bytes(), None)?;
        }
        let now = std::fs::read(&self.path).ok();
        if now.as_deref() != self.text.as_ref().map(String::as_bytes) {
            let words =
                format!("`{}` was changed by someone just now; run the command again", self.path.display());
            return Err(io::Error::other(words));
        }
        put(&self.path, after.as_bytes(), std::fs::metadata(&self.path).ok().map(|meta| meta.permissions()))
    }
}

/// Writes a file in one step, with the permissions of the one that it replaces.
fn put(path: &Path, bytes: &[u8], permissions: Option<std::fs::Permissions>) -> io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let new = path.with_file_name(name);
    let written = (|| {
        let mut file = std::fs::File::create(&new)?;
        file.write_all(bytes)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        std::fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}
