//! Checks the routines: the brains, skills and servers that their frontmatter names.

use super::Check;
use crate::agent::skills::Skills;
use crate::routines;
use crate::workspace::Workspace;

/// A warning for each brain, skill and MCP server that a routine names and that isn't there.
pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let Ok(notes) = routines::read_all(workspace) else { return Vec::new() };
    let settings = &workspace.settings;
    let skills = Skills::of(workspace).list().unwrap_or_default();
    let mut checks = Vec::new();
    for note in notes {
        let Some(routine) = note.routine else { continue };
        let mut warn = |what: &str, name: &str, fix: &str| {
            let detail = format!("{}: it names the {what} `{name}`, and there is none", note.path);
            checks.push(Check::warn("routines", detail, fix));
        };
        for name in routine.brain.iter().filter(|name| settings.brains.iter().all(|one| one.name != **name)) {
            warn("brain", name, "name one of `vault-agent brain list`; until then the chain is asked");
        }
        for name in routine.skills.iter().filter(|name| skills.iter().all(|one| one.folder != **name)) {
            warn(
                "skill",
                name,
                "name one of `vault-agent skill list`; until then the routine goes without it",
            );
        }
        for name in routine.mcp.iter().filter(|name| settings.mcp.iter().all(|one| one.name != **name)) {
            warn(
                "MCP server",
                name,
                "add it as `[[mcp]]` to the settings; until then the routine goes without it",
            );
        }
    }
    checks
}
