//! `import`: what other programs remember, and exports of ours, into the vault.

use std::path::{Path, PathBuf};

use super::{CommandError, CommandResult, Context, Status, adopt, init};
use crate::memory::Origin;
use crate::transfer::{self, Batch, ImportReport, Importer, Problem, SourceKind, TransferError};
use crate::vault::{Actor, NotePath};
use crate::workspace::Workspace;

/// So many problems are listed one by one.
const LISTED: usize = 50;

/// Takes in an OpenClaw workspace, a basic-memory project, or a JSON Lines export; what is there
/// already is not added again, and no note is overwritten.
///
/// `--from tasks` looks at the vault's own notes: dated tasks of other plugins and reminder lines in other notes become
/// lines of the note of reminders. A task stays where it is, without its date. What would be done is shown; `--yes` does it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workspace's or project's folder, or the export; `-` is an export on standard input. With `--from tasks` a
    /// note or a folder of the vault, or nothing for all of it.
    #[arg(required_unless_present = "from")]
    path: Option<PathBuf>,
    /// Which program it is from; else it is looked at.
    #[arg(long, value_name = "KIND", value_enum)]
    from: Option<Kind>,
    /// The folder of the vault for notes that are kept whole, instead of `imported/NAME`.
    #[arg(long, value_name = "FOLDER")]
    into: Option<String>,
    /// Shows what would be written, and changes nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// With `--from tasks`: does what is shown.
    #[arg(long)]
    yes: bool,
}

/// What can be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// An OpenClaw workspace.
    Openclaw,
    /// A basic-memory project.
    BasicMemory,
    /// An export of ours, JSON Lines.
    Jsonl,
    /// Dated tasks in the vault's own notes.
    Tasks,
}

impl Kind {
    fn source(self) -> Option<SourceKind> {
        match self {
            Self::Openclaw => Some(SourceKind::Openclaw),
            Self::BasicMemory => Some(SourceKind::BasicMemory),
            Self::Jsonl => Some(SourceKind::Jsonl),
            Self::Tasks => None,
        }
    }
}

/// Runs `import`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    if args.from == Some(Kind::Tasks) {
        return adopt::run(context, &workspace, args.path.as_deref(), args.yes);
    }
    if args.yes {
        return Err(CommandError::usage("`--yes` means nothing without `--from tasks`").hint("leave it out"));
    }
    let Some(path) = &args.path else {
        return Err(CommandError::usage("which folder or file is to be taken in?"));
    };
    let kind = match args.from.and_then(Kind::source) {
        Some(kind) => kind,
        None if path.as_os_str() == "-" => SourceKind::Jsonl,
        None => SourceKind::detect(path)?,
    };
    let into = args.into.as_deref().map(|folder| NotePath::new(folder.trim_end_matches('/'))).transpose();
    let into = into.map_err(CommandError::usage)?;
    if kind != SourceKind::Jsonl && lies_in(path, workspace.vault.root()) {
        return Err(TransferError::InVault(path.clone()).into());
    }
    let batch = transfer::read(kind, path, into.as_ref(), workspace.zone.name())?;
    let report = import(&workspace, kind.name(), batch, args.dry_run, None)?;
    let status = say(context, &report);
    context.ui.json(&report);
    Ok(status)
}

/// Writes a batch, or says what would be written.
pub(super) fn import(
    workspace: &Workspace,
    client: &str,
    batch: Batch,
    dry_run: bool,
    operation: Option<&str>,
) -> Result<ImportReport, TransferError> {
    let importer = Importer {
        vault: &workspace.vault,
        editor: &workspace.editor,
        settings: &workspace.settings,
        origin: &Origin::new(Actor::Cli).client(client),
        blank_profile: init::BLANK_PROFILE,
        operation,
        dry_run,
    };
    importer.import(batch)
}

/// Says what came of an import, for people.
pub(super) fn say(context: &Context, report: &ImportReport) -> Status {
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
    list(context, &report.remarks, "");
    list(context, &report.skipped, "left out: ");
    if report.skipped.is_empty() { Status::Fine } else { Status::Problem }
}

fn list(context: &Context, problems: &[Problem], lead: &str) {
    for problem in problems.iter().take(LISTED) {
        context.ui.note(format!("{}: {lead}{}", problem.place, problem.reason));
    }
    if problems.len() > LISTED {
        context.ui.note(format!("… and {} more; `--json` lists all", problems.len() - LISTED));
    }
}

fn lies_in(path: &Path, root: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path.starts_with(root) || root.starts_with(&path))
}

impl From<TransferError> for CommandError {
    fn from(error: TransferError) -> Self {
        let hint = error.hint();
        let out = if error.is_usage() { Self::usage(error) } else { Self::problem(error) };
        hint.into_iter().fold(out, Self::hint)
    }
}
