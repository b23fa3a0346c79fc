//! `completions`: prints a completion script for a shell.

use crate::cli::prelude::*;
use clap::CommandFactory as _;
use clap_complete::Shell;

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
    let script = script(args.shell);
    context.ui.json(&json!({ "shell": args.shell.to_string(), "script": script }));
    if !context.ui.json {
        context.ui.document(script.as_bytes());
    }
    Ok(Status::Fine)
}

/// The script that `clap_complete` writes, mended for bash.
///
/// For a program whose name has a hyphen, the bash script of `clap_complete` 4.6 calls a subcommand's label
/// `vault__agent__subcmd__NAME` and defines it as `vault__subcmd__agent__subcmd__NAME`.
fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::cli::Cli::command(), "vault-agent", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash { script.replace("vault__subcmd__agent", "vault__agent") } else { script }
}
