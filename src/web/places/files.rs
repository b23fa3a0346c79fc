//! Serves `/files/PATH`: the vault's pictures, for notes that show them.

use super::{PagePlace, nothing};
use crate::vault::{NotePath, VaultError};
use crate::web::answer::{PageError, PageView};
use crate::web::link_target;
use crate::web::visit::{Visit, encoded};

pub(super) const PLACE: PagePlace =
    PagePlace { name: "files", title: "Files", is_listed: false, see, act: nothing };

fn see(visit: &Visit<'_>) -> Result<PageView, PageError> {
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

/// The picture that a note in a folder means by a path which isn't there from that folder: by ever shorter ends of the path,
/// since the folder stands before it here.
fn elsewhere(visit: &Visit<'_>, path: &NotePath) -> Option<NotePath> {
    let mut rest = Some(path.clone());
    while let Some(wanted) = rest {
        if let Some(found) = link_target::find_link_target(visit.workspace.vault.root(), &wanted) {
            return Some(found);
        }
        rest = wanted.as_str().split_once('/').and_then(|(_, rest)| NotePath::new(rest).ok());
    }
    None
}
