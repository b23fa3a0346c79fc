//! Finds the file that an Obsidian link means: by its name, anywhere in the vault.

use std::collections::VecDeque;
use std::path::Path;

use crate::vault::NotePath;

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
