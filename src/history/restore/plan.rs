//! Plans a restore: compares the target snapshot with the present, without touching either.

use crate::history::prelude::*;
use crate::history::read::is_within;
use crate::history::store::FileStates;
use crate::history::take::{Rename, RestoreStep};

/// A file that is not restored, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockedFile {
    /// Vault-relative.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The plan of a restore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestorePlan {
    /// Every file that is written or removed, ordered by path.
    pub steps: Vec<RestoreStep>,
    /// Files that are newer than the point; only `--exact` removes them.
    pub newer: Vec<String>,
    /// Files that can't be restored.
    pub blocked: Vec<BlockedFile>,
    /// Files that have another path now. Their text is restored where they are now, if that was asked
    /// for; only `--exact` moves them back.
    pub renamed: Vec<Rename>,
}

/// The way from `present` to `target` for the files at or under `scopes` (all where there are none).
pub fn plan(target: &FileStates, present: &FileStates, scopes: &[String], exact: bool) -> RestorePlan {
    let mut plan = RestorePlan::default();
    let mut removed = BTreeSet::new();
    for (path, before) in present.iter().filter(|(path, _)| is_within(path, scopes)) {
        if !target.contains_key(path) {
            if exact {
                removed.insert(path.as_str());
                plan.steps.push(RestoreStep { path: path.clone(), before: Some(*before), after: None });
            } else {
                plan.newer.push(path.clone());
            }
        }
    }
    let stays = |path: &str| present.contains_key(path) && !removed.contains(path);
    for (path, after) in target.iter().filter(|(path, _)| is_within(path, scopes)) {
        let before = present.get(path).copied();
        if before == Some(*after) {
            continue;
        }
        if let Some(reason) = blocking_path(path, present, &stays) {
            plan.blocked.push(BlockedFile { path: path.clone(), reason });
            continue;
        }
        plan.steps.push(RestoreStep { path: path.clone(), before, after: Some(*after) });
    }
    plan.steps.sort_by(|a, b| a.path.cmp(&b.path));
    plan
}

/// As [`plan`], with `renames` between the target and the present: those that concern `scopes`.
pub(crate) fn plan_renamed(
    mut target: FileStates,
    present: &FileStates,
    scopes: &[String],
    exact: bool,
    renames: Vec<Rename>,
) -> RestorePlan {
    let mut scopes = scopes.to_vec();
    let all = scopes.is_empty();
    for rename in &renames {
        if exact {
            let both = [&rename.from, &rename.to].map(Clone::clone);
            scopes.extend(both.into_iter().filter(|_| !all));
        } else if let Some(state) = target.remove(&rename.from)
            && is_within(&rename.to, &scopes)
        {
            target.insert(rename.to.clone(), state);
        }
    }
    RestorePlan { renamed: renames, ..plan(&target, present, &scopes, exact) }
}

/// A file where a folder must be, or the other way round.
fn blocking_path(path: &str, present: &FileStates, stays: &impl Fn(&str) -> bool) -> Option<String> {
    let mut parents = path.match_indices('/').map(|(at, _)| &path[..at]);
    if let Some(parent) = parents.find(|parent| stays(parent)) {
        return Some(format!("`{parent}` is a file now, where a folder must be; `--exact` removes it"));
    }
    let inside = format!("{path}/");
    let below = present.range(inside.clone()..).take_while(|(other, _)| other.starts_with(&inside));
    below
        .into_iter()
        .any(|(other, _)| stays(other))
        .then(|| format!("`{path}` is a folder with newer notes now; `--exact` removes them"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::FileMode;
    use crate::history::store::FileState;

    fn files(list: &[(&str, &str)]) -> FileStates {
        let state = |content: &str| FileState {
            id: git2::Oid::hash_object(git2::ObjectType::Blob, content.as_bytes()).unwrap(),
            mode: FileMode::File,
        };
        list.iter().map(|(path, content)| ((*path).to_owned(), state(content))).collect()
    }

    fn names(plan: &RestorePlan) -> Vec<String> {
        let sign = |step: &RestoreStep| match (step.before, step.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        plan.steps.iter().map(|step| format!("{}{}", sign(step), step.path)).collect()
    }

    #[test]
    fn newer_files_stay_unless_exact() {
        let target = files(&[("a", "1"), ("d/b", "1"), ("same", "1")]);
        let present = files(&[("a", "2"), ("new", "1"), ("same", "1")]);
        let loose = plan(&target, &present, &[], false);
        assert_eq!(names(&loose), ["~a", "+d/b"]);
        assert_eq!(loose.newer, ["new"]);
        assert_eq!(names(&plan(&target, &present, &[], true)), ["~a", "+d/b", "-new"]);
        assert_eq!(names(&plan(&target, &present, &["d".into()], true)), ["+d/b"]);
    }

    #[test]
    fn a_folder_in_a_files_place_is_named() {
        let (target, present) = (files(&[("a", "1")]), files(&[("a/b", "2")]));
        let loose = plan(&target, &present, &[], false);
        assert!(loose.steps.is_empty());
        assert!(loose.blocked[0].reason.contains("is a folder"), "{loose:?}");
        assert_eq!(names(&plan(&target, &present, &[], true)), ["+a", "-a/b"]);
        assert!(plan(&present, &target, &[], false).blocked[0].reason.contains("is a file now"));
    }
}
