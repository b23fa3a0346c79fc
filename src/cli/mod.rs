//! The command line: one file a command, each of which calls the rooms and only prints.
//!
//! A command is a doc comment (its help), an `Args` struct (its options) and a `run` function that
//! returns a [`CommandResult`]. [`run`] parses, opens what the command needs and prints an error; it
//! may be called more than once in one process.

mod adopt;
mod agent_memories;
#[cfg(feature = "assistant")]
mod ask;
#[cfg(feature = "history")]
mod audit;
#[cfg(feature = "assistant")]
mod brain;
mod check;
pub(crate) mod coming;
mod commitment;
mod completions;
#[cfg(feature = "assistant")]
mod consent;
#[cfg(feature = "history")]
mod diff;
mod doctor;
mod error;
mod export;
#[cfg(feature = "history")]
mod history;
mod hook;
mod hook_server;
mod host_file;
mod import;
mod inbox;
mod init;
#[cfg(feature = "assistant")]
mod lcm;
#[cfg(feature = "history")]
mod losses;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_config;
mod memory;
mod migrate;
mod named;
#[cfg(feature = "assistant")]
mod permitted;
#[cfg(feature = "index")]
mod recall;
#[cfg(feature = "index")]
mod reindex;
mod remind;
#[cfg(feature = "history")]
mod restore;
#[cfg(feature = "assistant")]
mod routine;
mod run;
#[cfg(feature = "index")]
mod search;
mod service;
mod setup;
#[cfg(feature = "assistant")]
mod skill;
#[cfg(feature = "history")]
mod snapshots;
#[cfg(feature = "index")]
mod stats;
pub(crate) mod status;
mod tick;
#[cfg(feature = "assistant")]
mod ticked;
#[cfg(feature = "assistant")]
mod turns;
mod ui;
#[cfg(feature = "history")]
mod undo;
#[cfg(feature = "assistant")]
mod usage;
mod when;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(feature = "assistant")]
use crate::brain::process::supervise;
use crate::clock::{self, Clock};
use crate::config::{self, ConfigError};
use crate::vault::{Actor, Origin};
use crate::workspace::Workspace;

pub use error::{CommandError, CommandResult, Kind, Status};
pub use ui::Ui;

/// An Obsidian vault as a personal agent's only database: reminders, follow-ups and memory in notes.
#[derive(Debug, Parser)]
#[command(name = "vault-agent", version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Args)]
struct GlobalArgs {
    /// The vault; else the nearest parent folder that holds `vault-agent.toml` or `.obsidian`.
    #[arg(long, global = true, value_name = "DIR", env = "VAULT_AGENT_VAULT")]
    vault: Option<PathBuf>,
    /// One JSON document on standard output, and nothing else.
    #[arg(long, global = true)]
    json: bool,
    /// Says more on standard error; twice for all.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    Setup(setup::Args),
    Init(init::Args),
    Run(run::Args),
    Tick(tick::Args),
    Remind(remind::Args),
    Commitment(commitment::Args),
    Memory(memory::Args),
    Check(check::Args),
    #[cfg(feature = "index")]
    Search(search::Args),
    #[cfg(feature = "index")]
    Recall(recall::Args),
    #[cfg(feature = "index")]
    Reindex(reindex::Args),
    #[cfg(feature = "index")]
    Stats(stats::Args),
    #[cfg(feature = "history")]
    History(history::Args),
    #[cfg(feature = "history")]
    Diff(diff::Args),
    #[cfg(feature = "history")]
    Restore(restore::Args),
    #[cfg(feature = "history")]
    Undo(undo::Args),
    #[cfg(feature = "history")]
    Audit(audit::Args),
    #[cfg(feature = "assistant")]
    Brain(brain::Args),
    #[cfg(feature = "assistant")]
    Usage(usage::Args),
    #[cfg(feature = "assistant")]
    Ask(ask::Args),
    #[cfg(feature = "assistant")]
    Turns(turns::Args),
    #[cfg(feature = "assistant")]
    Skill(skill::Args),
    #[cfg(feature = "assistant")]
    Routine(routine::Args),
    #[cfg(feature = "assistant")]
    Lcm(lcm::Args),
    Inbox(inbox::Args),
    Hook(hook::Args),
    Import(import::Args),
    Export(export::Args),
    Migrate(migrate::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    #[cfg(feature = "mcp")]
    McpConfig(mcp_config::Args),
    Status(status::Args),
    Doctor(doctor::Args),
    Service(service::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// Where its words go.
    pub ui: Ui,
    /// The time.
    pub clock: Arc<dyn Clock>,
    vault: Option<PathBuf>,
    /// Whose call this is, where the assistant asks from its shell.
    #[cfg(all(unix, feature = "assistant"))]
    caller: Option<crate::agent::bash::gate::Called>,
}

impl Context {
    /// Who writes: a person at the command line, or the assistant through its shell.
    pub fn origin(&self) -> Origin {
        #[cfg(all(unix, feature = "assistant"))]
        if let Some(caller) = &self.caller {
            return caller.origin();
        }
        Origin::new(Actor::Cli)
    }

    /// Refuses what the assistant may not do from its shell.
    #[cfg(all(unix, feature = "assistant"))]
    fn permits(&self, matches: &clap::ArgMatches) -> Result<(), CommandError> {
        self.caller.as_ref().map_or(Ok(()), |_| permitted::check(matches))
    }

    #[cfg(not(all(unix, feature = "assistant")))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "it has a caller in other builds")]
    fn permits(&self, _: &clap::ArgMatches) -> Result<(), CommandError> {
        Ok(())
    }

    /// The vault that `--vault`, the environment or the current folder names. Nothing is written for a
    /// folder that is none: neither in it nor in a state or cache directory of its own.
    ///
    /// # Errors
    /// No vault is near, or the named folder is none.
    pub fn vault_dir(&self) -> Result<PathBuf, CommandError> {
        let dir = self.folder()?;
        let shown = dir.display();
        if config::is_vault(&dir) {
            Ok(dir)
        } else if dir.is_dir() {
            Err(CommandError::usage(format!("`{shown}` is no vault: it holds neither `vault-agent.toml` nor `.obsidian`"))
                .hint(format!("make it one with `vault-agent init {shown}`: that adds what is missing and overwrites nothing")))
        } else {
            let what = if dir.exists() { "is no folder" } else { "is not there" };
            Err(CommandError::usage(format!("the vault `{shown}` {what}"))
                .hint("name a vault with `--vault DIR`, or make one: `vault-agent setup` asks, `vault-agent init DIR` doesn't"))
        }
    }

    /// The folder that is or may become the vault.
    ///
    /// # Errors
    /// None is named, and no vault is near.
    pub fn folder(&self) -> Result<PathBuf, CommandError> {
        if let Some(dir) = &self.vault {
            return Ok(dir.clone());
        }
        let here = std::env::current_dir()?;
        config::find_vault(&here).ok_or_else(|| {
            CommandError::usage(format!("no vault at or above `{}`", here.display()))
                .hint("name one with `--vault DIR`, or make one: `vault-agent setup` asks, `vault-agent run --vault DIR` doesn't")
        })
    }

    /// The folder that `--vault` or the environment names, if one does.
    pub fn named_vault(&self) -> Option<&PathBuf> {
        self.vault.as_ref()
    }

    /// Opens the vault with its settings.
    ///
    /// # Errors
    /// There is no vault, or its settings are wrong.
    pub fn workspace(&self) -> Result<Workspace, CommandError> {
        let workspace = Workspace::open(&self.vault_dir()?, Arc::clone(&self.clock))?;
        // Whoever types a command has the notes as they want them.
        workspace.editor.count_as_settled(true);
        Ok(workspace)
    }
}

/// The routines, a line each, for a chat.
///
/// # Errors
/// A sentence on what can't be read.
#[cfg(feature = "discord")]
pub(crate) fn listed_routines(workspace: &Workspace) -> Result<Vec<String>, String> {
    let all = routine::listed(workspace).map_err(|error| error.to_string())?;
    Ok(all.iter().map(|one| one.in_a_line(workspace)).collect())
}

/// Runs the program with the given arguments (the first is its name) and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    #[cfg(feature = "assistant")]
    if args.get(1).is_some_and(|arg| arg == supervise::COMMAND) {
        return supervise::run(&args[2..]);
    }
    #[cfg(all(unix, feature = "assistant"))]
    if let Some(code) = crate::agent::bash::gate::forward(&args) {
        return code;
    }
    let is_hook = args.iter().any(|arg| arg == "hook");
    let matches = command().try_get_matches_from(&args);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let code = refuse(&error, args.iter().any(|arg| arg == "--json"));
            // To a host, 2 means that the prompt or the stop is refused: an option that this version doesn't
            // know must not do that.
            return if is_hook { code.min(1) } else { code };
        }
    };
    let ui = Ui::begin(cli.global.json);
    log_to_stderr(cli.global.verbose);
    let code = match context(&cli.global, ui).and_then(|context| {
        context.permits(&matches)?;
        dispatch(&cli.command, &context)
    }) {
        Ok(Status::Fine) => 0,
        Ok(Status::Problem) => 1,
        Err(error) => {
            ui.error(&error);
            error.exit_code()
        }
    };
    if ui.has_lost() {
        ui.error(&CommandError::problem("the output could not be written"));
        return code.max(1);
    }
    code
}

/// Prints what is wrong with the arguments, or the help that they ask for, and returns the exit code.
fn refuse(error: &clap::Error, json: bool) -> u8 {
    let _ = error.print();
    if error.use_stderr() {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        Ui::begin(json).json_error(first.strip_prefix("error: ").unwrap_or(first), &[]);
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// The whole command tree, for help, completions and the manual.
pub fn command() -> clap::Command {
    Cli::command()
}

fn context(global: &GlobalArgs, ui: Ui) -> Result<Context, CommandError> {
    let clock = clock::from_env().map_err(|value| {
        ConfigError::new(format!("`{}` is `{value}`, which is no instant", clock::NOW_VARIABLE))
            .suggest("give RFC 3339, such as `2026-12-01T09:30:00Z`")
    })?;
    Ok(Context {
        ui,
        clock,
        vault: global.vault.clone(),
        #[cfg(all(unix, feature = "assistant"))]
        caller: crate::agent::bash::gate::Called::from_env(),
    })
}

fn dispatch(command: &Command, context: &Context) -> CommandResult {
    match command {
        Command::Setup(args) => setup::run(context, args),
        Command::Init(args) => init::run(context, args),
        Command::Run(args) => run::run(context, args),
        Command::Tick(args) => tick::run(context, args),
        Command::Remind(args) => remind::run(context, args),
        Command::Commitment(args) => commitment::run(context, args),
        Command::Memory(args) => memory::run(context, args),
        Command::Check(args) => check::run(context, args),
        #[cfg(feature = "index")]
        Command::Search(args) => search::run(context, args),
        #[cfg(feature = "index")]
        Command::Recall(args) => recall::run(context, args),
        #[cfg(feature = "index")]
        Command::Reindex(args) => reindex::run(context, args),
        #[cfg(feature = "index")]
        Command::Stats(args) => stats::run(context, args),
        #[cfg(feature = "history")]
        Command::History(args) => history::run(context, args),
        #[cfg(feature = "history")]
        Command::Diff(args) => diff::run(context, args),
        #[cfg(feature = "history")]
        Command::Restore(args) => restore::run(context, args),
        #[cfg(feature = "history")]
        Command::Undo(args) => undo::run(context, args),
        #[cfg(feature = "history")]
        Command::Audit(args) => audit::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Brain(args) => brain::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Usage(args) => usage::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Ask(args) => ask::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Turns(args) => turns::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Skill(args) => skill::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Routine(args) => routine::run(context, args),
        #[cfg(feature = "assistant")]
        Command::Lcm(args) => lcm::run(context, args),
        Command::Inbox(args) => inbox::run(context, args),
        Command::Hook(args) => hook::run(context, args),
        Command::Import(args) => import::run(context, args),
        Command::Export(args) => export::run(context, args),
        Command::Migrate(args) => migrate::run(context, args),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(context, args),
        #[cfg(feature = "mcp")]
        Command::McpConfig(args) => mcp_config::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Doctor(args) => doctor::run(context, args),
        Command::Service(args) => service::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
    }
}

/// Logs go to standard error always: standard output belongs to results and to MCP.
fn log_to_stderr(verbose: u8) {
    let default = match verbose {
        0 => "vault_agent=warn",
        1 => "vault_agent=info",
        _ => "vault_agent=debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("VAULT_AGENT_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(default));
    let colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    // What can't be logged has nowhere to be told: by default that is a panic where standard error is closed.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).log_internal_errors(false);
    let _ = log.with_writer(std::io::stderr).try_init();
}
