//! `tick`: one pass of the scheduler, for cron and for tests.

use std::sync::Arc;

use crate::cli::context::runtime;
use crate::cli::when::instant;
use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::clock::ManualClock;
use crate::daemon::{DaemonLock, LockError};
use crate::deliver::pass::{PassContext, pass};
use crate::deliver::{Console, Memory, Mode, PassReport};
use crate::terminal::Ui;
use crate::workspace::Workspace;

/// Makes one pass of the scheduler, then exits.
///
/// What is due is delivered, its line rewritten, and reminders without an id get one. Then the routines
/// that are due run, one after another. A crontab line that runs this every minute replaces the daemon.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Takes this for the present: `2026-12-01T09:30:00Z`, or a local `2026-12-01 09:30`.
    #[arg(long, value_name = "T")]
    now: Option<String>,
    /// Says what would fire; sends and writes nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Runs `tick`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let mut workspace = context.workspace()?;
    if let Some(text) = &args.now {
        let now = instant(text, &workspace)?;
        workspace = Workspace::open(&context.vault_dir()?, Arc::new(ManualClock::new(now)))?;
        workspace.editor.count_as_settled(true);
    }
    if context.ui.is_closed() && !context.ui.json && workspace.outlets(false).primary.name() == "console" {
        // Nobody reads what would be told: it stays due.
        return Ok(Status::Fine);
    }
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Tick };
    let report = runtime()?.block_on(one_pass(context.ui, &workspace, mode))?;
    #[cfg(feature = "assistant")]
    let routines = {
        let workspace = Arc::new(workspace);
        let rests = report.read_only.is_some() || workspace.at_rest().is_some();
        let ran = super::ticked::routines(context.ui, &workspace, rests, args.dry_run)?;
        (workspace, ran)
    };
    #[cfg(feature = "assistant")]
    let (workspace, ran) = (&*routines.0, &routines.1);
    #[cfg(not(feature = "assistant"))]
    let workspace = &workspace;
    context.ui.json(&Report {
        pass: &report,
        #[cfg(feature = "assistant")]
        routines: ran.has_something().then_some(ran),
    });
    say(context.ui, workspace, &report);
    #[cfg(feature = "assistant")]
    let problem = report.has_problem() || ran.say(context.ui);
    #[cfg(not(feature = "assistant"))]
    let problem = report.has_problem();
    Ok(if problem { Status::Problem } else { Status::Fine })
}

/// The answer of `tick --json`.
#[derive(Debug, serde::Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    pass: &'a PassReport,
    /// What became of routines, where one was due.
    #[cfg(feature = "assistant")]
    #[serde(skip_serializing_if = "Option::is_none")]
    routines: Option<&'a super::ticked::Ticked>,
}

async fn one_pass(ui: Ui, workspace: &Workspace, mode: Mode) -> Result<PassReport, CommandError> {
    if mode == Mode::Tick {
        if let Some(pid) = DaemonLock::elsewhere(&workspace.dirs.state, workspace.vault.root()) {
            return Err(CommandError::problem(LockError::Elsewhere(pid)).hint(super::run::ONE_STATE));
        }
        workspace.editor.recover()?;
    }
    // With `--json` standard output is one document, and the console's lines go beside it.
    let outlets = if ui.json {
        workspace.outlets_with(Arc::new(Console::stderr(workspace.zone.tz().clone())))
    } else {
        workspace.outlets(false)
    };
    let pass_context = PassContext {
        vault: &workspace.vault,
        editor: &workspace.editor,
        journal: &workspace.journal()?,
        outlets: &outlets,
        clock: &*workspace.clock,
        settings: &workspace.pass_settings(),
    };
    pass(&pass_context, &mut Memory::default(), mode).await.map_err(CommandError::problem)
}

/// What a person wants to know besides the notifications themselves.
fn say(ui: Ui, workspace: &Workspace, report: &PassReport) {
    let shown = report.dry_run || workspace.outlets(false).primary.name() != "console";
    for fired in report.fired.iter().filter(|_| shown) {
        let verb = if report.dry_run { "would fire" } else { "sent" };
        ui.line(format!("{verb}: {} {} ({})", fired.due, fired.text.replace('\n', " "), fired.id));
    }
    if let Some(reason) = &report.read_only {
        ui.note(format!("nothing fires here: {reason}"));
    }
    for finding in &report.near_misses {
        ui.note(crate::cli::reminders::check::plain(finding));
    }
    report.failures().iter().for_each(|failure| ui.note(failure));
    for problem in &report.problems {
        ui.note(format!("problem: {problem}"));
    }
}
