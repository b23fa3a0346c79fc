//! `import`: takes other programs' memories, and exports of vault-agent, into the vault.

use clap::ValueEnum;

use super::adopt;
use super::batch::{print_report, write};
use crate::cli::prelude::*;
use crate::transfer::{self, ImportSourceKind, TransferError};

/// Imports an OpenClaw workspace, a basic-memory project or another folder of notes, the file of the MCP reference
/// memory server, or a JSON Lines export; entries that exist already are not added again, and no note is overwritten.
///
/// `--from tasks` looks at the vault's own notes: dated tasks of other plugins and reminder lines in other notes become
/// lines of the note of reminders. A task stays where it is, without its date. The changes are shown; `--yes` makes
/// them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workspace's or project's folder, or the export; `-` is an export on standard input. With `--from tasks` a
    /// note or a folder of the vault, or nothing for all of it.
    #[arg(required_unless_present = "from")]
    path: Option<PathBuf>,
    /// The program that it is from; else it is detected.
    #[arg(long, value_name = "KIND", value_enum)]
    from: Option<SourceOption>,
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

/// The kinds of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SourceOption {
    /// An OpenClaw workspace.
    Openclaw,
    /// A basic-memory project, or another folder of notes.
    BasicMemory,
    /// The file of the MCP reference memory server, JSON Lines.
    McpMemory,
    /// An export of ours, JSON Lines.
    Jsonl,
    /// Dated tasks in the vault's own notes.
    Tasks,
}

impl SourceOption {
    /// The kind of that name; none for tasks, which are no source of an import.
    fn source(self) -> Option<ImportSourceKind> {
        ImportSourceKind::named(self.to_possible_value()?.get_name())
    }
}

/// Runs `import`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    if args.from == Some(SourceOption::Tasks) {
        return adopt::run(context, &workspace, args.path.as_deref(), args.yes);
    }
    if args.yes {
        return Err(CommandError::usage("`--yes` means nothing without `--from tasks`").hint("leave it out"));
    }
    let Some(path) = &args.path else {
        return Err(CommandError::usage("name the folder or the file to import"));
    };
    let kind = match args.from.and_then(SourceOption::source) {
        Some(kind) => kind,
        None if path.as_os_str() == "-" => ImportSourceKind::Jsonl,
        None => ImportSourceKind::detect(path)?,
    };
    let into = args.into.as_deref().map(|folder| NotePath::new(folder.trim_end_matches('/'))).transpose();
    let into = into.map_err(CommandError::usage)?;
    let root = workspace.vault.root();
    let overlaps = path.canonicalize().is_ok_and(|path| path.starts_with(root) || root.starts_with(&path));
    if overlaps && !matches!(kind, ImportSourceKind::Jsonl | ImportSourceKind::McpMemory) {
        return Err(TransferError::InVault(path.clone()).into());
    }
    let batch = transfer::read(kind, path, into.as_ref(), workspace.zone.name())?;
    let import = || write(&workspace, kind.name(), batch, args.dry_run, None);
    let report = context.confirming(&workspace, "import", import);
    let status = print_report(context, &report);
    context.ui.json(&report);
    Ok(status)
}
