//! `run`: runs the daemon in the foreground.

use crate::cli::init;
use crate::cli::prelude::*;
use crate::config::Dirs;
use crate::daemon;
use crate::workspace::has_saved_settings;

/// Runs the daemon until Ctrl-C: watches the vault and delivers what is due; a missing or empty folder becomes a new
/// vault.
///
/// In an Obsidian vault without a settings file, one is written with this machine's time zone. A folder of notes that
/// is not a vault is refused: `vault-agent init` adds what is missing. An empty folder that had notes before is refused
/// too: it may not be mounted.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `run`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let dir = context.folder()?;
    let workspace = Arc::new(open_or_create(context, &dir)?.joined()?);
    // A note that shrinks while the daemon runs may be a failed save or sync.
    workspace.editor.count_as_settled(false);
    if let Some((found, fix)) = workspace.dirs.left_behind(workspace.vault.root()) {
        context.ui.note(format!("{found}; {fix}"));
    }
    on_workers(async {
        let stop = daemon::stop_on_signals()?;
        daemon::serve(workspace, context.ui, stop).await?;
        Ok(Status::Fine)
    })
}

/// The vault, or a new one where the folder is missing or holds nothing but an Obsidian configuration.
fn open_or_create(context: &Context, dir: &Path) -> Result<Workspace> {
    let names = match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    let Some(names) = names.ok().filter(|names| names.iter().all(|name| name == ".obsidian")) else {
        // The daemon reports errors of the settings.
        let workspace = Workspace::open_or_last(&context.vault_dir()?, Arc::clone(&context.clock))?;
        workspace.editor.count_as_settled(true);
        return init::ensure_time_zone(context, workspace);
    };
    // A folder with Obsidian's configuration may have a history of that alone.
    let state = Dirs::for_vault(dir)?.state;
    if has_saved_settings(&state) || (names.is_empty() && state.join("history.git").exists()) {
        let shown = init::shell_word(dir);
        return Err(CommandError::usage(format!(
            "the vault {shown} is missing or empty, and had notes before"
        ))
        .hint("mount its folder, or bring it back")
        .hint(format!(
            "to begin anew: `vault-agent init {shown}`; `vault-agent restore --at TIME` has the old notes"
        )));
    }
    let (workspace, written) = init::write_template(context, dir, None)?;
    init::print_zone(context, &workspace, true);
    let root = workspace.vault.root().display();
    context.ui.note(format!("made a new vault in {root} ({} files)", written.created.len()));
    Ok(workspace)
}
