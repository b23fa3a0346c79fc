//! Changes the settings file in one edit, which the history records.

use super::Workspace;
use crate::config::FILE_NAME;
use crate::vault::{EditError, Operation, Origin, VaultError};

/// The reason why the settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The settings can't be read.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// The settings can't be changed, with the reason.
    #[error("{0}")]
    Text(String),
    /// The settings can't be written.
    #[error(transparent)]
    Write(#[from] EditError),
}

impl Workspace {
    /// The text of the settings on disk; empty where there is no file.
    ///
    /// # Errors
    /// The file can't be read, or is not UTF-8.
    pub fn settings_text(&self) -> Result<String, SettingsFileError> {
        String::from_utf8(self.vault.read_or_empty(&self.note(FILE_NAME))?)
            .map_err(|_| SettingsFileError::Text(format!("`{FILE_NAME}` is not UTF-8 text")))
    }

    /// Changes the settings on disk. Returns whether there was anything to change.
    ///
    /// # Errors
    /// The settings can't be read or written, or `edit` says why it can't be done.
    pub fn change_settings(
        &self,
        origin: &Origin,
        subject: &str,
        edit: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<bool, SettingsFileError> {
        let path = self.note(FILE_NAME);
        let why = origin.why(subject);
        let before = self.settings_text()?;
        let after = edit(&before).map_err(SettingsFileError::Text)?;
        if after == before {
            return Ok(false);
        }
        if before.is_empty() && !self.vault.exists(&path) {
            self.editor.create(&path, after.as_bytes(), &why)?;
            return Ok(true);
        }
        let with = Operation::ReplaceAll { expect: Some(before.into()), with: after.into() };
        match self.editor.edit(&path, &[with], &why)?.all_done() {
            true => Ok(true),
            false => Err(SettingsFileError::Text(format!(
                "`{FILE_NAME}` changed meanwhile, so it was not written: try again"
            ))),
        }
    }
}
