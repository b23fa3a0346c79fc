//! Checks, for `doctor`, the history of snapshots in the state directory and the search index in the cache directory.

use super::{Check, CheckExtent, Checked, Repair, Severity};
use crate::deliver::instants::format_instant;
use crate::history::{CheckDepth, History, HistoryError};
use crate::workspace::Workspace;

/// At most so many files of one kind are shown.
const SHOWN: usize = 5;

/// The history: what it left out, what waits for a person.
pub(super) fn history(workspace: &Workspace, look: CheckExtent) -> Checked {
    let warn = |detail: String, fix: &str| Check::warn("history", detail, fix);
    let ok = |detail: String| Check::ok("history", detail);
    let fail = |error: HistoryError| {
        let fix = "fix what is named; only if `history.git` in the state directory is lost, move it away: a new history begins";
        Check::fail("history", error.to_string(), fix)
    };
    let Some(history) = workspace.history().map_err(fail)? else {
        return Ok(vec![ok("turned off in the settings".to_owned())]);
    };
    let mut checks = probe(&history, look);
    match history.held() {
        Ok(Some(held)) => {
            let since = format_instant(held.since, workspace.clock.now(), workspace.zone.tz());
            let (gone, known) = (held.deleted.len(), held.known);
            let detail =
                format!("{gone} of {known} files are gone since {since}, too many without your confirmation");
            let fix = "restore them with `vault-agent restore`, or confirm with `vault-agent history --accept-deletions`";
            checks.push(warn(detail, fix).fixed_by(Repair::Gone));
        }
        Ok(None) => {}
        Err(error) => checks.push(warn(error.to_string(), "the next full snapshot rewrites it")),
    }
    match history.pending_restore() {
        Ok(Some(pending)) => {
            let what = if pending.undoing.is_some() { "an undo" } else { "a restore" };
            let detail = format!("{what} was interrupted ({})", pending.subject);
            let fix = "finish it with `vault-agent restore`, or undo it with `--roll-back`";
            checks.push(warn(detail, fix).fixed_by(Repair::Interrupted));
        }
        Ok(None) => {}
        Err(error) => checks.push(fail(error)),
    }
    let not_pushed =
        crate::history::not_pushed(&workspace.dirs.state, workspace.settings.history.remote.as_deref());
    checks.extend(not_pushed.map(|why| {
        warn(format!("not pushed: {why}"), "fix `[history] remote`; the push is retried automatically")
    }));
    let left_out = history.left_out().unwrap_or_else(|error| {
        checks.push(fail(error));
        Vec::new()
    });
    checks.extend(left_out.iter().take(SHOWN).map(|file| {
        let detail = format!("`{}` is not kept: {}", file.path, file.reason);
        warn(detail, "see `[history]` in vault-agent.toml, if it should be")
    }));
    if left_out.len() > SHOWN {
        let more = format!("{} more files are not kept", left_out.len() - SHOWN);
        checks.push(warn(more, "see `[history]` in vault-agent.toml"));
    }
    if checks.is_empty() {
        checks.push(ok(format!("in {}", history.dir().display())));
    }
    Ok(checks)
}

/// Checks whether a snapshot could be taken now, and whether the history is whole and unchanged.
fn probe(history: &History, look: CheckExtent) -> Vec<Check> {
    if let Err(error) = history.check_writable() {
        let fix = "notes are still written, but not recorded until this is fixed; then the next snapshot records them";
        return vec![Check::fail("history", format!("no snapshot can be taken: {error}"), fix)];
    }
    if look == CheckExtent::Quick {
        return Vec::new();
    }
    let found = match history.verify(CheckDepth::Recent) {
        Ok(found) => found,
        Err(error) => return vec![Check::fail("history", error.to_string(), "look at `history.git`")],
    };
    let fix = "`vault-agent history verify` lists all, with their fixes";
    let mut checks: Vec<Check> = found
        .flaws
        .iter()
        .take(SHOWN)
        .map(|flaw| Check::fail("history", flaw.detail.clone(), fix).fixed_by(Repair::Verify))
        .collect();
    if found.flaws.len() > SHOWN {
        checks.push(Check::fail("history", format!("{} more flaws", found.flaws.len() - SHOWN), fix));
    }
    checks
}

/// The index: how it is, what it skipped.
pub(super) fn index(workspace: &Workspace, look: CheckExtent) -> Checked {
    let index = workspace.index().map_err(|error| {
        Check::fail("index", error.to_string(), "run `vault-agent reindex`").fixed_by(Repair::Reindex)
    })?;
    let health = index.health(look != CheckExtent::Quick);
    let checks = health.into_iter().map(|finding| Check {
        check: "index",
        status: finding.status,
        detail: finding.detail,
        mend: (finding.status != Severity::Ok && finding.fix.contains("reindex")).then_some(Repair::Reindex),
        fix: Some(finding.fix.to_owned()).filter(|fix| !fix.is_empty()),
    });
    Ok(checks.collect())
}
