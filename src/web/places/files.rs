//! Serves `/files/PATH`: the vault's pictures, for notes that show them.

use std::collections::VecDeque;
use std::path::Path;

use super::prelude::*;
use crate::vault::{NotePath, VaultError};

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let path = visit.note_path(&visit.rest)?;
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let kind = match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "application/octet-stream",
        _ => return Err(PageError::not_found(format!("`{path}` is no picture"))),
    };
    if path.is_hidden() {
        return Err(PageError::not_found(format!("`{path}` is not shown")));
    }
    match visit.workspace.vault.read(&path) {
        // A picture of that form can hold a script; saved, it is only a file.
        Ok(bytes) => Ok(PageView::File { bytes, kind, is_download: extension == "svg" }),
        // A note may name a picture of another folder by its name alone, and by a path from the vault's root.
        Err(VaultError::NotFound(_)) => match elsewhere(visit, &path) {
            Some(found) => Ok(PageView::Elsewhere(format!("/files/{}", encoded(found.as_str())))),
            None => Err(PageError::not_found(format!("there is no `{path}`"))),
        },
        Err(error @ VaultError::Escapes(_)) => Err(PageError::not_found(error)),
        Err(error) => Err(PageError::failed(error)),
    }
}

/// The picture that a note in a folder means by a path which isn't there from that folder: by ever shorter ends of the
/// path, since the folder stands before it here.
fn elsewhere(visit: &Visit<'_>, path: &NotePath) -> Option<NotePath> {
    let mut rest = Some(path.clone());
    while let Some(wanted) = rest {
        if let Some(found) = find_link_target(visit.workspace.vault.root(), &wanted) {
            return Some(found);
        }
        rest = wanted.as_str().split_once('/').and_then(|(_, rest)| NotePath::new(rest).ok());
    }
    None
}

/// So many entries of folders are looked at.
const MOST: usize = 200_000;

/// The file whose path is, or ends with, `wanted`, in upper or lower case; of several the one in the fewest folders,
/// then the first by name. Hidden files and links are left out.
pub(super) fn find_link_target(root: &Path, wanted: &NotePath) -> Option<NotePath> {
    let wanted = format!("/{}", wanted.as_str().to_lowercase());
    let (mut level, mut left) = (VecDeque::from([String::new()]), MOST);
    while !level.is_empty() {
        let (mut found, mut below) = (Vec::new(), VecDeque::new());
        for folder in level {
            for entry in std::fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
                left = left.checked_sub(1)?;
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                    continue;
                };
                if name.starts_with('.') {
                    continue;
                }
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                if kind.is_dir() {
                    below.push_back(path);
                } else if kind.is_file() && format!("/{}", path.to_lowercase()).ends_with(&wanted) {
                    found.push(path);
                }
            }
        }
        if let Some(first) = found.into_iter().min() {
            return NotePath::new(&first).ok();
        }
        level = below;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_to_the_top_is_meant() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["b/Pic.png", "a/deep/pic.png", "a/other.png", ".trash/gone.png", "b/c/x.md", "z/c/x.md"]
        {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |wanted: &str| {
            find_link_target(dir.path(), &NotePath::new(wanted).unwrap()).map(|path| path.to_string())
        };
        assert_eq!(found("pic.png").as_deref(), Some("b/Pic.png"));
        assert_eq!(found("deep/pic.png").as_deref(), Some("a/deep/pic.png"));
        assert_eq!(found("c/x.md").as_deref(), Some("b/c/x.md"));
        assert_eq!((found("gone.png"), found("ther.png"), found("none.md")), (None, None, None));
    }
}
