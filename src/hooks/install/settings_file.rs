//! Reads and replaces a host's settings file on disk, whole, with a backup of the original in the same folder.
//!
//! The new text is written to a new file in the same folder, which then replaces the old file, so that the host never
//! reads half of a text. A link stays a link; a read-only file, and a link to nothing, are refused. The backup is the
//! file as it was before vault-agent's entries were added: `<name>.before-vault-agent`, with the same permissions.

use std::fs::Permissions;
use std::io;
use std::path::{Path, PathBuf};

use super::{entries as install, memories};
use crate::config::json_file;

/// A settings file as it was read.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// The file itself, links followed.
    path: PathBuf,
    /// None where there is no file.
    text: Option<String>,
    is_link: bool,
}

impl SettingsFile {
    /// Reads the file at `path`; a missing one is empty.
    ///
    /// # Errors
    /// It can't be read, or is not UTF-8.
    pub fn read(path: &Path) -> io::Result<Self> {
        let target = std::fs::read_link(path).ok();
        let is_link = target.is_some();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()));
        // A pipe may have no writer, and reading it would wait for ever.
        if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
            return Err(named(io::Error::other("it is no file; nothing was written")));
        }
        match std::fs::read(path) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| {
                    named(io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text; nothing was written"))
                })?;
                Ok(Self { path: path.canonicalize()?, text: Some(text), is_link })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match target {
                Some(target) => Err(io::Error::other(format!(
                    "`{}` is a link to `{}`, which isn't there; make that file or take the link away; nothing was written",
                    path.display(),
                    target.display()
                ))),
                None => Ok(Self { path: path.to_owned(), text: None, is_link }),
            },
            Err(error) => Err(named(error)),
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The backup of the file before our entries were added, if there is one. Earlier versions made one of a file of
    /// ours alone.
    pub fn before(&self) -> Option<String> {
        std::fs::read_to_string(self.backup()).ok().filter(|text| memories::our_folder(text).is_none())
    }

    /// Whether the whole file may be removed: it exists and is no link.
    pub fn is_plain(&self) -> bool {
        self.text.is_some() && !self.is_link
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
        let permissions = self.writable()?;
        let is_clean = memories::our_folder(self.text()).is_none()
            && install::installed(self.text()).is_ok_and(|entries| entries.is_empty());
        let replace = |path: &Path, text: &str| {
            json_file::replace_with(path, text.as_bytes(), true, permissions.as_ref()).map_err(|error| {
                let words = format!("can't write `{}`: {error}; give yourself the right to write there, or name another file with `--settings FILE`", path.display());
                io::Error::new(error.kind(), words)
            })
        };
        if let Some(text) = self.text.as_ref().filter(|_| is_clean) {
            replace(&self.backup(), text)?;
        }
        self.unchanged()?;
        replace(&self.path, after)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// The file was changed meanwhile, or can't be removed.
    pub fn remove(&self) -> io::Result<()> {
        self.writable()?;
        self.unchanged()?;
        std::fs::remove_file(&self.path)
    }

    /// The file's rights; none where there is no file. A file may be replaced where it can't be written: what
    /// its owner made read-only stays all the same.
    fn writable(&self) -> io::Result<Option<Permissions>> {
        if self.text.is_none() {
            return Ok(None);
        }
        let permissions = std::fs::metadata(&self.path)?.permissions();
        if permissions.readonly() {
            let words = format!(
                "`{}` is read-only; make it writable (`chmod u+w`) or name another file with `--settings FILE`; nothing was written",
                self.path.display()
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
        }
        Ok(Some(permissions))
    }

    fn unchanged(&self) -> io::Result<()> {
        if std::fs::read(&self.path).ok().as_deref() == self.text.as_ref().map(String::as_bytes) {
            return Ok(());
        }
        let words =
            format!("`{}` was changed by someone just now; run the command again", self.path.display());
        Err(io::Error::other(words))
    }
}

/// The host's own folder; none where no home directory is known.
pub fn host_folder() -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
        return Some(PathBuf::from(dir));
    }
    Some(etcetera::home_dir().ok()?.join(".claude"))
}

/// The host's settings for all of the user's projects.
pub fn user_settings() -> Option<PathBuf> {
    Some(host_folder()?.join("settings.json"))
}
