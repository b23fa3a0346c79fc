//! `mcp`: runs the MCP server.

use std::net::SocketAddr;

use crate::cli::prelude::*;
use crate::daemon::stop_on_signals;
use crate::mcp::{self, HttpOptions, SharedState, ToolSet};

/// Serves the vault's memory and reminders to models, over standard input and output.
///
/// A host such as Claude Code starts it; `vault-agent mcp-config` prints what to tell the host. With
/// `--http` it listens for clients instead, which must bring a token: the one in `VAULT_AGENT_MCP_TOKEN`,
/// else the one in the state directory, made at the first start.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these tools: `recall`, `deliver`, `full`, or names with commas.
    #[arg(long, value_name = "SET", default_value = "full")]
    tools: ToolSet,
    /// Listens there: `127.0.0.1:PORT`, or a port alone; 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    http: Option<SocketAddr>,
    /// Lets `--http` take an address that other machines can reach.
    #[arg(long, requires = "http")]
    allow_remote: bool,
    /// A name that requests may call the server by (the `Host` header); may be given again.
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// A site whose pages may call the server, as `https://example.org:443`; may be given again.
    #[arg(long, value_name = "URL", requires = "http")]
    allow_origin: Vec<String>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let named = text.replacen("localhost:", "127.0.0.1:", 1);
    named.parse().map_err(|_| "write `127.0.0.1:7420`, or a port alone".to_owned())
}

/// Runs `mcp`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = Workspace::open(&context.vault_dir()?, Arc::clone(&context.clock))?;
    let here = current_dir()?;
    let place = mcp::ServerScopes::of(&here, |name| std::env::var(name).ok());
    let shared = Arc::new(SharedState::new(workspace, exposed_tools(args), place));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(64)
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let stop = stop_on_signals()?;
        match args.http {
            Some(address) => {
                let options = HttpOptions {
                    address,
                    allow_remote: args.allow_remote,
                    hosts: args.allow_host.clone(),
                    origins: args.allow_origin.clone(),
                };
                let ready = |url: &str, file: Option<&Path>| {
                    context.ui.note(format!("listening on {url}"));
                    context.ui.note(match file {
                        Some(file) => format!("the token is in {}", file.display()),
                        None => format!("the token is the one in {}", crate::listen::TOKEN_VARIABLE),
                    });
                };
                Ok(mcp::serve_http(shared, &options, ready, stop).await?)
            }
            None => mcp::serve_stdio(shared, stop).await.map_err(CommandError::problem),
        }
    });
    // A write that has begun is finished before the process ends.
    drop(runtime);
    result.map(|()| Status::Fine)
}

/// The chosen tools; without `ask_brain` in a program that works for a turn within a turn.
fn exposed_tools(args: &Args) -> ToolSet {
    #[cfg(feature = "assistant")]
    {
        use crate::history::ASKED_TURN_PREFIX;
        if std::env::var("VAULT_AGENT_TURN").is_ok_and(|turn| turn.starts_with(ASKED_TURN_PREFIX)) {
            return args.tools.without(&["ask_brain"]);
        }
    }
    args.tools.clone()
}
