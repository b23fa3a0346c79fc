//! Keeps the list of files that no snapshot holds, with the reasons: too large, in the cloud, unreadable.

use std::collections::BTreeSet;
use std::path::Path;

use super::pending::{read_json, write_json};
use super::scan::LeftOut;
use crate::history::error::Result;
use crate::vault::NotePath;

const NAME: &str = "left-out.json";

/// The list in the state directory `state`, without opening the history; empty where there is none.
pub fn left_out_in(state: &Path) -> Vec<LeftOut> {
    read(&state.join("history.git")).unwrap_or_default()
}

pub(in crate::history) fn read(dir: &Path) -> Result<Vec<LeftOut>> {
    Ok(read_json(&dir.join(NAME))?.unwrap_or_default())
}

/// Replaces the list, after a scan of everything.
pub(in crate::history) fn replace_list(dir: &Path, left: &[LeftOut]) -> Result<()> {
    write_json(&dir.join(NAME), &left)
}

/// Updates the list for `paths`; the rest stays.
pub(super) fn update_paths(dir: &Path, paths: &BTreeSet<NotePath>, left: &[LeftOut]) -> Result<()> {
    let mut list = read(dir)?;
    let before = list.clone();
    let looked = |path: &str| {
        paths.iter().any(|at| {
            path.strip_prefix(at.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    list.retain(|file| !looked(&file.path));
    list.extend_from_slice(left);
    list.sort_unstable();
    list.dedup();
    if list == before { Ok(()) } else { replace_list(dir, &list) }
}
