//! The buttons of `/health` that mend a finding of `doctor`, and what those of history do.

use maud::{Markup, html};

use super::history::open;
use crate::doctor::{Check, Mend};
use crate::history::{Deletions, Interrupted, RestoreReport};
use crate::web::answer::{Done, Problem};
use crate::web::parts;
use crate::web::visit::{Form, Visit};

/// The buttons that do what a finding asks for, where a form can.
pub(super) fn buttons(visit: &Visit<'_>, check: &Check) -> Markup {
    let button = |action: &str, what: &str, words: &str| parts::button(visit, action, what, &[], words);
    match &check.mend {
        None => html! {},
        Some(Mend::Reindex) => button("/health", "reindex", "Make the index anew"),
        Some(Mend::Resume) => button("/routines", "resume", "Resume"),
        Some(Mend::ForgetFailure(name)) => {
            parts::button(visit, "/health", "reset", &[("name", name)], "Forget the failure")
        }
        Some(Mend::Interrupted) => html! {
            (button("/health", "finish", "Finish it"))
            (button("/health", "roll-back", "Take it back"))
        },
        Some(Mend::Gone) => html! {
            (parts::confirmed(visit, "/health", "bring-back", &[], "Bring them back", "They come back as the last snapshot has them."))
            (parts::confirmed(visit, "/health", "accept", &[], "They are meant to be gone", "History records it, and keeps what they said."))
        },
        Some(Mend::Verify) => html! { a href="/health?verify=history" { "Verify the whole history" } },
    }
}

/// Does what a form of [`buttons`] asks for; none where it asks for something else.
pub(super) fn act(visit: &Visit<'_>, form: &Form) -> Result<Option<Done>, Problem> {
    let said = match form.get("do") {
        "finish" => pending(visit, Interrupted::Finish)?,
        "roll-back" => pending(visit, Interrupted::RollBack)?,
        "bring-back" => bring_back(visit)?,
        "accept" => {
            let snapshot = open(visit)?.snapshot_all(Deletions::Accept)?;
            format!("Recorded: {} files are gone", snapshot.deleted)
        }
        _ => return Ok(None),
    };
    Ok(Some(Done::new("/health", said)))
}

fn pending(visit: &Visit<'_>, what: Interrupted) -> Result<String, Problem> {
    let report = open(visit)?.finish_pending(&visit.workspace.editor, what)?;
    report.map_or_else(|| Ok("Nothing was interrupted".to_owned()), |report| written(&report))
}

/// Notes that are gone and that nobody accepted as gone, as they were in the last snapshot.
fn bring_back(visit: &Visit<'_>) -> Result<String, Problem> {
    let (history, workspace) = (open(visit)?, visit.workspace);
    let Some(held) = history.held()? else { return Ok("None of them is gone any more".to_owned()) };
    let point = history.newest()?;
    for path in &held.deleted {
        let then = history.read_at(&point.commit, path)?.unwrap_or_default();
        let now = workspace.vault.read(&workspace.note(path)).unwrap_or_default();
        workspace.hold_missed(path, &now, &then, false).map_err(Problem::failed)?;
    }
    written(&history.restore(&workspace.editor, &point, &held.deleted, false)?)
}

fn written(report: &RestoreReport) -> Result<String, Problem> {
    if let Some(skip) = report.skipped.first() {
        return Err(Problem::changed(format!("`{}`: {}", skip.path, skip.reason)));
    }
    Ok(format!("{} files were written, {} removed", report.restored.len(), report.deleted.len()))
}
