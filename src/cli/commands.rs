//! Lists the commands and calls the one that was given. Their order is that of `--help`.

use clap::Subcommand;

#[cfg(feature = "assistant")]
use super::assistant::{ask, brain, lcm, routine, skill, turns, usage};
use super::context::Context;
use super::daemon::{machines, pause, run, service, status, tick};
use super::error::CommandResult;
use super::hosts::hook;
#[cfg(all(unix, feature = "assistant"))]
use super::hosts::web;
use super::hosts::{mcp, mcp_config};
use super::index::{recall, reindex, search, stats};
use super::memories::{inbox, memory};
use super::reminders::{agenda, check, commitment, remind};
use super::snapshots::{audit, conflicts, diff, history, restore, undo};
use super::transfer::{export, import, migrate};
use super::{completions, doctor, init, man, setup};

/// A command with its options. A new one is a variant here and an arm in [`dispatch`].
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Setup(setup::Args),
    Init(init::Args),
    Run(run::Args),
    Tick(tick::Args),
    Pause(pause::Args),
    Resume(pause::ResumeArgs),
    Remind(remind::Args),
    Agenda(agenda::Args),
    Commitment(commitment::Args),
    Memory(memory::Args),
    Check(check::Args),
    Search(search::Args),
    Recall(recall::Args),
    Reindex(reindex::Args),
    Stats(stats::Args),
    History(history::Args),
    Diff(diff::Args),
    Restore(restore::Args),
    Undo(undo::Args),
    Audit(audit::Args),
    Conflicts(conflicts::Args),
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
    Mcp(mcp::Args),
    McpConfig(mcp_config::Args),
    #[cfg(all(unix, feature = "assistant"))]
    Web(web::Args),
    Machines(machines::Args),
    Status(status::Args),
    Doctor(doctor::Args),
    Service(service::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Whether it runs on until it is ended, and its standard error is a log.
    pub(super) fn is_service(&self) -> bool {
        match self {
            Self::Run(_) => true,
            Self::Mcp(_) => true,
            #[cfg(all(unix, feature = "assistant"))]
            Self::Web(_) => true,
            _ => false,
        }
    }
}

/// Runs the command.
pub(super) fn dispatch(command: &Command, context: &Context) -> CommandResult {
    match command {
        Command::Setup(args) => setup::run(context, args),
        Command::Init(args) => init::run(context, args),
        Command::Run(args) => run::run(context, args),
        Command::Tick(args) => tick::run(context, args),
        Command::Pause(args) => pause::run(context, args),
        Command::Resume(args) => pause::resume(context, args),
        Command::Remind(args) => remind::run(context, args),
        Command::Agenda(args) => agenda::run(context, args),
        Command::Commitment(args) => commitment::run(context, args),
        Command::Memory(args) => memory::run(context, args),
        Command::Check(args) => check::run(context, args),
        Command::Search(args) => search::run(context, args),
        Command::Recall(args) => recall::run(context, args),
        Command::Reindex(args) => reindex::run(context, args),
        Command::Stats(args) => stats::run(context, args),
        Command::History(args) => history::run(context, args),
        Command::Diff(args) => diff::run(context, args),
        Command::Restore(args) => restore::run(context, args),
        Command::Undo(args) => undo::run(context, args),
        Command::Audit(args) => audit::run(context, args),
        Command::Conflicts(args) => conflicts::run(context, args),
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
        Command::Mcp(args) => mcp::run(context, args),
        Command::McpConfig(args) => mcp_config::run(context, args),
        #[cfg(all(unix, feature = "assistant"))]
        Command::Web(args) => web::run(context, args),
        Command::Machines(args) => machines::run(context, args),
        Command::Status(args) => status::run(context, args),
        Command::Doctor(args) => doctor::run(context, args),
        Command::Service(args) => service::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
    }
}
