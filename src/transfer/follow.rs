//! Copies another program's folder of notes into the vault (`memory/NAME/`), or updates the copy
//! after changes there.
//!
//! The copy goes one way: changes and deletions of the source are repeated in the vault, and a copy that a person
//! changed stays. The state directory keeps the hashes of the bytes that were copied last; without that file a copy
//! that differs counts as changed by the person. If the source folder is missing, no copy is deleted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ImportBatch, ImportProblem, Result, bounded_read};
use crate::config::{FOLLOWED, json_file};
use crate::vault::{Actor, ChangeReason, NotePath, Operation};
use crate::workspace::Workspace;

/// The file in the state directory.
const FILE_NAME: &str = "followed.json";

/// The hash of each note as it was copied last, by its path in the vault.
type CopiedHashes = BTreeMap<String, String>;

/// The result of one comparison of the folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FollowReport {
    /// Notes that are as they are there now.
    pub copied: usize,
    /// Notes that went, as they did there.
    pub removed: usize,
    /// Notes that a person changed here, which stay.
    pub kept: Vec<String>,
    /// Files that can't be copied, and why.
    pub skipped: Vec<String>,
}

/// The step for one note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyStep {
    /// It is as it should be.
    Nothing,
    /// It comes, or changes.
    Copy,
    /// It goes.
    Remove,
    /// A person has changed it here.
    Keep,
}

/// The step for a note that was copied as `last`, stands here as `here` and there as `there`.
fn step(last: Option<&str>, here: Option<&str>, there: Option<&str>) -> CopyStep {
    match (last, here, there) {
        (_, here, there) if here == there => CopyStep::Nothing,
        // It hasn't changed there: what was done here was meant.
        (Some(last), _, Some(there)) if last == there => CopyStep::Nothing,
        (_, None, Some(_)) => CopyStep::Copy,
        (Some(last), Some(here), Some(_)) if last == here => CopyStep::Copy,
        (Some(last), Some(here), None) if last == here => CopyStep::Remove,
        (Some(_), _, None) => CopyStep::Nothing,
        _ => CopyStep::Keep,
    }
}

/// The folders of the settings with their names, as paths.
pub fn folders(workspace: &Workspace) -> Vec<(String, PathBuf)> {
    let home = etcetera::home_dir().unwrap_or_default();
    let path = |folder: &String| match folder.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => workspace.vault.root().join(folder),
    };
    workspace.settings.follow.iter().map(|(name, folder)| (name.clone(), path(folder))).collect()
}

/// Texts by their relative paths, and the files and folders that can't be used, with the reasons.
pub type FolderTexts = (Vec<(String, String)>, Vec<ImportProblem>);

/// The Markdown files of a folder and its subfolders.
///
/// # Errors
/// It is no folder, or has too much in it.
pub fn notes(from: &Path) -> Result<FolderTexts> {
    let mut batch = ImportBatch::default();
    let notes = bounded_read::texts(from, &mut batch)?;
    Ok((notes, batch.skipped))
}

/// Makes `memory/NAME/` equal to the folder's present content.
///
/// # Errors
/// The folder and the vault lie in one another, the folder can't be read, or the vault can't be written.
pub fn follow(workspace: &Workspace, name: &str, from: &Path) -> anyhow::Result<FollowReport> {
    let (root, source) = (workspace.vault.root(), from.canonicalize().unwrap_or_default());
    anyhow::ensure!(
        !source.starts_with(root) && !root.starts_with(&source) || source.as_os_str().is_empty(),
        "`{}` and the vault lie in one another: name a folder outside of it in `[follow]`",
        from.display()
    );
    let prefix = format!("{FOLLOWED}/{name}/");
    let (notes, skipped) = notes(from)?;
    // A note that can't be read exists all the same.
    let is_unread = |path: &str| {
        let inside = Path::new(&path[prefix.len()..]);
        skipped.iter().any(|ImportProblem { place, .. }| inside.starts_with(place))
    };
    let there: BTreeMap<String, Vec<u8>> =
        notes.into_iter().map(|(name, text)| (format!("{prefix}{name}"), text.into_bytes())).collect();
    let state = workspace.dirs.state.join(FILE_NAME);
    let mut copied: CopiedHashes = json_file::load(&state).unwrap_or_default();
    let before = copied.clone();
    let ours = copied.keys().filter(|path| path.starts_with(&prefix) && !is_unread(path));
    let ours: Vec<String> = ours.cloned().collect();
    let mut done = FollowReport::default();
    done.skipped.extend(skipped.iter().map(ImportProblem::to_string));
    let paths: std::collections::BTreeSet<String> = there.keys().cloned().chain(ours).collect();
    let why = ChangeReason::new(Actor::Hook, format!("followed {name}: its notes are those of its folder"));
    workspace.as_one_commit(&why, || -> anyhow::Result<()> {
        for path in paths {
            if let Err(error) = one(workspace, &path, there.get(&path), &mut copied, &mut done, &why) {
                done.skipped.push(format!("{path}: {error}"));
            }
        }
        Ok(())
    })?;
    if copied != before {
        let saved = json_file::save(&state, &copied);
        saved.map_err(|error| anyhow::anyhow!("what was copied can't be remembered: {error}"))?;
    }
    Ok(done)
}

fn one(
    workspace: &Workspace,
    path: &str,
    there: Option<&Vec<u8>>,
    copied: &mut CopiedHashes,
    done: &mut FollowReport,
    why: &ChangeReason,
) -> anyhow::Result<()> {
    let Ok(note) = NotePath::new(path) else {
        done.skipped.push(format!("{path}: a vault can't have a note of that name"));
        return Ok(());
    };
    let here = workspace.vault.read_if_there(&note)?;
    let hash = |bytes: &Vec<u8>| blake3::hash(bytes).to_hex().to_string();
    let (now_here, now_there) = (here.as_ref().map(hash), there.map(hash));
    let what = step(copied.get(path).map(String::as_str), now_here.as_deref(), now_there.as_deref());
    match (what, here, there) {
        (CopyStep::Copy, None, Some(bytes)) => {
            workspace.editor.create(&note, bytes, why)?;
            done.copied += 1;
        }
        (CopyStep::Copy, Some(here), Some(bytes)) => {
            let with = Operation::ReplaceAll { expect: Some(here), with: bytes.clone() };
            done.copied += usize::from(workspace.editor.edit(&note, &[with], why)?.all_done());
        }
        (CopyStep::Remove, Some(expect), _) => {
            done.removed += usize::from(
                workspace.editor.edit(&note, &[Operation::RemoveFile { expect }], why)?.all_done(),
            );
        }
        (CopyStep::Keep, ..) => done.kept.push(path.to_owned()),
        _ => {}
    }
    match now_there {
        Some(hash) => drop(copied.insert(path.to_owned(), hash)),
        None => drop(copied.remove(path)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_there_changes_here_and_a_person_s_change_stays() {
        let (a, b, mine) = (Some("a"), Some("b"), Some("mine"));
        for (last, here, there, what) in [
            (None, None, a, CopyStep::Copy),
            (a, a, b, CopyStep::Copy),
            (a, a, a, CopyStep::Nothing),
            (a, a, None, CopyStep::Remove),
            // A person changed or deleted it here.
            (a, mine, a, CopyStep::Nothing),
            (a, mine, b, CopyStep::Keep),
            (a, mine, None, CopyStep::Nothing),
            (a, None, a, CopyStep::Nothing),
            (a, None, b, CopyStep::Copy),
            // The list of copied notes is lost.
            (None, mine, a, CopyStep::Keep),
            (None, a, a, CopyStep::Nothing),
        ] {
            assert_eq!(step(last, here, there), what, "{last:?} {here:?} {there:?}");
        }
    }

    #[test]
    fn the_vault_is_not_copied_into_itself() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let folder = |name: &str| std::fs::create_dir_all(root.join(name)).unwrap();
        folder("vault/sub");
        folder("other");
        std::fs::write(root.join("vault/a.md"), "words\n").unwrap();
        std::fs::write(root.join("other/b.md"), "words\n").unwrap();
        let vault = crate::vault::Vault::open(&root.join("vault")).unwrap();
        let dirs = crate::config::Dirs { state: root.join("state"), cache: root.join("cache") };
        let clock = std::sync::Arc::new(crate::clock::SystemClock);
        let workspace = Workspace::open_in(vault, dirs, clock).unwrap();
        for inside in ["vault", "vault/sub", "", "other/../vault"] {
            let said = follow(&workspace, "x", &root.join(inside)).unwrap_err().to_string();
            assert!(said.contains("lie in one another"), "{said}");
        }
        assert_eq!(follow(&workspace, "x", &root.join("other")).unwrap().copied, 1);
        assert!(follow(&workspace, "x", &root.join("none")).is_err());
        assert!(!root.join("vault/memory/x/a.md").exists());
    }
}
