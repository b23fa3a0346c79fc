//! `migrate`: imports the store of another memory server (`memory.json`) once, and renames the file to a backup.

use super::batch::{print_report, write};
use crate::cli::prelude::*;
use crate::transfer::{ImportBatch, ImportReport, TransferError, bounded_read, memory_json};

/// The client of a migration, in the history.
const CLIENT: &str = "memory-json";

/// Imports the store of an earlier program.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Imports `memory.json`, the flat store of the earlier memory server, or the file of the MCP reference memory
    /// server: its entries become memories in `MEMORY.md`, in a section each key or entity, with their times and
    /// contexts. The file is then renamed to `memory.json.bak.TIME` beside it. Running it again adds nothing; after an
    /// `undo`, name the backup to import it again.
    MemoryJson {
        /// The store.
        file: PathBuf,
        /// Shows what would be written, and changes nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// The result of a migration.
#[derive(Debug, Serialize)]
struct Migrated {
    /// The new path of the store; none where it was not renamed.
    backup: Option<PathBuf>,
    #[serde(flatten)]
    import: ImportReport,
}

/// Runs `migrate`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let Args::MemoryJson { file, dry_run } = args;
    let workspace = context.workspace()?;
    let bytes = match bounded_read::read_file(file, bounded_read::MAX_ENTRIES_BYTES) {
        Err(TransferError::Missing(_)) if let Some(backup) = last_backup(file) => {
            return taken_before(context, &workspace, file, backup);
        }
        bytes => bytes?,
    };
    let report = write(&workspace, CLIENT, entries(file, &bytes)?, *dry_run, None);
    // A file that bears the name of a backup keeps it.
    let is_backup = file.file_name().is_some_and(|name| name.to_string_lossy().contains(".bak."));
    let is_taken = report.added + report.duplicates > 0 || report.skipped.is_empty();
    let renames = !dry_run && !is_backup && is_taken;
    let backup = renames.then(|| back_up(file, workspace.clock.now())).transpose()?;
    let status = print_report(context, &report);
    if let Some(backup) = &backup {
        context.ui.line(format!("`{}` is now `{}`", file.display(), backup.display()));
    }
    context.ui.json(&Migrated { backup, import: report });
    Ok(status)
}

/// The entries of a store.
fn entries(file: &Path, bytes: &[u8]) -> Result<ImportBatch, TransferError> {
    let wrong = |reason| TransferError::NotUnderstood(file.to_owned(), reason);
    let batch = memory_json::parse(bytes).map_err(wrong)?;
    if batch.found.is_empty() && !batch.skipped.is_empty() {
        let reason = format!("none of its {} entries is one of a memory store", batch.skipped.len());
        return Err(wrong(reason));
    }
    Ok(batch)
}

/// Prints that a store was migrated before; where its memories are gone since (an `undo`), how to migrate it again.
fn taken_before(context: &Context, workspace: &Workspace, file: &Path, backup: PathBuf) -> CommandResult {
    let bytes = bounded_read::read_file(&backup, bounded_read::MAX_ENTRIES_BYTES)?;
    let looked = write(workspace, CLIENT, entries(&backup, &bytes)?, true, None);
    let shown = backup.display().to_string();
    let (missing, all) = (looked.added, looked.added + looked.duplicates);
    context.ui.json(&Migrated { backup: Some(backup), import: ImportReport::default() });
    if missing == 0 {
        context.ui.note(format!("nothing to do: `{shown}` was already imported"));
        return Ok(Status::Fine);
    }
    let message = format!(
        "`{}` is missing: it was imported before, as `{shown}`, and {missing} of its {all} memories are no longer in the vault",
        file.display()
    );
    Err(CommandError::problem(message)
        .hint(format!("`vault-agent migrate memory-json '{shown}'` imports them again")))
}

/// Renames the store to a name that no file has.
fn back_up(file: &Path, now: Timestamp) -> Result<PathBuf> {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let named = |suffix: String| {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".bak.{stamp}{suffix}"));
        PathBuf::from(name)
    };
    let mut names = std::iter::once(String::new()).chain((2..1000).map(|count| format!("-{count}")));
    let free = names.find_map(|suffix| Some(named(suffix)).filter(|name| name.symlink_metadata().is_err()));
    let backup = free.ok_or_else(|| CommandError::problem("too many backups beside the store"))?;
    std::fs::rename(file, &backup).map_err(|error| {
        let shown = file.display();
        CommandError::problem(format!("everything is imported, but `{shown}` could not be renamed: {error}"))
            .hint("rename it yourself, so that nothing writes to it any more")
    })?;
    Ok(backup)
}

/// The newest backup beside where the store was.
fn last_backup(file: &Path) -> Option<PathBuf> {
    let prefix = format!("{}.bak.", file.file_name()?.to_str()?);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    names.map(|entry| entry.path()).max()
}
