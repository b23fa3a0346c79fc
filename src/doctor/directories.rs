//! Checks that the vault's folder and the directories of state and cache can be written.
//!
//! Also checks that the state files can be read and written, and that state and cache lie outside of the vault. Warns
//! if the state of a moved vault was left behind.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::Check;
use crate::workspace::Workspace;

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let left_behind = workspace.dirs.left_behind(workspace.vault.root());
    let left_behind = left_behind.map(|(found, fix)| Check::warn("directories", found, fix));
    [directories(workspace)].into_iter().chain(left_behind).collect()
}

fn directories(workspace: &Workspace) -> Check {
    let fail = |detail: String, fix: &str| Check::fail("directories", detail, fix);
    let root = workspace.vault.root();
    for dir in [&workspace.dirs.state, &workspace.dirs.cache] {
        if dir.canonicalize().is_ok_and(|dir| dir.starts_with(root)) {
            let detail =
                format!("`{}` lies in the vault, where sync tools would carry databases", dir.display());
            return fail(detail, "name another with VAULT_AGENT_STATE_DIR and VAULT_AGENT_CACHE_DIR");
        }
        if let Err(error) = try_write(dir) {
            let detail = format!("can't write `{}`: {error}", dir.display());
            return fail(detail, "free some space, or give yourself the right to write there");
        }
    }
    if let Some(file) = unusable_file(&workspace.dirs.state) {
        let detail = format!("can't read and write `{}`", file.display());
        return fail(detail, "give it back to yourself: perhaps a command ran as another user");
    }
    if rustix::fs::access(root, Access::WRITE_OK).is_err() {
        let detail = format!("can't write in the vault `{}`", root.display());
        return fail(detail, "give yourself the right to write there, or mount it writable");
    }
    let (state, cache) = (workspace.dirs.state.display(), workspace.dirs.cache.display());
    Check::ok("directories", format!("state {state}, cache {cache}"))
}

/// A state file that may not be read or written.
fn unusable_file(state: &Path) -> Option<PathBuf> {
    let folders = [state.to_owned(), state.join("edits")];
    let mut files =
        folders.iter().filter_map(|dir| dir.read_dir().ok()).flatten().flatten().map(|file| file.path());
    // Some of SQLite's come and go.
    let is_refused = |error| error != rustix::io::Errno::NOENT;
    files.find(|file| {
        rustix::fs::access(file.as_path(), Access::READ_OK | Access::WRITE_OK).is_err_and(is_refused)
    })
}

fn try_write(dir: &Path) -> std::io::Result<()> {
    let probe = dir.join(".doctor");
    std::fs::write(&probe, b"probe")?;
    std::fs::remove_file(probe)
}
