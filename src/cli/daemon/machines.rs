//! `machines`: lists the machines that share a vault, and lets this machine join, leave, or become the voice.
//!
//! The voice is the machine that speaks on Discord and does shared work.

use crate::cli::prelude::*;
use crate::config::{self, machine_name};
use crate::doctor::ago;
use crate::instance::DaemonStatus;
use crate::machines::engine::{self, Entries, StoreEngine};
use crate::machines::identity::Identity;
use crate::machines::join::{JoinCheck, ThisMachine};
use crate::machines::status::{MachineStatus, MachinesStatus};

/// Lists the machines that share this vault: which one is the voice, when each was seen, open deliveries.
///
/// With `[machines]` in the settings they agree over a git server or etcd on which of them delivers, answers and runs
/// routines. See docs/machines.md.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Checks that this machine may take part: the store, the rights, the clock, the name, the notifiers. Writes the vault's id into
    /// the settings, where it isn't there yet.
    Join {
        /// Accepts a store that was restored or overwritten: what was delivered since then may be delivered again.
        #[arg(long)]
        as_it_is: bool,
    },
    /// Takes this machine out of the list, and gives the voice back; its daemon has to be stopped.
    Leave,
    /// Makes this machine the voice: the other one hands over.
    Take,
}

/// The opened store, and this machine as its client.
struct SharedStore {
    settings: config::MachineSettings,
    engine: Arc<dyn StoreEngine>,
    this_machine: ThisMachine,
}

/// Runs `machines`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    match &args.action {
        None => list(context, &workspace),
        Some(Action::Join { as_it_is }) => join(context, &workspace, *as_it_is),
        Some(Action::Leave) => leave(context, &workspace),
        Some(Action::Take) => take(context, &workspace),
    }
}

fn open_store(workspace: &Workspace) -> Result<SharedStore> {
    let Some(settings) = workspace.settings.machines.clone() else {
        return Err(CommandError::usage(
            "the settings have no `[machines]`: only one machine uses this vault",
        )
        .hint("to share a vault between machines, see docs/machines.md"));
    };
    let (root, state) = (workspace.vault.root(), &workspace.dirs.state);
    let engine = engine::open(&settings, root, state, &workspace.clock)?;
    let identity = Identity::of(state)?;
    let this_machine = ThisMachine {
        name: machine_name()?,
        machine: identity.machine,
        vault: settings.vault.clone(),
        highest: identity.highest,
        now: workspace.clock.now(),
    };
    Ok(SharedStore { settings, engine, this_machine })
}

fn list(context: &Context, workspace: &Workspace) -> CommandResult {
    if workspace.settings.machines.is_none() {
        let alone = MachinesStatus { engine: "none".to_owned(), ok: true, ..MachinesStatus::default() };
        return context.answer(&alone, "the settings have no `[machines]`: only one machine uses this vault");
    }
    let shared = open_store(workspace)?;
    let kind = shared.settings.engine.as_str();
    let status = match runtime()?.block_on(shared.engine.read()) {
        Ok(entries) => {
            let problem = shared.this_machine.problem(&entries).map(|problem| problem.to_string());
            MachinesStatus::of(kind, &entries, problem.or_else(|| daemon_problem(workspace)))
        }
        Err(error) => MachinesStatus::of(kind, &Entries::new(), Some(error.to_string())),
    };
    context.report(&status, lines(&status, &shared.this_machine), status.ok)
}

/// The machines for people.
pub(super) fn lines(status: &MachinesStatus, this_machine: &ThisMachine) -> Vec<String> {
    let mut out = vec![format!("engine    {}", status.engine)];
    match (&status.voice, &status.problem) {
        (Some(name), _) => out.push(format!("voice     {name} (epoch {})", status.epoch)),
        (None, None) => out.push("voice     none yet".to_owned()),
        // The store may not have been read.
        (None, Some(_)) => {}
    }
    let ago = |at: Timestamp| ago(at.min(this_machine.now), this_machine.now);
    for machine in &status.machines {
        let MachineStatus { name, version, .. } = machine;
        let seen = machine.seen.map_or_else(|| "never".to_owned(), ago);
        let own = if *name == this_machine.name { ", this one" } else { "" };
        let behind = if machine.notes_behind { ", its notes differ from the voice's" } else { "" };
        out.push(format!("machine   {name}{own}: seen {seen}, version {version}{behind}"));
    }
    if let Some(first) = status.open.first() {
        let since = first.since.map(|at| format!(" {}", ago(at))).unwrap_or_default();
        let (count, by) = (status.open.len(), &first.by);
        let claims = if count == 1 { "claim" } else { "claims" };
        out.push(format!("open      {count} {claims}, the oldest made{since} by {by}"));
    }
    out.extend(status.problem.iter().map(|problem| format!("problem   {problem}")));
    out
}

fn daemon_runs(workspace: &Workspace) -> bool {
    DaemonLock::holder(&workspace.dirs.state).is_some()
}

/// Why the daemon takes no part: one reading of the store doesn't show a copied state directory.
fn daemon_problem(workspace: &Workspace) -> Option<String> {
    let report = DaemonStatus::read(&workspace.dirs.state).filter(|_| daemon_runs(workspace));
    report?.machines?.problem
}

fn daemon_runs_error(what: &str) -> CommandError {
    CommandError::problem(format!("the daemon runs: it would {what}"))
        .hint("stop it first, where it was started: with Ctrl-C, or as a service")
}

fn join(context: &Context, workspace: &Workspace, as_it_is: bool) -> CommandResult {
    let mut shared = open_store(workspace)?;
    if as_it_is && daemon_runs(workspace) {
        return Err(daemon_runs_error("go on with what it knew of the store"));
    }
    let mut checks = Vec::new();
    let entries = runtime()?.block_on(async {
        if as_it_is {
            shared.engine.forget().await?;
            let entries = shared.engine.read().await?;
            shared.this_machine.raise_epoch(&*shared.engine, &entries).await?;
        }
        shared.engine.read().await
    });
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            let error = CommandError::from(error);
            checks.push(JoinCheck::failed("store", error.message.clone()));
            return print_checks(context, &checks, &error.hints);
        }
    };
    checks.push(JoinCheck::passed("store", format!("the {} store answers", shared.settings.engine.as_str())));
    let has_new_id = shared.this_machine.vault.is_none() && shared.this_machine.problem(&entries).is_none();
    if has_new_id {
        shared.this_machine.vault = Some(format!("v-{:016x}", getrandom::u64().unwrap_or_default()));
    }
    checks.extend(shared.this_machine.checks(&entries));
    if checks.iter().all(|looked| looked.ok) {
        checks.push(match runtime()?.block_on(shared.this_machine.try_claim(&*shared.engine, &entries)) {
            Ok(()) => JoinCheck::passed("rights", "a trial claim was made and taken back"),
            Err(error) => JoinCheck::failed("rights", error.to_string()),
        });
    }
    if has_new_id && checks.iter().all(|looked| looked.ok) {
        let id = shared.this_machine.vault.clone().unwrap_or_default();
        workspace.change_settings(&context.origin(), "named the vault for its machines", |text| {
            config::with_values(text, &[("machines.vault", id.as_str().into())])
        })?;
        checks.push(JoinCheck::passed("settings", format!("the vault's id `{id}` stands in `[machines]`")));
    }
    let usable = || JoinCheck::passed("notify", "this machine can use what `[notify]` names");
    let unusable = workspace.reason_for_not_sending().map(|why| JoinCheck::failed("notify", why));
    checks.push(unusable.unwrap_or_else(usable));
    print_checks(context, &checks, &[])
}

fn print_checks(context: &Context, checks: &[JoinCheck], hints: &[String]) -> CommandResult {
    let ok = checks.iter().all(|looked| looked.ok);
    let line = |JoinCheck { check, ok, detail }: &JoinCheck| {
        format!("{} {check:9} {detail}", if *ok { "fine " } else { "wrong" })
    };
    let done =
        context.report(&serde_json::json!({ "ok": ok, "checks": checks }), checks.iter().map(line), ok);
    if ok {
        context.ui.note("this machine may take part: start its daemon, or go on with it");
    }
    hints.iter().for_each(|hint| context.ui.note(hint));
    done
}

fn leave(context: &Context, workspace: &Workspace) -> CommandResult {
    let shared = open_store(workspace)?;
    if daemon_runs(workspace) {
        return Err(daemon_runs_error("join again"));
    }
    let was_there = runtime()?.block_on(shared.this_machine.leave(&*shared.engine))?;
    let name = &shared.this_machine.name;
    context.answer(
        &serde_json::json!({ "name": name, "left": was_there }),
        match was_there {
            true => format!("`{name}` has left; another machine whose daemon runs becomes the voice"),
            false => format!("`{name}` is not in the list"),
        },
    )
}

fn take(context: &Context, workspace: &Workspace) -> CommandResult {
    let shared = open_store(workspace)?;
    if !daemon_runs(workspace) {
        return Err(CommandError::problem("no daemon runs here, so this machine can't be the voice")
            .hint("start it with `vault-agent run`, then ask again"));
    }
    if !ask_daemon_to_take(workspace) {
        return Err(CommandError::problem("the daemon runs, but doesn't answer on its socket")
            .hint("look at its log, or restart it"));
    }
    let name = &shared.this_machine.name;
    let document = serde_json::json!({ "name": name, "asked": true });
    context.answer(&document, format!("`{name}` asks to be the voice"))?;
    context.ui.note("the current voice hands over at its next check; `vault-agent machines` shows it");
    Ok(Status::Fine)
}

/// Asks the daemon to take the voice; true where it accepted.
fn ask_daemon_to_take(workspace: &Workspace) -> bool {
    use crate::hooks::archive::delegate::ACCEPTED;
    use crate::machines::join::TakeVoiceRequest;
    use crate::search::results::daemon_client;

    let Ok(line) = serde_json::to_string(&TakeVoiceRequest::default()) else { return false };
    let patience = std::time::Duration::from_secs(5);
    daemon_client::exchange(&daemon_client::socket(&workspace.dirs.state), &line, patience)
        .is_ok_and(|reply| reply.trim_end() == ACCEPTED)
}
