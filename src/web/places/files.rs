//! Serves `/files/PATH`: the vault's pictures, for notes that show them.

use super::prelude::*;
use crate::vault::{NotePath, Vault, VaultError, WalkEntry, WalkOptions};

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let path = NotePath::new(&visit.rest)?;
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
    if visit.workspace.vault.is_hidden(&path) {
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
        Err(error) => Err(error.into()),
    }
}

/// The picture that a note in a folder means by a path which isn't there from that folder: by ever shorter ends of the
/// path, since the folder stands before it here.
fn elsewhere(visit: &Visit<'_>, path: &NotePath) -> Option<NotePath> {
    let files = all_files(&visit.workspace.vault);
    let ends = path.as_str().match_indices('/').map(|(at, _)| &path.as_str()[at + 1..]);
    std::iter::once(path.as_str()).chain(ends).find_map(|end| find_link_target(&files, end))
}

/// The files of the vault, for [`find_link_target`]; none if it can't be read.
pub(super) fn all_files(vault: &Vault) -> Vec<WalkEntry> {
    vault.walk(&WalkOptions::every_file()).map(|walk| walk.entries).unwrap_or_default()
}

/// The file whose path is, or ends with, `wanted`, in upper or lower case; of several the one in the fewest folders,
/// then the first by name.
pub(super) fn find_link_target(files: &[WalkEntry], wanted: &str) -> Option<NotePath> {
    let wanted = format!("/{}", wanted.to_lowercase());
    let paths = files.iter().map(|file| &file.path);
    let found = paths.filter(|path| format!("/{}", path.as_str().to_lowercase()).ends_with(&wanted));
    found.min_by_key(|path| path.as_str().matches('/').count()).cloned()
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
        let files = all_files(&Vault::open(dir.path()).unwrap());
        let found = |wanted: &str| find_link_target(&files, wanted).map(|path| path.to_string());
        assert_eq!(found("pic.png").as_deref(), Some("b/Pic.png"));
        assert_eq!(found("deep/pic.png").as_deref(), Some("a/deep/pic.png"));
        assert_eq!(found("c/x.md").as_deref(), Some("b/c/x.md"));
        assert_eq!((found("gone.png"), found("ther.png"), found("none.md")), (None, None, None));
    }
}
