//! Lists current faults in sentences, for the page's start (`/`). `/health` checks more.

use std::sync::PoisonError;

use super::answer::PageError;
use super::visit::Visit;
use crate::agent::brain_clients;
use crate::brain::failover::{self, Availability};
use crate::brain::health::HealthStore;
use crate::config::Settings;
use crate::conflicts::ConflictCopy;
use crate::format::Finding;
use crate::format::reminder::RemindersFile;
use crate::instance::DaemonLock;
use crate::when;

/// So many lines that are no reminders, and so many copies, are named.
const MOST: usize = 5;

/// The current faults.
pub(super) fn current_faults(visit: &Visit<'_>, reminders: &RemindersFile) -> Result<Vec<String>, PageError> {
    let workspace = visit.workspace;
    let mut out = Vec::new();
    if let Err(error) = Settings::load(workspace.vault.root()) {
        out.push(format!("the settings are not as on disk, where they can't be used: {error}"));
    }
    if DaemonLock::holder(&workspace.dirs.state).is_none() {
        out.push("no daemon runs: nothing that is due is told; start `vault-agent run`".to_owned());
    }
    let path = &workspace.settings.paths.reminders;
    for finding in reminders.near_misses.iter().take(MOST) {
        let Finding { line, reason, suggestion, .. } = finding;
        out.push(format!("`{path}:{line}` is no reminder: {reason}; {suggestion}"));
    }
    let settings = workspace.pass_settings();
    let journal = workspace.journal()?;
    for refusal in journal.refusals(&settings.notifiers)? {
        out.push(format!("{} refuses messages: {}", refusal.place, refusal.reason));
    }
    for open in journal.open_deliveries()? {
        if let Some(error) = open.error {
            out.push(format!("\"{}\" is not delivered yet: {error}", open.fact.msg));
        }
    }
    out.extend(settings.read_only);
    out.extend(workspace.machines.problem());
    let health = HealthStore::new(&workspace.dirs.state).load();
    for brain in brain_clients::prepare(&workspace.settings, workspace.vault.root()) {
        match failover::availability(&health, &brain.id, visit.now) {
            Availability::Until(class, until) => {
                let local = workspace.zone.tz().to_datetime(until);
                let until = when::confirmation(local, visit.now, &workspace.zone);
                out.push(format!("the model {} rests until {until}: {}", brain.name(), class.name()));
            }
            Availability::Off(class) => {
                out.push(format!("the model {} can't be asked: {}", brain.name(), class.name()));
            }
            Availability::Free => {}
        }
    }
    out.extend(conflict_copies(visit));
    Ok(out)
}

/// The copies that sync tools made beside notes.
pub(super) fn conflict_copies(visit: &Visit<'_>) -> Vec<String> {
    let paths = visit.workspace.settings.paths.all();
    let copies =
        visit.shared.copies.lock().unwrap_or_else(PoisonError::into_inner).find_all(&visit.workspace.vault);
    let said = |copy: &ConflictCopy| {
        let is_own = paths.iter().any(|(_, path)| *path == copy.note.as_str());
        let then = if is_own { "what stands in it is not told" } else { "the two differ" };
        format!(
            "`{}` is a sync tool's copy of `{}`: {then}; `vault-agent conflicts merge` brings it in",
            copy.copy, copy.note
        )
    };
    let more = copies.len().saturating_sub(MOST);
    let more =
        (more > 0).then(|| format!("{more} more copies of sync tools: `vault-agent conflicts` lists all"));
    copies.iter().take(MOST).map(said).chain(more).collect()
}
