//! Serves `/health`: the findings of `doctor`, with a button for each finding that the page can repair; the report of
//! `status`; and the page's sessions.

use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::history::open;
use super::prelude::*;
use crate::agent::brain_clients;
use crate::brain::health::HealthStore;
use crate::config::NotifyKind;
use crate::conflicts::ConflictCopy;
use crate::deliver::instants::format_instants_in;
use crate::deliver::{Console, Notifier, send_test};
use crate::doctor::{self, Check, CheckExtent, ExtraCheck, Repair, Severity, StatusReport, ago};
use crate::format::quote;
use crate::history::{CheckDepth, Deletions, Interrupted, RestoreReport};
use crate::listen::secret;
use crate::machines::status::{MachineStatus, MachinesStatus};
use crate::search::IndexError;
use crate::web::store::{self, PageSession};
use crate::workspace::Workspace;

/// The number of coming items in the JSON, as in `status`.
const NEXT: usize = 5;
/// The longest that a test message may take: other changes wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(8);
/// The most copies of sync tools that are named.
const NAMED: usize = 5;

/// The JSON of the page: that of `doctor`, of `status` and of `web sessions`.
#[derive(Debug, Serialize)]
struct HealthView {
    checks: Vec<Check>,
    status: StatusReport,
    sessions: Vec<PageSession>,
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let workspace = visit.workspace;
    let is_whole = visit.query("look") == Some("all");
    let health = HealthView {
        // Checks over the network run only if a person asks.
        checks: if is_whole {
            let further: [ExtraCheck; 3] = [doctor::discord, doctor::embeddings, store::checks];
            doctor::examine(workspace, CheckExtent::Whole, &further)
        } else {
            quick_look(visit)
        },
        status: doctor::report(workspace, NEXT, &mut visit.tasks())?,
        sessions: visit.shared.store.sessions(visit.now)?,
    };
    let verified = visit.query("verify").map(|_| verified(visit)).transpose()?;
    visit.view("Health", &health, |health| {
        html! {
            @if let Some(verified) = &verified { (verified) }
            h2 { "Findings" }
            div.findings { (findings(visit, &health.checks)) }
            p.soft {
                @if is_whole { "All checks ran, including all notes, Discord and the embedding model. " }
                @else { a href="/health?look=all" { "Run all checks" } ": reads all notes and the latest history, contacts Discord and the embedding model. " }
                a href="/health?verify=history" { "Verify the whole history" } "."
            }
            (daemon(visit, &health.status))
            h2 { "Notifiers" }
            (notifiers(visit))
            h2 { "Brains" }
            (brains(visit, &health.status))
            h2 { "Other MCP servers" }
            (servers(visit, &health.status))
            h2 { "Index" }
            p { "The search index is built from the notes and can be rebuilt at any time." }
            (parts::button(visit, "/health", "reindex", &[], "Rebuild the index"))
            h2 { "Browser sessions" }
            (sessions(visit, &health.sessions))
        }
    })
}

/// The findings of a quick look, with the copies of sync tools, which `doctor` names in a whole one alone.
pub(super) fn quick_look(visit: &Visit<'_>) -> Vec<Check> {
    let mut checks = doctor::examine(visit.workspace, CheckExtent::Quick, &[store::checks]);
    checks.extend(conflict_copies(visit));
    checks
}

/// The copies that sync tools made beside notes.
fn conflict_copies(visit: &Visit<'_>) -> Vec<Check> {
    let paths = &visit.workspace.settings.paths;
    let copies =
        visit.shared.copies.lock().unwrap_or_else(PoisonError::into_inner).find_all(&visit.workspace.vault);
    let said = |copy: &ConflictCopy| {
        let is_due = [&paths.reminders, &paths.commitments].iter().any(|path| **path == copy.note.as_str());
        let then = if is_due { "its reminders are not delivered" } else { "the two differ" };
        format!("`{}` is a sync conflict copy of `{}`: {then}", copy.copy, copy.note)
    };
    let more = copies.len().saturating_sub(NAMED);
    let more = (more > 0)
        .then(|| format!("{more} more sync conflict copies: `vault-agent conflicts list` shows all"));
    let fix = "see it with `vault-agent conflicts show`, and merge it with `conflicts merge`";
    copies.iter().take(NAMED).map(said).chain(more).map(|copy| Check::warn("vault", copy, fix)).collect()
}

/// The findings, problems first.
fn findings(visit: &Visit<'_>, checks: &[Check]) -> Markup {
    let mut sorted: Vec<&Check> = checks.iter().collect();
    sorted.sort_by_key(|check| std::cmp::Reverse(check.status));
    let row = |check: &Check| {
        let state = match check.status {
            Severity::Ok => parts::badge("fine", "good"),
            Severity::Warn => parts::badge("warning", "warn"),
            Severity::Fail => parts::badge("broken", "bad"),
        };
        let fix =
            html! { @if let Some(fix) = &check.fix { (parts::sentence(fix)) " " (mending(visit, check)) } };
        [html! { (check.check) }, state, parts::sentence(&check.detail), fix]
    };
    parts::table(["Check", "State", "Finding", "Fix"], sorted, row)
}

/// The buttons that do what a finding asks for, where a form can.
fn mending(visit: &Visit<'_>, check: &Check) -> Markup {
    let button = |action: &str, what: &str, words: &str| parts::button(visit, action, what, &[], words);
    let gone = gone(visit).unwrap_or_default();
    match &check.mend {
        None => html! {},
        Some(Repair::Reindex) => button("/health", "reindex", "Rebuild the index"),
        Some(Repair::Resume) => button("/routines", "resume", "Resume"),
        Some(Repair::ForgetFailure(name)) => {
            parts::button(visit, "/health", "reset", &[("name", name)], "Clear the failure")
        }
        Some(Repair::Interrupted) => html! {
            (button("/health", "finish", "Finish the interrupted change"))
            (button("/health", "roll-back", "Undo the interrupted change"))
        },
        Some(Repair::Gone) => html! {
            (parts::confirmed(visit, "/health", "bring-back", &[], "Restore the files", "The files are restored from the last snapshot."))
            (parts::confirmed(visit, "/health", "accept", &[("gone", &gone)], "Confirm the deletion", "History records the deletion and keeps the last versions."))
        },
        Some(Repair::Verify) => html! { a href="/health?verify=history" { "Verify the whole history" } },
    }
}

/// A hash of the files that are gone and wait for a person's word.
fn gone(visit: &Visit<'_>) -> Result<String> {
    let held = open(visit)?.held()?;
    Ok(secret::hash(&held.map(|held| held.deleted).unwrap_or_default().join("\n")))
}

fn pending(visit: &Visit<'_>, what: Interrupted) -> Result<String> {
    let report = open(visit)?.finish_pending(&visit.workspace.editor, what)?;
    report.map_or_else(|| Ok("Nothing was interrupted".to_owned()), |report| written(&report))
}

/// Restores notes that vanished without the person's consent, from the last snapshot.
fn bring_back(visit: &Visit<'_>) -> Result<String> {
    let (history, workspace) = (open(visit)?, visit.workspace);
    let Some(held) = history.held()? else { return Ok("None of them is gone any more".to_owned()) };
    let point = history.newest()?;
    for path in &held.deleted {
        let then = history.read_at(&point, path)?.unwrap_or_default();
        let now = workspace.vault.read(&workspace.note(path)).unwrap_or_default();
        workspace.record_restored_items(path, &now, &then, false)?;
    }
    written(&history.restore(&workspace.editor, &point, &held.deleted, false)?)
}

pub(super) fn written(report: &RestoreReport) -> Result<String> {
    if let Some(skip) = report.skipped.first() {
        return Err(PageError::changed(format!("`{}`: {}", skip.path, skip.reason)));
    }
    Ok(format!("{} files were written, {} removed", report.restored.len(), report.deleted.len()))
}

fn daemon(visit: &Visit<'_>, status: &StatusReport) -> Markup {
    let said = |words: &str| format_instants_in(words, visit.now, visit.workspace.zone.tz());
    html! {
        h2 { "Daemon" }
        @match status.daemon.as_ref().filter(|_| status.running) {
            None => p { "The daemon is not running: no reminders are delivered, no routines run. Start " code { "vault-agent run" } "." },
            Some(daemon) => dl {
                dt { "Process" } dd { (daemon.pid) ", version " (daemon.version) ", since " (visit.at(daemon.started)) }
                @if let Some(last) = daemon.last_pass { dt { "Last pass" } dd { (ago(last.min(visit.now), visit.now)) ", " (daemon.took_ms) " ms" } }
                dt { "Watcher" } dd { (daemon.watcher) }
                @for (part, words) in &daemon.parts { dt { (part) } dd { (said(words)) } }
                @for wrong in daemon.settings_error.iter().chain(&daemon.last_error) { dt { "Problem" } dd.late { (wrong) } }
            },
        }
        @if let Some(machines) = status.daemon.as_ref().filter(|_| status.running).and_then(|it| it.machines.as_ref()) {
            (others(visit, machines))
        }
        @if let Some(reason) = &status.read_only { p { "This machine delivers no reminders: " (reason) } }
    }
}

/// The machines that share the vault. Their own words came over a store: they are shown as plain text.
fn others(visit: &Visit<'_>, status: &MachinesStatus) -> Markup {
    let row = |one: &MachineStatus| {
        let state = match (one.holds, one.notes_behind && !one.is_off(visit.now)) {
            (true, _) => parts::badge("the voice", "good"),
            (false, true) => parts::badge("notes out of date", "warn"),
            (false, false) => html! {},
        };
        let seen = one.seen.map_or_else(|| html! {}, |at| html! { (ago(at.min(visit.now), visit.now)) });
        [html! { (one.name) }, state, seen, html! { (one.version) }]
    };
    html! {
        h3 { "Machines" }
        @if let Some(problem) = &status.problem { p.late { (problem) } }
        (parts::table(["Machine", "State", "Seen", "Version"], &status.machines, row))
    }
}

fn notifiers(visit: &Visit<'_>) -> Markup {
    let row = |kind: NotifyKind| {
        let (name, words) = (kind.as_str(), format!("Send a test by {kind}"));
        [html! { (name) }, parts::button(visit, "/health", "test", &[("name", name)], &words)]
    };
    parts::table(["Notifier", ""], visit.workspace.settings.notify.all(), row)
}

fn brains(visit: &Visit<'_>, status: &StatusReport) -> Markup {
    if status.brains.is_empty() {
        return parts::empty(
            "No brain is configured (`[[brain]]` in the settings); answers come from memory.",
        );
    }
    let row = |brain: &crate::agent::brains::ListedBrain| {
        [
            html! { (brain.name) },
            html! { (brain.model) },
            html! { (brain.state(visit.now)) },
            html! { @if brain.class.is_some() { (parts::button(visit, "/health", "reset", &[("name", &brain.name)], "Clear the failure")) } },
        ]
    };
    parts::table(["Name", "Model", "State", ""], &status.brains, row)
}

fn servers(visit: &Visit<'_>, status: &StatusReport) -> Markup {
    if status.mcp.is_empty() {
        return parts::empty("None is set up.");
    }
    let row =
        |server: &doctor::McpServerStatus| [html! { (server.name) }, html! { (server.state(visit.now)) }];
    parts::table(["Server", "State"], &status.mcp, row)
}

fn sessions(visit: &Visit<'_>, sessions: &[PageSession]) -> Markup {
    let row = |one: &PageSession| {
        let words = if one.id == visit.session.id { "End this one" } else { "End" };
        let question = "That browser then needs a new address from `vault-agent web`.";
        [
            html! { (one.browser) },
            visit.at(one.began),
            visit.at(one.ends),
            parts::confirmed(visit, "/health", "end", &[("id", &one.id)], words, question),
        ]
    };
    parts::table(["Browser", "Since", "Until", ""], sessions, row)
}

/// The result of verifying the whole history.
fn verified(visit: &Visit<'_>) -> Result<Markup> {
    let found = open(visit)?.verify(CheckDepth::Whole)?;
    let flaws: Vec<String> = found.flaws.iter().map(|flaw| flaw.detail.clone()).collect();
    Ok(html! {
        section.plan aria-label="History" {
            h2 { "The whole history was read" }
            @if flaws.is_empty() {
                p { "No damage was found." }
            } @else {
                ul { @for flaw in flaws.iter().take(50) { li.late { (flaw) } } }
                p.hint { code { "vault-agent history verify" } " shows all, and says what to do." }
            }
        }
    })
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let (workspace, name) = (visit.workspace, form.get("name"));
    let said = match form.get("do") {
        "finish" => pending(visit, Interrupted::Finish)?,
        "roll-back" => pending(visit, Interrupted::RollBack)?,
        "bring-back" => bring_back(visit)?,
        "accept" => {
            let history = open(visit)?;
            workspace.snapshot_all(&history, Deletions::Hold)?;
            let gone = gone(visit)?;
            if form.first("gone").is_some_and(|shown| shown != gone) {
                return Err(PageError::changed("the missing files changed after this form was shown"));
            }
            let snapshot = workspace.snapshot_all(&history, Deletions::Accept)?;
            format!("The deletion of {} files is recorded", snapshot.deleted)
        }
        "test" => test(visit, name)?,
        "reset" => {
            let brains = brain_clients::prepare(&workspace.settings, workspace.vault.root());
            if !brains.iter().any(|brain| brain.name() == name) {
                return Err(PageError::not_found(format!("no brain is called {}", quote(name))));
            }
            let any = HealthStore::new(&workspace.dirs.state).reset(Some(name))?;
            format!("{name} {}", if any { "is in use again" } else { "had no failure to clear" })
        }
        "reindex" => {
            let workspace = Arc::clone(workspace);
            visit.spawn(async move {
                let reindex = move || reindex(&workspace).map_err(|error| error.to_string());
                let made = tokio::task::spawn_blocking(reindex).await;
                match made.map_err(|error| error.to_string()).flatten() {
                    Ok(files) => tracing::info!(files, "the index was rebuilt"),
                    Err(error) => tracing::error!("the index could not be rebuilt: {error}"),
                }
            });
            "The index is being rebuilt; searches use the old one until then.".to_owned()
        }
        "end" if visit.shared.store.end(form.get("id"))? => {
            "Session ended: that browser has no access any more.".to_owned()
        }
        "end" => return Err(PageError::not_found("there is no such session")),
        other => return Err(PageError::no_such_action(other)),
    };
    Ok(MadeChange::new("/health", said))
}

fn test(visit: &Visit<'_>, name: &str) -> Result<String> {
    let kinds = visit.workspace.settings.notify.all();
    let kind = kinds.into_iter().find(|kind| kind.as_str() == name);
    let kind = kind.ok_or_else(|| PageError::bad("no notifier has that name"))?;
    let console: Arc<dyn Notifier> = Arc::new(Console::stderr(visit.workspace.zone.tz().clone()));
    let notifier = visit.workspace.notifier(kind, &console);
    let notifier = notifier.map_err(|error| PageError::bad(&error).hints(error.suggestion.clone()))?;
    let sent = visit.block_on(async { tokio::time::timeout(PATIENCE, send_test(notifier.as_ref())).await });
    match sent {
        Ok(Ok(())) => Ok(format!("A test message went out by {name}.")),
        Ok(Err(reason)) => Err(PageError::bad(format!("{name}: {reason}"))),
        Err(_) => Err(PageError::bad(format!("{name}: no answer within {} s", PATIENCE.as_secs()))),
    }
}

/// Makes the index anew; how many files are in it.
fn reindex(workspace: &Workspace) -> Result<usize, IndexError> {
    let index = Arc::new(workspace.index()?);
    Ok(index.reindex(&|_| {}, &AtomicBool::new(false))?.files)
}
