//! `mcp-config`: what to tell a host so that it starts the MCP server.

use serde::Serialize;

use super::{CommandError, CommandResult, Context, Status};
use crate::mcp::hosts::{self, Host, Purpose};

/// Prints the smallest configuration with which a host starts the MCP server for a purpose.
///
/// Standard output is the file's content alone; where it belongs, and how the host starts soonest with
/// it, is said on standard error.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the server is for: `recall` reads memory, `deliver` writes it too and adds reminders, `full` does all.
    purpose: Purpose,
    /// The host.
    #[arg(long, default_value = "claude-code")]
    host: Host,
}

#[derive(Debug, Serialize)]
struct Printed<'a> {
    config: &'a str,
    place: &'a str,
    command: Option<&'a str>,
}

/// Runs `mcp-config`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let dir = context.vault_dir()?;
    let vault = std::fs::canonicalize(&dir)
        .map_err(|error| CommandError::usage(format!("`{}`: {error}", dir.display())))?;
    let binary = std::env::current_exe()?;
    let config = hosts::config(args.host, args.purpose, &binary, &vault);
    context.ui.line(config.text.trim_end());
    context.ui.json(&Printed {
        config: &config.text,
        place: &config.place,
        command: config.command.as_deref(),
    });
    if !context.ui.json {
        context.ui.note(format!("# put this into {}", config.place));
        if let Some(command) = &config.command {
            context.ui.note(format!("# starts soonest as: {command}"));
        }
    }
    Ok(Status::Fine)
}
