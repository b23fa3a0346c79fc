//! Parses paths of notes. A path is relative to the vault, uses `/`, and can't lead outside of the vault.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

use crate::config;

/// The path of a file or folder inside the vault: relative, UTF-8, `/` between its parts, none of
/// which is empty, `.` or `..`.
///
/// That makes it unable to *name* anything outside. A symbolic link on the way may still lead out;
/// [`Vault`](crate::vault::Vault) refuses that when the path is opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NotePath(String);

/// The reason why a text is no [`NotePath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathError(String);

impl NotePath {
    /// The path of `text`. Nothing is resolved or looked up.
    pub fn new(text: &str) -> Result<Self, PathError> {
        config::path_problem(text).map_or_else(|| Ok(Self(text.to_owned())), |why| Err(PathError(why)))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The text after the last dot of the last part, unless the dot is its first character.
    pub fn extension(&self) -> Option<&str> {
        self.file_name().rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
    }

    /// The last part without its extension: the name that Obsidian shows.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        self.extension().map_or(name, |extension| &name[..name.len() - extension.len() - 1])
    }

    /// The folder that holds it, `None` at the vault's top.
    pub fn parent(&self) -> Option<NotePath> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// This path with one more part, or several, at its end.
    pub fn join(&self, more: &str) -> Result<NotePath, PathError> {
        Self::new(&format!("{}/{more}", self.0))
    }

    /// The path of that name in the same folder; none for a name that no path can have.
    pub fn beside(&self, name: &str) -> Option<NotePath> {
        Self::child(self.parent().as_ref(), name)
    }

    /// Whether it is `folder` or lies under it.
    pub fn is_within(&self, folder: &NotePath) -> bool {
        self.0.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether any part begins with a dot: invisible to Obsidian, and to the index.
    pub fn is_hidden(&self) -> bool {
        self.0.split('/').any(|part| part.starts_with('.'))
    }

    /// Joins a folder (`None` is the vault's top) and a name that was read from a directory.
    /// A name that no [`NotePath`] can have gives `None`.
    pub(super) fn child(folder: Option<&NotePath>, name: &str) -> Option<NotePath> {
        let Some(NotePath(above)) = folder else { return Self::new(name).ok() };
        // The folder's own path was checked before.
        let NotePath(name) = Self::new(name).ok()?;
        (above.len() + name.len() < 4_000).then(|| Self(format!("{above}/{name}")))
    }
}

impl fmt::Display for NotePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for NotePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for NotePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::new(text)
    }
}

impl<'de> Deserialize<'de> for NotePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_or_mislead_are_refused() {
        for text in [
            "",
            "/etc/passwd",
            "C:/x",
            "..",
            "a/../b",
            "../a",
            "a/..",
            ".",
            "a/./b",
            "a//b",
            "a/",
            "a\0b",
            "a\nb",
            "a\\b",
            "a\\..\\b",
        ] {
            assert!(NotePath::new(text).is_err(), "{text:?}");
        }
        for text in ["a", "a b.md", "..a", "a..", "...", "ü/é.md", ".obsidian/app.json", "a:b.md"] {
            assert_eq!(NotePath::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn parts() {
        let path = NotePath::new("daily/2026-11-20.md").unwrap();
        assert_eq!(path.file_name(), "2026-11-20.md");
        assert_eq!(path.stem(), "2026-11-20");
        assert_eq!(path.extension(), Some("md"));
        assert_eq!(path.parent().unwrap().as_str(), "daily");
        assert!(path.is_within(&NotePath::new("daily").unwrap()));
        assert!(!path.is_within(&NotePath::new("dail").unwrap()));
        assert_eq!(NotePath::new(".env").unwrap().extension(), None);
        assert!(NotePath::new("a/.b/c").unwrap().is_hidden());
    }

    #[test]
    fn a_path_read_from_json_is_checked_too() {
        assert!(serde_json::from_str::<NotePath>("\"../x\"").is_err());
        assert_eq!(serde_json::from_str::<NotePath>("\"x/y\"").unwrap().as_str(), "x/y");
    }
}
