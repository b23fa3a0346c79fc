//! `migrate`: what an earlier program kept, taken over once and for all.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::batch::{say, write};
use crate::cli::{CommandError, CommandResult, Context};
use crate::transfer::{ImportReport, TransferError, memory_json, outside};

/// Takes over what an earlier program kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Takes over `memory.json`, the flat store of the earlier memory server: its entries become
    /// memories in `MEMORY.md`, in a section each key, with their times and contexts. The file is then
    /// renamed to `memory.json.bak.TIME` beside it. Running it again adds nothing.
    MemoryJson {
        /// The store.
        file: PathBuf,
        /// Shows what would be written, and changes nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// What came of a migration.
#[derive(Debug, Serialize)]
struct Migrated {
    /// Where the store is now; none where it stayed.
    backup: Option<PathBuf>,
    #[serde(flatten)]
    import: ImportReport,
}

/// Runs `migrate`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let Action::MemoryJson { file, dry_run } = &args.action;
    let workspace = context.workspace()?;
    let bytes = match outside::read_file(file, outside::MAX_ENTRIES_BYTES) {
        Err(TransferError::Missing(_)) if let Some(backup) = last_backup(file) => {
            context.ui.note(format!("nothing to do: `{}` was taken over already", backup.display()));
            let nothing = Migrated { backup: Some(backup), import: ImportReport::default() };
            context.ui.json(&nothing);
            return Ok(crate::cli::Status::Fine);
        }
        bytes => bytes?,
    };
    let batch = memory_json::parse(&bytes)
        .map_err(|reason| TransferError::NotUnderstood { path: file.clone(), reason })?;
    if batch.found.is_empty() && !batch.skipped.is_empty() {
        let reason = format!("none of its {} entries is one of a memory store", batch.skipped.len());
        return Err(TransferError::NotUnderstood { path: file.clone(), reason }.into());
    }
    let report = write(&workspace, "memory-json", batch, *dry_run, None)?;
    let backup = (!dry_run).then(|| back_up(file, workspace.clock.now())).transpose()?;
    let status = say(context, &report);
    if let Some(backup) = &backup {
        context.ui.line(format!("`{}` is now `{}`", file.display(), backup.display()));
    }
    context.ui.json(&Migrated { backup, import: report });
    Ok(status)
}

/// Gives the store its new name, which no file has: nothing is overwritten.
fn back_up(file: &Path, now: Timestamp) -> Result<PathBuf, CommandError> {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let named = |suffix: String| {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".bak.{stamp}{suffix}"));
        PathBuf::from(name)
    };
    let mut names =
        (1..1000).map(|count| named(if count == 1 { String::new() } else { format!("-{count}") }));
    let free = names.find(|name| name.symlink_metadata().is_err());
    let backup = free.ok_or_else(|| CommandError::problem("too many backups beside the store"))?;
    std::fs::rename(file, &backup).map_err(|error| {
        CommandError::problem(format!(
            "everything is taken over, but `{}` keeps its name: {error}",
            file.display()
        ))
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
