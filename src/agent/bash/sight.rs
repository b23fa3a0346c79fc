//! What of the vault a command may read: all but what begins with a dot, where plugins keep their keys.
//!
//! The box is given the entries of the vault's top folder one by one. A link there is left out: what it leads to may lie
//! outside.

use std::path::PathBuf;

use crate::workspace::Workspace;

/// As many entries are given; folders first, so that a vault with very many notes in its top folder shows its folders.
const MAX_ENTRIES: usize = 400;

/// The vault as a command sees it.
#[derive(Debug, Clone)]
pub(super) struct Sight {
    root: PathBuf,
}

impl Sight {
    pub fn of(workspace: &Workspace) -> Self {
        Self { root: workspace.vault.root().to_path_buf() }
    }

    /// The entries that may be read, as they are now. Nothing is opened here.
    pub fn entries(&self) -> Vec<PathBuf> {
        let Ok(listed) = std::fs::read_dir(&self.root) else { return Vec::new() };
        let mut found: Vec<(bool, PathBuf)> = listed
            .flatten()
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .filter_map(|entry| {
                let kind = entry.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
                Some((kind.is_file(), entry.path()))
            })
            .collect();
        found.sort();
        found.truncate(MAX_ENTRIES);
        found.into_iter().map(|(_, path)| path).collect()
    }
}
