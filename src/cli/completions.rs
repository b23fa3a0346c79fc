//! `completions`: a completion script for a shell.

use clap_complete::Shell;

use super::context::Context;
use super::error::{CommandResult, Status};

/// Prints a completion script for a shell.
///
/// For bash: `vault-agent completions bash > ~/.local/share/bash-completion/completions/vault-agent`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Runs `completions`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "vault-agent", &mut script);
    context.ui.document(&script);
    Ok(Status::Fine)
}
