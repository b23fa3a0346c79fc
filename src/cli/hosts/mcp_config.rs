//! `mcp-config`: prints the configuration with which a host starts the MCP server.

use super::host_settings::utf8;
use crate::cli::prelude::*;
use crate::config::{McpServer, Settings, mcp_hosts};
use crate::mcp::hosts::{self, McpHost, ServerPurpose};

/// Prints the smallest configuration with which a host starts the MCP server for a purpose.
///
/// Standard output is the file's content alone; where it belongs, and the fastest way to start the host with it, is
/// printed on standard error.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The purpose of the server: `recall` reads memory, `deliver` writes it too and adds reminders, `full` does all.
    purpose: ServerPurpose,
    /// The host.
    #[arg(long, default_value = "claude-code")]
    host: McpHost,
    /// Also the other servers of the settings that this one may use: `assistant` or `routine:NAME`.
    #[arg(long = "for", value_name = "WHO")]
    others: Option<String>,
}

/// Runs `mcp-config`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let dir = context.vault_dir()?;
    let vault = std::fs::canonicalize(&dir)
        .map_err(|error| CommandError::usage(format!("`{}`: {error}", dir.display())))?;
    let binary = std::env::current_exe()?;
    [&vault, &binary].into_iter().try_for_each(|path| utf8(path).map(drop))?;
    let settings = args.others.as_ref().map(|_| Settings::load(&vault)).transpose()?.unwrap_or_default();
    let user = args.others.as_deref().unwrap_or_default();
    if args.others.is_some() && !mcp_hosts::is_user(user) {
        return Err(CommandError::usage(format!("`{user}` uses no servers"))
            .hint("write `--for assistant`, or `--for routine:NAME`"));
    }
    let others: Vec<&McpServer> = mcp_hosts::servers_for(&settings.mcp, user).collect();
    let config = hosts::config(args.host, args.purpose, &binary, &vault, &others);
    let (text, command) = (&config.text, config.command.as_deref());
    let (place, remarks) = (&config.path, &config.remarks);
    let printed = json!({ "config": text, "place": place, "command": command, "remarks": remarks });
    context.answer(&printed, text.trim_end())?;
    if !context.ui.json {
        context.ui.note(format!("# put this into {}", config.path));
        if let Some(command) = command {
            context.ui.note(format!("# starts soonest as: {command}"));
        }
        let needed: Vec<&str> = others.iter().flat_map(|other| mcp_hosts::variables(other)).collect();
        let is_filled = !matches!(args.host, McpHost::ClaudeDesktop | McpHost::Vscode);
        if is_filled && !needed.is_empty() {
            context.ui.note(format!("# wants in its environment: {}", needed.join(", ")));
        }
        config.remarks.iter().for_each(|remark| context.ui.note(format!("# {remark}")));
        for McpServer { name, .. } in
            settings.mcp.iter().filter(|one| one.is_for(user) && one.key_file.is_some())
        {
            context.ui.note(format!(
                "# left out: `{name}`, whose key lies in a file; a host takes it from a variable (`key_env`)"
            ));
        }
    }
    Ok(Status::Fine)
}
