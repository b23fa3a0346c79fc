//! `check`: every line that looks meant but isn't understood.

use std::path::{Component, Path, PathBuf};

use super::{CommandError, CommandResult, Context, Status};
use crate::format::{commitment, reminder};
use crate::reminders::{self, IdAt, PlacedFinding};
use crate::vault::{NotePath, VaultError};
use crate::workspace::Workspace;

/// Shows every line that looks meant but isn't understood.
///
/// Each with file, line, column, the reason and a suggestion. Nothing is changed. The exit code is 1
/// if there is any.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notes to look at; else those of reminders and follow-ups.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs `check`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let paths = &workspace.settings.paths;
    let mut found = Vec::new();
    if args.files.is_empty() {
        for path in [workspace.note(&paths.reminders), workspace.note(&paths.commitments)] {
            match look(&workspace, &path) {
                Err(VaultError::NotFound(_)) => {}
                findings => found.extend(findings?),
            }
        }
    }
    for file in &args.files {
        found.extend(look(&workspace, &note_path(&workspace, file)?)?);
    }
    context.ui.json(&found);
    for finding in &found {
        context.ui.line(plain(finding));
    }
    if found.is_empty() {
        context.ui.line("every line is understood");
        return Ok(Status::Fine);
    }
    context.ui.note(match found.len() {
        1 => "1 line needs a look".to_owned(),
        count => format!("{count} lines need a look"),
    });
    Ok(Status::Problem)
}

/// `Reminders.md:3:17: the reason; the suggestion`.
pub(super) fn plain(finding: &PlacedFinding) -> String {
    let PlacedFinding { path, line, column, reason, suggestion } = finding;
    if suggestion.is_empty() {
        format!("{path}:{line}:{column}: {reason}")
    } else {
        format!("{path}:{line}:{column}: {reason}; {suggestion}")
    }
}

fn look(workspace: &Workspace, path: &NotePath) -> Result<Vec<PlacedFinding>, VaultError> {
    let bytes = workspace.vault.read(path)?;
    if path.as_str() == workspace.settings.paths.commitments {
        let findings = commitment::parse(&bytes).findings;
        return Ok(findings.iter().map(|finding| PlacedFinding::new(path, finding)).collect());
    }
    let file = reminder::parse(&bytes);
    let ids =
        file.reminders.iter().filter_map(|line| line.reminder.id.map(|id| IdAt::new(id, &bytes, line.start)));
    Ok(reminders::findings(path, &file.near_misses, ids))
}

/// A file as people name it, as a note of the vault: from the current folder if it is there, else from
/// the vault's.
fn note_path(workspace: &Workspace, file: &Path) -> Result<NotePath, CommandError> {
    let root = workspace.vault.root();
    let here = std::env::current_dir()?.join(file);
    let relative = match here.canonicalize() {
        Ok(full) => full.strip_prefix(root).map(Path::to_path_buf).map_err(|_| {
            CommandError::usage(format!("`{}` is not in the vault `{}`", file.display(), root.display()))
        })?,
        Err(_) => file.strip_prefix(root).unwrap_or(file).to_path_buf(),
    };
    let parts = relative.components().filter(|part| !matches!(part, Component::CurDir));
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    NotePath::new(&parts.join("/")).map_err(CommandError::usage)
}
