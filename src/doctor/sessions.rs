//! Checks that coding sessions are archived: the hooks that archive them have to be called.

use super::Check;
use crate::hooks::install::{installed, user_settings};
use crate::workspace::Workspace;

/// The check of archived sessions; none if they are not to be archived.
pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    if !workspace.settings.hooks.archive {
        return Vec::new();
    }
    let Some(settings) = user_settings() else { return Vec::new() };
    let text = std::fs::read_to_string(&settings).unwrap_or_default();
    if installed(&text).is_ok_and(|hooks| !hooks.is_empty()) {
        let folder = workspace.settings.paths.sessions();
        return vec![Check::ok("sessions", format!("coding agents' sessions are kept in {folder}"))];
    }
    let detail = format!("`[hooks] archive` is on, but `{}` calls no hook", settings.display());
    let fix = "`vault-agent hook install` (or `--project` in each project); `vault-agent hook archive FILE…` brings in transcripts";
    vec![Check::warn("sessions", detail, fix)]
}
