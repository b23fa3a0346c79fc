//! Writes an imported batch into the vault, or shows it, and prints the report.

use crate::cli::prelude::*;
use crate::memory::Origin;
use crate::transfer::{ImportBatch, ImportProblem, ImportReport, Importer};

/// The most problems that are listed.
const MAX_LISTED: usize = 50;

/// Writes a batch, or plans it only, as one operation: the given one, or a new one.
pub(super) fn write(
    workspace: &Workspace,
    client: &str,
    batch: ImportBatch,
    dry_run: bool,
    operation: Option<&str>,
) -> ImportReport {
    let own = format!("import-{:016x}", getrandom::u64().unwrap_or_default());
    let importer = Importer {
        vault: &workspace.vault,
        editor: &workspace.editor,
        settings: &workspace.settings,
        origin: &Origin::new(Actor::Cli).client(client),
        operation: operation.unwrap_or(&own),
        dry_run,
    };
    importer.import(batch)
}

/// Prints the report of an import, for people.
pub(super) fn print_report(context: &Context, report: &ImportReport) -> Status {
    let ui = context.ui;
    for note in &report.notes {
        let verb = if note.created { "made" } else { "changed" };
        if report.dry_run {
            ui.line(format!("{} would be {verb}:", note.path));
            note.added.iter().flat_map(|text| text.lines()).for_each(|line| ui.line(format!("+ {line}")));
        } else {
            ui.line(format!("{verb} {}", note.path));
        }
    }
    let verb = if report.dry_run { "would be added" } else { "added" };
    ui.line(format!("{} {verb}, {} there already", report.added, report.duplicates));
    print_problems(context, &report.remarks, "");
    print_problems(context, &report.skipped, "left out: ");
    Status::of(report.skipped.is_empty())
}

fn print_problems(context: &Context, problems: &[ImportProblem], lead: &str) {
    for problem in problems.iter().take(MAX_LISTED) {
        context.ui.note(format!("{}: {lead}{}", problem.place, problem.reason));
    }
    if problems.len() > MAX_LISTED {
        context.ui.note(format!("… and {} more; `--json` lists all", problems.len() - MAX_LISTED));
    }
}
