//! Runs the command line: parses arguments, opens the resources that the command needs, prints its result or its error.
//!
//! Arguments come in; results on standard output, remarks on standard error and an exit code go out. [`run`] may be
//! called more than once in one process. A command is one file with its name, in the folder of its topic. The file has
//! an `Args` struct (with the options and the help) and a `run` function that returns a [`CommandResult`]. The topics:
//! - [`setup`], [`init`], [`doctor`]: setting a vault up, and checking it;
//! - [`reminders`]: `remind`, `commitment`, `agenda`, `check`; [`memories`]: `memory`, `inbox`;
//! - [`index`]: `search`, `recall`, `reindex`, `stats`;
//! - [`snapshots`]: `history`, `diff`, `restore`, `undo`, `audit`, `conflicts`;
//! - [`assistant`]: `ask`, `brain`, `turns`, `usage`, `skill`, `routine`, `lcm`;
//! - [`hosts`]: `hook`, `mcp`, `mcp-config`, `web`; [`transfer`]: `import`, `export`, `migrate`;
//! - [`daemon`]: `run`, `tick`, `status`, `service`, `pause`, `resume`, `machines`;
//! - [`completions`], [`man`]: `completions`, `man`.
//!
//! Used by all commands:
//! - [`commands`]: the list of commands; [`assistant_commands`]: the commands that the assistant may call from its
//!   shell;
//! - [`context`]: a command's output, clock, vault and caller; [`confirming`]: confirms changes of reminders;
//! - [`error`]: an error with its exit code; [`logging`]: the log on standard error.
//!
//! Rules about notes, reminders or memories are not here, because other callers (such as the page) need them, too.

#[cfg(feature = "assistant")]
mod assistant;
#[cfg(feature = "assistant")]
mod assistant_commands;
mod commands;
mod completions;
mod confirming;
mod context;
mod daemon;
mod doctor;
mod error;
mod hosts;
mod index;
mod init;
mod logging;
mod man;
mod memories;
mod prelude;
mod reminders;
mod setup;
mod snapshots;
mod transfer;

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Args as _, CommandFactory, FromArgMatches, Parser};

#[cfg(feature = "assistant")]
use crate::brain::process::supervise;
use crate::config;
use crate::terminal::Ui;

use self::commands::{Command, dispatch};
pub use self::context::Context;
pub use self::error::{CommandError, CommandResult, Status};

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
    #[arg(long, global = true, value_name = "DIR", env = "VAULT_AGENT_VAULT", value_parser = OsStringValueParser::new().map(vault_path))]
    vault: Option<PathBuf>,
    /// One JSON document on standard output, and nothing else.
    #[arg(long, global = true)]
    json: bool,
    /// Logs more on standard error; given twice, all.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// The folder that a person means: few shells expand the `~` of `--vault=~/MyVault`.
fn vault_path(dir: OsString) -> PathBuf {
    match dir.to_str() {
        Some(home) if home.starts_with("~/") => config::expand(home, Path::new("")),
        _ => PathBuf::from(dir),
    }
}

/// Runs the program with the given arguments (the first is its name) and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    #[cfg(feature = "assistant")]
    if args.get(1).is_some_and(|arg| arg == supervise::COMMAND) {
        return supervise::run(&args[2..]);
    }
    #[cfg(all(unix, feature = "assistant"))]
    if let Some(code) = crate::agent::bash::vault_proxy::forward(&args) {
        return code;
    }
    let (cli, matches) = match parse(&args) {
        Ok(parsed) => parsed,
        Err(error) => {
            let code = print_usage_error(&error, args.iter().any(|arg| arg == "--json"));
            // To a host, 2 means that the prompt or the stop is refused: an option that this version doesn't
            // know must not do that.
            return if calls_hook(&args) { code.min(1) } else { code };
        }
    };
    let ui = Ui::begin(cli.global.json);
    logging::to_stderr(cli.global.verbose, cli.command.is_service());
    // An empty variable names nothing; an empty `--vault` is a script's mistake.
    let vault = cli.global.vault.clone().filter(|dir| !dir.as_os_str().is_empty());
    let is_typed = matches.value_source("vault") == Some(ValueSource::CommandLine);
    let named = if vault.is_none() && is_typed {
        Err(CommandError::usage("`--vault` is empty").hint("name a folder: `--vault DIR`"))
    } else {
        Context::new(vault, ui)
    };
    let code = match named.and_then(|context| {
        #[cfg(all(unix, feature = "assistant"))]
        context.check_permission(&matches)?;
        dispatch(&cli.command, &context)
    }) {
        Ok(Status::Fine) => 0,
        Ok(Status::Problem) => 1,
        Err(error) => {
            ui.error(&error.message, &error.hints);
            error.exit_code()
        }
    };
    if ui.has_lost() {
        ui.error("the output could not be written", &[]);
        return code.max(1);
    }
    code
}

/// Whether the arguments are a host's call of a hook: `hook` is the command, and none of its own for people follows.
fn calls_hook(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--vault" {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            let mut further = words.filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
            let of_people =
                |word: &OsString| ["install", "uninstall", "archive"].iter().any(|own| word == own);
            return word == "hook" && !further.next().is_some_and(of_people);
        }
    }
    false
}

/// Prints the error of the arguments, or the help that they ask for, and returns the exit code.
fn print_usage_error(error: &clap::Error, json: bool) -> u8 {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    if printed.is_err_and(|lost| !error.use_stderr() && lost.kind() != ErrorKind::BrokenPipe) {
        Ui::begin(json).error("the output could not be written", &[]);
        return 1;
    }
    if error.use_stderr() {
        let text = error.to_string();
        let words: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let words = words.join(" ");
        let tips = text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).map(str::to_owned);
        let hints: Vec<String> = tips.collect();
        Ui::begin(json).json_error(words.strip_prefix("error: ").unwrap_or(&words), &hints);
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Parses the arguments. A command that is called often is parsed by its own tree alone, because building the tree of
/// all commands takes as long as a query to the daemon. Arguments that its tree doesn't accept, help and errors among
/// them, are parsed by the tree of all.
fn parse(args: &[OsString]) -> Result<(Cli, clap::ArgMatches), clap::Error> {
    // If one of them begins with a dash and can be no option, such as `- milk` or `-5 degrees`, every value may.
    let has_dashed_text = args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| is_dashed_text(arg));
    let dashed = if has_dashed_text { with_dashed_values } else { std::convert::identity };
    let cli = |matches: clap::ArgMatches| Ok((Cli::from_arg_matches(&matches)?, matches));
    let read_from =
        |tree: clap::Command, args: &[OsString]| dashed(tree).try_get_matches_from(args).and_then(cli);
    let read = |tree: clap::Command| read_from(tree, args);
    let often = commands::OFTEN.iter().find(|(name, _)| args.iter().any(|arg| arg == name));
    let matches = often.and_then(|(name, with_args)| {
        let tree = GlobalArgs::augment_args(clap::Command::new("vault-agent"));
        read(tree.subcommand(with_args(clap::Command::new(*name)))).ok()
    });
    matches.map_or_else(|| read(Cli::command()), Ok).or_else(|error| {
        // Of an argument that takes several values, such text is a value only behind `--`.
        let (texts, others): (Vec<_>, Vec<_>) = args.iter().cloned().partition(|arg| is_dashed_text(arg));
        let args = [others, vec!["--".into()], texts].concat();
        has_dashed_text.then(|| read_from(Cli::command(), &args).ok()).flatten().ok_or(error)
    })
}

/// Whether an argument begins with a dash and is text: an option has a letter or a second dash there, and no white
/// space before its value.
fn is_dashed_text(arg: &OsStr) -> bool {
    arg.to_str().and_then(|arg| arg.strip_prefix('-')).is_some_and(|rest| {
        let name = rest.split_once('=').map_or(rest, |(name, _)| name);
        let is_option = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-');
        !is_option || name.contains(char::is_whitespace)
    })
}

fn with_dashed_values(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let takes_one = matches!(arg.get_action(), clap::ArgAction::Set);
            arg.allow_hyphen_values(takes_one)
        })
        .mut_subcommands(with_dashed_values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_by_itself_reads_what_the_tree_of_all_reads() {
        for line in [
            "search green tea -n 3 --json",
            "--vault /tmp/v search --exact --scope logs x",
            "recall -vv --inject what is this",
            "hook user-prompt-submit",
            "hook install --project --dry-run",
            "search",
            "search --help",
            "recall x --no-such",
            "hook later",
            "memory save search",
            "--vault hook recall x",
            "help search",
            "-V",
        ] {
            let args: Vec<OsString> =
                std::iter::once("vault-agent").chain(line.split(' ')).map(OsString::from).collect();
            let whole = Cli::command().try_get_matches_from(&args);
            let whole = whole.and_then(|matches| Cli::from_arg_matches(&matches));
            let words = |read: Result<Cli, clap::Error>| {
                read.map(|cli| format!("{cli:?}")).map_err(|error| error.to_string())
            };
            assert_eq!(words(parse(&args).map(|(cli, _)| cli)), words(whole), "{line}");
        }
        let args = ["vault-agent", "search", "x", "--scope", "- milk"].map(OsString::from);
        assert!(parse(&args).is_ok());
    }
}
