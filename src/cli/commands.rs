//! Lists the commands, in the order of `--help`, and calls the one that the arguments name.

use clap::{Args as _, Subcommand};

#[cfg(feature = "assistant")]
use super::assistant::{ask, brain, lcm, routine, skill, turns, usage};
use super::context::Context;
use super::daemon::{machines, pause, resume, run, service, status, tick};
use super::error::CommandResult;
#[cfg(all(unix, feature = "assistant"))]
use super::hosts::web;
use super::hosts::{hook, mcp, mcp_config};
use super::index::{recall, reindex, search, stats};
use super::memories::{inbox, memory};
use super::reminders::{agenda, check, commitment, remind};
use super::snapshots::{audit, conflicts, diff, history, restore, undo};
use super::transfer::{export, import, migrate};
use super::{completions, doctor, init, man, setup};

/// Declares each command by its name and its module, which has `Args` and `run`.
macro_rules! commands {
    ($($(#[$cfg:meta])* $name:ident => $module:ident $(($kind:ident))?,)*) => {
        /// A command with its options.
        #[derive(Debug, Subcommand)]
        pub(super) enum Command {
            $($(#[$cfg])* $(#[command($kind)])? $name($module::Args),)*
        }

        /// Runs the command.
        pub(super) fn dispatch(command: &Command, context: &Context) -> CommandResult {
            match command {
                $($(#[$cfg])* Command::$name(args) => $module::run(context, args),)*
            }
        }
    };
}

commands! {
    Setup => setup,
    Init => init,
    Run => run,
    Tick => tick,
    Pause => pause,
    Resume => resume,
    Remind => remind (subcommand),
    Agenda => agenda,
    Commitment => commitment (subcommand),
    Memory => memory (subcommand),
    Check => check,
    Search => search,
    Recall => recall,
    Reindex => reindex,
    Stats => stats,
    History => history,
    Diff => diff,
    Restore => restore,
    Undo => undo,
    Audit => audit,
    Conflicts => conflicts (subcommand),
    #[cfg(feature = "assistant")] Brain => brain (subcommand),
    #[cfg(feature = "assistant")] Usage => usage,
    #[cfg(feature = "assistant")] Ask => ask,
    #[cfg(feature = "assistant")] Turns => turns,
    #[cfg(feature = "assistant")] Skill => skill (subcommand),
    #[cfg(feature = "assistant")] Routine => routine (subcommand),
    #[cfg(feature = "assistant")] Lcm => lcm (subcommand),
    Inbox => inbox,
    Hook => hook,
    Import => import,
    Export => export,
    Migrate => migrate (subcommand),
    Mcp => mcp,
    McpConfig => mcp_config,
    #[cfg(all(unix, feature = "assistant"))] Web => web,
    Machines => machines,
    Status => status,
    Doctor => doctor,
    Service => service (subcommand),
    Completions => completions,
    Man => man,
}

/// Adds its arguments to a command.
type AddArgs = fn(clap::Command) -> clap::Command;

/// The commands that people and hooks call again and again.
pub(super) const OFTEN: [(&str, AddArgs); 3] = [
    ("search", search::Args::augment_args),
    ("recall", recall::Args::augment_args),
    ("hook", hook::Args::augment_args),
];

impl Command {
    /// Whether it runs on until it is ended, and its standard error is a log.
    pub(super) fn is_service(&self) -> bool {
        match self {
            Self::Run(_) | Self::Mcp(_) => true,
            #[cfg(all(unix, feature = "assistant"))]
            Self::Web(_) => true,
            _ => false,
        }
    }
}
