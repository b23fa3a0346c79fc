//! What doesn't work now, in sentences: for the first page. `/health` looks longer.

use std::collections::BTreeSet;

use super::answer::Problem;
use super::visit::Visit;
use crate::agent::setup;
use crate::brain::failover::{self, Rest};
use crate::brain::health::Store;
use crate::config::Settings;
use crate::format::reminder;
use crate::vault::conflict;
use crate::when;

/// So many lines that are no reminders are named.
const MOST: usize = 5;

/// What doesn't work now.
pub(super) fn troubles(visit: &Visit<'_>) -> Result<Vec<String>, Problem> {
    let workspace = visit.workspace;
    let mut out = Vec::new();
    if let Err(error) = Settings::load(workspace.vault.root()) {
        out.push(format!("the settings are not as on disk, where they can't be used: {error}"));
    }
    let path = workspace.note(&workspace.settings.paths.reminders);
    let missed =
        workspace.vault.read(&path).map_or_else(|_| Vec::new(), |bytes| reminder::parse(&bytes).near_misses);
    for finding in missed.iter().take(MOST) {
        out.push(format!(
            "`{path}:{}` is no reminder: {}; {}",
            finding.line, finding.reason, finding.suggestion
        ));
    }
    let settings = workspace.pass_settings();
    let journal = workspace.journal().map_err(Problem::failed)?;
    for refusal in journal.refusals(&settings.notifiers).map_err(Problem::failed)? {
        out.push(format!("{} refuses messages: {}", refusal.place, refusal.reason));
    }
    for open in journal.open_deliveries().map_err(Problem::failed)? {
        if let Some(error) = open.error {
            out.push(format!("\"{}\" is not delivered yet: {error}", open.fact.msg));
        }
    }
    out.extend(settings.read_only);
    let health = Store::new(&workspace.dirs.state).load();
    for brain in setup::prepare(&workspace.settings, workspace.vault.root()) {
        match failover::rest(&health, &brain.link, visit.now) {
            Rest::Until(class, until) => {
                let local = workspace.zone.tz().to_datetime(until);
                let until = when::said(local, visit.now, &workspace.zone);
                out.push(format!("the brain {} rests until {until}: {}", brain.name(), class.name()));
            }
            Rest::Off(class) => {
                out.push(format!("the brain {} can't be asked: {}", brain.name(), class.name()));
            }
            Rest::Free => {}
        }
    }
    out.extend(copies(visit).into_iter().map(|path| {
        format!(
            "`{path}` is a sync tool's copy of a note of ours: what stands in it is not told; \
             `vault-agent conflicts merge` brings it in"
        )
    }));
    Ok(out)
}

/// The copies that sync tools made beside the agent's notes. Only names are looked at.
fn copies(visit: &Visit<'_>) -> BTreeSet<String> {
    let vault = &visit.workspace.vault;
    let paths = visit.workspace.settings.paths.all();
    let ours = paths.iter().filter(|(_, path)| path.ends_with(".md")).map(|(_, path)| *path);
    let folders: BTreeSet<&str> =
        ours.map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    let mut found = BTreeSet::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(vault.root().join(folder)) else { continue };
        for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
            let Some(original) = conflict::original_of(&name) else { continue };
            let at =
                |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if paths.iter().any(|(_, path)| *path == at(&original)) {
                found.insert(at(&name));
            }
        }
    }
    found
}
