//! Chooses the paths of sessions' logs: `logs/claude-code/PROJECT/SESSION.md`, a sub-agent's beside it, and large
//! results and pictures in `files/`.
//!
//! A session keeps its log wherever that was moved to below the surface's folder; a new one begins in the folder of
//! the project that the session's first line was written in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::hooks::archive::log_markers;
use crate::hooks::context::CLIENT;
use crate::memory::{Scope, derive};
use crate::vault::{NotePath, PathError, Vault};
use crate::workspace::Workspace;

/// Longer names are cut, with a hash of the whole.
const MAX_NAME_CHARS: usize = 80;
/// The most logs of a project that are searched for the one that a session continues, the newest first.
const MAX_SCANNED_LOGS: usize = 1000;

/// The folder of one surface's logs.
#[derive(Debug, Clone)]
pub struct LogPaths {
    pub(super) vault: Vault,
    folder: String,
}

impl LogPaths {
    /// Of a workspace.
    pub fn of(workspace: &Workspace) -> Self {
        let logs = workspace.settings.paths.logs.trim_end_matches('/');
        Self { vault: workspace.vault.clone(), folder: format!("{logs}/{CLIENT}") }
    }

    /// The project and the path of a log that is there.
    pub fn find(&self, name: &str) -> Option<(String, NotePath)> {
        let projects = std::fs::read_dir(self.vault.root().join(&self.folder)).ok()?.flatten();
        projects.filter_map(|project| project.file_name().into_string().ok()).find_map(|project| {
            let path = self.log(&project, name).ok()?;
            self.vault.exists(&path).then_some((project, path))
        })
    }

    /// The path of a log.
    ///
    /// # Errors
    /// The settings' folder of logs is none.
    pub fn log(&self, project: &str, name: &str) -> Result<NotePath, PathError> {
        NotePath::new(&format!("{}/{project}/{name}.md", self.folder))
    }

    /// The path of a file beside the logs.
    ///
    /// # Errors
    /// As [`LogPaths::log`].
    pub fn file(&self, project: &str, name: &str) -> Result<NotePath, PathError> {
        NotePath::new(&format!("{}/{project}/files/{name}", self.folder))
    }

    /// The log that a link names, if it is one of these.
    pub fn linked(&self, target: &str) -> Option<NotePath> {
        let path = NotePath::new(&format!("{target}.md")).ok()?;
        path.as_str().strip_prefix(&self.folder).is_some_and(|rest| rest.starts_with('/')).then_some(path)
    }

    /// The logs of a project by the name of the first piece that was said in each.
    pub fn heads(&self, project: &str) -> HashMap<u128, NotePath> {
        let dir = self.vault.root().join(&self.folder).join(project);
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut logs: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let path = self.log(project, name.strip_suffix(".md")?).ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, path))
            })
            .collect();
        logs.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        logs.truncate(MAX_SCANNED_LOGS);
        let head = |path: NotePath| Some((log_markers::first(&self.vault, &path)?, path));
        logs.into_iter().rev().filter_map(|(_, path)| head(path)).collect()
    }
}

/// The name of a session's log; of a sub-agent's, where one is named.
pub fn log_name(session: &str, agent: Option<&str>) -> String {
    match agent {
        None => path_part(session),
        Some("") => format!("{}_agents", path_part(session)),
        Some(agent) => format!("{}_agent-{}", path_part(session), path_part(agent)),
    }
}

/// The name of the project that a session in the folder `cwd` belongs to.
pub fn project_of(cwd: &Path) -> String {
    match derive(cwd, |name| std::env::var(name).ok()) {
        Scope::Project(id) => path_part(&id),
        _ => path_part(&cwd.file_name().map(PathBuf::from).unwrap_or_default().to_string_lossy()),
    }
}

/// A text as a part of a path: what is no plain letter, digit, `-` or `_` is a `-`, and a hash tells texts apart that
/// would look the same.
fn path_part(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.len() <= MAX_NAME_CHARS && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let plain: String =
        text.chars().take(MAX_NAME_CHARS).map(|c| if is_plain(c) { c } else { '-' }).collect();
    let hash = &blake3::hash(text.as_bytes()).to_hex()[..6];
    format!("{}-{hash}", plain.trim_matches('-')).trim_start_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parts_of_paths() {
        assert_eq!(log_name("0b9c-x", None), "0b9c-x");
        assert_eq!(log_name("s", Some("a1")), "s_agent-a1");
        assert_eq!(log_name("s", Some("")), "s_agents");
        for odd in ["../../etc/passwd", "", "a b", "..", "é", &"x".repeat(300)] {
            let name = path_part(odd);
            assert!(NotePath::new(&name).is_ok() && name.len() < 100, "{odd}: {name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{name}");
            assert_ne!(name, path_part(&format!("{odd}!")));
        }
    }
}
