//! `/files/PATH`: the vault's pictures, for notes that show them.

use super::{Place, nothing};
use crate::vault::VaultError;
use crate::web::answer::{Problem, View};
use crate::web::visit::Visit;

pub(super) const PLACE: Place = Place { name: "files", title: "Files", is_listed: false, see, act: nothing };

fn see(visit: &Visit<'_>) -> Result<View, Problem> {
    let path = visit.note_path(&visit.rest)?;
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let kind = match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "application/octet-stream",
        _ => return Err(Problem::not_found(format!("`{path}` is no picture"))),
    };
    if path.is_hidden() {
        return Err(Problem::not_found(format!("`{path}` is not shown")));
    }
    match visit.workspace.vault.read(&path) {
        // A picture of that form can hold a script; saved, it is only a file.
        Ok(bytes) => Ok(View::File { bytes, kind, is_download: extension == "svg" }),
        Err(VaultError::NotFound(_)) => Err(Problem::not_found(format!("there is no `{path}`"))),
        Err(error @ VaultError::Escapes(_)) => Err(Problem::not_found(error)),
        Err(error) => Err(Problem::failed(error)),
    }
}
