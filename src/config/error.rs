//! Defines the errors in settings, in words for people.

use std::fmt;
use std::path::{Path, PathBuf};

/// A setting, secret or directory that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, where one is at fault.
    pub path: Option<PathBuf>,
    /// 1-based line and column in that file.
    pub place: Option<(usize, usize)>,
    /// The fault, in one sentence.
    pub message: String,
    /// The remedy.
    pub suggestion: Option<String>,
}

impl ConfigError {
    /// An error about no particular line of a file.
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: None, place: None, message: message.into(), suggestion: None }
    }

    /// Names the file that is at fault.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Names the place in `text` by byte offset.
    #[must_use]
    pub fn at(mut self, text: &str, offset: usize) -> Self {
        self.place = Some(line_and_column(text, offset));
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
            if let Some((line, column)) = self.place {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// The 1-based line and column (in characters) of a byte offset.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
