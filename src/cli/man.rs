//! `man`: prints the manual, made from the same definitions as `--help`.

use crate::cli::prelude::*;
use clap::CommandFactory as _;

/// Prints the manual page, or writes the pages of all commands into a folder.
///
/// To read it: `vault-agent man | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Writes one page a command into this folder, which must exist.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `man`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let command = crate::cli::Cli::command().disable_help_subcommand(true);
    match &args.out {
        Some(dir) if !dir.is_dir() => {
            let error = CommandError::usage(format!("`{}` is no folder", dir.display()));
            return Err(error.hint("create it first"));
        }
        Some(dir) => {
            let written = pages(&command);
            clap_mangen::generate_to(command, dir).map_err(CommandError::unwritable(dir))?;
            context.ui.json(&json!({ "dir": dir, "pages": written }));
            context.ui.line(format!("{written} pages written to {}", dir.display()));
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            context.ui.json(&json!({ "page": String::from_utf8_lossy(&page) }));
            if !context.ui.json {
                context.ui.document(&page);
            }
        }
    }
    Ok(Status::Fine)
}

/// The number of pages of a command and those below it.
fn pages(command: &clap::Command) -> usize {
    1 + command.get_subcommands().filter(|below| !below.is_hide_set()).map(pages).sum::<usize>()
}
