//! `tick`: makes one pass of the scheduler, then carries out the answers in the inbox and runs the due routines; for
//! cron and for tests.

#[cfg(feature = "assistant")]
use super::tick_routines::{RoutineReport, run_due_routines};
use crate::capture::{Inbox, InboxOutcome};
use crate::cli::context::instant;
use crate::cli::init;
use crate::cli::prelude::*;
use crate::cli::reminders::check::finding_line;
use crate::cli::snapshots::refresh;
use crate::clock::ManualClock;
use crate::deliver::pass::pass;
use crate::deliver::{PassMode, PassReport, PassState};
use crate::history::{History, LOOSE_OBJECTS};
use crate::instance::{DaemonLock, LastTick};

/// Makes one pass of the scheduler, then exits.
///
/// First, changes made by people are recorded in the history. Due reminders and follow-ups are delivered, their lines
/// rewritten, and reminders without an id get one. Then ticked candidates of the inbox are kept, and the routines that
/// are due, or that were waiting for an approval, run one after another. A crontab line that runs this every minute
/// replaces the daemon, except with `[machines]`: a tick takes over no work from another machine, and a line that was
/// removed here may be delivered by a machine with an older copy.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Takes this for the present: `2026-12-01T09:30:00Z`, or a local `2026-12-01 09:30`.
    #[arg(long, value_name = "T")]
    now: Option<String>,
    /// Shows what would fire; sends and writes nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Runs `tick`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let mut workspace = context.workspace_or_last()?;
    if let Some(text) = &args.now {
        let now = instant(text, &workspace)?;
        let clock = Arc::new(ManualClock::new(now));
        workspace = Workspace::open_or_last(&context.vault_dir()?, clock)?;
        workspace.editor.count_as_settled(true);
    }
    let mut to_pack = None;
    if !args.dry_run {
        if let Some(other) = DaemonLock::other_daemon(&workspace.dirs.state, workspace.vault.root()) {
            return Err(other.into());
        }
        workspace.recover_edits();
        workspace = init::ensure_own_times(context, workspace)?;
        // A running daemon makes the snapshots and the claims.
        if DaemonLock::holder(&workspace.dirs.state).is_none() {
            let refreshed = |history: Arc<History>| refresh(context, &workspace, &history).map(|()| history);
            match workspace.history().map_err(CommandError::from).and_then(|it| it.map(refreshed).transpose())
            {
                Ok(history) => to_pack = history,
                Err(error) => context.ui.note(format!("no snapshot: {error}")),
            }
            workspace = workspace.joined()?;
        }
    }
    if context.ui.is_closed()
        && !context.ui.json
        && workspace.delivery_order(false).primary.name() == "console"
    {
        // The reader is gone: what is due stays due.
        return Ok(Status::Fine);
    }
    let mode = if args.dry_run { PassMode::DryRun } else { PassMode::Tick };
    let (mut report, console_reason) = runtime()?.block_on(one_pass(context.ui, &workspace, mode))?;
    if !args.dry_run {
        record_tick(&workspace, &report);
    }
    let inbox = if args.dry_run { InboxOutcome::default() } else { settle_inbox(&workspace, &mut report) };
    #[cfg(feature = "assistant")]
    let (workspace, ran) = {
        let workspace = Arc::new(workspace);
        let rests = report.read_only.is_some() || workspace.reason_for_rest().is_some();
        let ran = run_due_routines(context.ui, &workspace, rests, args.dry_run);
        // Sent messages are reported all the same.
        let failed = |error: CommandError| RoutineReport {
            problems: vec![error.to_string()],
            ..RoutineReport::default()
        };
        let mut ran = ran.unwrap_or_else(failed);
        if !args.dry_run {
            // Questions of a run and warnings about budgets are sent in the same tick.
            let flush = flush_after_routines(context.ui, &workspace, !ran.ran.is_empty());
            match runtime().and_then(|runtime| runtime.block_on(flush)) {
                Ok(told) => report.failed.extend(told.failed),
                Err(error) => ran.problems.push(error.to_string()),
            }
        }
        (workspace, ran)
    };
    print_report(context.ui, &workspace, &report);
    // People read the first when the vault was opened, and the second in the log.
    report.problems.extend(workspace.settings_problem());
    report.problems.extend(console_reason);
    context.ui.json(&TickReport {
        pass: &report,
        inbox: &inbox,
        #[cfg(feature = "assistant")]
        routines: &ran,
    });
    let problem = print_inbox(context.ui, &inbox) || report.has_problem();
    #[cfg(feature = "assistant")]
    let problem = ran.print_report(context.ui) || problem;
    // Many loose objects take a while: what is due was told before.
    if let Some(Err(error)) = to_pack.map(|history| history.pack_from(LOOSE_OBJECTS)) {
        context.ui.note(format!("the history could not be packed: {error}"));
    }
    Ok(Status::of(!problem))
}

/// The answer of `tick --json`.
#[derive(Debug, serde::Serialize)]
struct TickReport<'a> {
    #[serde(flatten)]
    pass: &'a PassReport,
    /// The result of the inbox, where a box was ticked or declined.
    #[serde(skip_serializing_if = "InboxOutcome::is_empty")]
    inbox: &'a InboxOutcome,
    /// The result of routines, where one was due.
    #[cfg(feature = "assistant")]
    #[serde(skip_serializing_if = "RoutineReport::is_empty")]
    routines: &'a RoutineReport,
}

/// Records the time of the pass for `status`, unless a daemon does.
fn record_tick(workspace: &Workspace, report: &PassReport) {
    let state = &workspace.dirs.state;
    let tick = LastTick { at: workspace.clock.now(), took_ms: report.took_ms, slow: report.over_time };
    if DaemonLock::holder(state).is_none()
        && let Err(error) = tick.write(state)
    {
        tracing::warn!("the time of this tick could not be recorded: {error}");
    }
}

/// Makes a pass. Also returns why the console stands in the place of the notifier, if it does.
async fn one_pass(ui: Ui, workspace: &Workspace, mode: PassMode) -> Result<(PassReport, Option<String>)> {
    let (journal, delivery_order, settings) =
        (workspace.journal()?, workspace.delivery_order_off_stdout(ui.json), workspace.pass_settings());
    let context = workspace.pass_context(&journal, &delivery_order, &settings);
    let mut memory = PassState::default();
    workspace.machines.catch_up().await;
    let mut report = pass(&context, &mut memory, mode).await?;
    if workspace.machines.name().is_none() {
        return Ok((report, delivery_order.console_reason));
    }
    // The first pass requested claims; the second delivers what was claimed, and the third writes down what was marked.
    for _ in 0..2 {
        workspace.machines.catch_up().await;
        let mut next = pass(&context, &mut memory, mode).await?;
        next.follow(report);
        report = next;
    }
    workspace.machines.catch_up().await;
    report.problems.extend(workspace.machines.problem());
    Ok((report, delivery_order.console_reason))
}

/// Marks expired approvals and, where a routine `ran`, sends what it queued.
#[cfg(feature = "assistant")]
async fn flush_after_routines(ui: Ui, workspace: &Arc<Workspace>, ran: bool) -> Result<PassReport> {
    if workspace.left_to_other_machine().is_none() {
        crate::agent::VaultApprovals::new(workspace, crate::agent::Waiter::Turn).expire_questions().await;
    }
    if !ran {
        return Ok(PassReport::default());
    }
    let (journal, delivery_order, settings) =
        (workspace.journal()?, workspace.delivery_order_off_stdout(ui.json), workspace.pass_settings());
    Ok(crate::deliver::pass::flush(&workspace.pass_context(&journal, &delivery_order, &settings)).await?)
}

/// Keeps the ticked candidates of the inbox and drops the declined ones; lines that aren't understood go into the
/// report.
fn settle_inbox(workspace: &Workspace, report: &mut PassReport) -> InboxOutcome {
    if workspace.left_to_other_machine().is_some() {
        return InboxOutcome::default();
    }
    let inbox = Inbox::new(workspace.memory());
    let missed = inbox.read().map(|file| file.near_misses).unwrap_or_default();
    report.near_misses.extend(missed.iter().map(|finding| PlacedFinding::new(&inbox.path(), finding)));
    inbox.settle(workspace.clock.now()).unwrap_or_else(|error| InboxOutcome {
        problems: vec![format!("the inbox can't be looked at: {error}")],
        ..InboxOutcome::default()
    })
}

/// Prints what was kept and the problems; true where there is a problem.
fn print_inbox(ui: Ui, inbox: &InboxOutcome) -> bool {
    let kept = inbox.kept.iter();
    kept.for_each(|one| ui.note(format!("kept: {}", one.saved.text.trim_start_matches("- "))));
    inbox.problems.iter().for_each(|problem| ui.note(format!("problem: {problem}")));
    !inbox.problems.is_empty()
}

/// Prints the report, besides the notifications themselves.
fn print_report(ui: Ui, workspace: &Workspace, report: &PassReport) {
    let shown = report.dry_run || workspace.delivery_order(false).primary.name() != "console";
    for fired in report.fired.iter().filter(|_| shown) {
        let verb = if report.dry_run { "would fire" } else { "sent" };
        ui.line(format!("{verb}: {} {} ({})", fired.due, fired.text.replace('\n', " "), fired.id));
    }
    if let Some(reason) = &report.read_only {
        ui.note(format!("nothing fires here: {reason}"));
    }
    report.near_misses.iter().for_each(|finding| ui.note(finding_line(finding)));
    report.failures().iter().for_each(|failure| ui.note(failure));
    report.problems.iter().for_each(|problem| ui.note(format!("problem: {problem}")));
}
