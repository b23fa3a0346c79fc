//! `run`: runs the daemon in the foreground.

use crate::cli::init;
use crate::cli::prelude::*;
use crate::daemon;

/// Watches the vault and tells you what is due, until Ctrl-C; a missing or empty folder is made a vault.
///
/// In a vault of Obsidian's that has nothing of ours yet, its times are meant in this machine's zone: the settings
/// file that says so is written. A folder of notes that is no vault is left alone: `vault-agent init` adds what is
/// missing.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `run`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let dir = context.folder()?;
    let workspace = Arc::new(open_or_create(context, &dir)?.joined()?);
    // A note that shrinks while the daemon runs may be a failed save or sync.
    workspace.editor.count_as_settled(false);
    on_workers(async {
        let stop = daemon::stop_on_signals()?;
        daemon::serve(workspace, context.ui, stop).await?;
        Ok(Status::Fine)
    })
}

/// The vault, or a new one where the folder is missing or holds nothing but an Obsidian configuration.
fn open_or_create(context: &Context, dir: &Path) -> Result<Workspace> {
    let empty = match std::fs::read_dir(dir) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".obsidian")),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !empty {
        // The daemon reports errors of the settings.
        let (workspace, _) = Workspace::open_or_last(&context.vault_dir()?, Arc::clone(&context.clock))?;
        workspace.editor.count_as_settled(true);
        return init::ensure_time_zone(context, workspace);
    }
    let (workspace, written) = init::write_template(context, dir, None)?;
    let root = workspace.vault.root().display();
    context.ui.note(format!("made a new vault in {root} ({} files)", written.created.len()));
    Ok(workspace)
}
