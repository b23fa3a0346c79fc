//! `routine`: lists scheduled prompts, runs one now, previews their next runs, turns one on or off.

use crate::cli::prelude::*;
use crate::config::MEMORY;
use crate::deliver::Console;
use crate::deliver::instants::ShownInstant;
use crate::format::Finding;
use crate::format::routine::Routine;
use crate::routines::{self, ListedRoutine, RunError, RunProgress};
use crate::schedule::Timetable;
use crate::turn::{Facts, TurnJournal};
use crate::{daemon, toolbox};

/// Scheduled prompts, each a note of the folder `routines`: lists them, runs one, turns one on or off.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Shows all routines: whether they are enabled, when they come next and when they last ran.
    List,
    /// Runs a routine now, enabled or not; its schedule goes on as it was.
    Run {
        /// The routine: its note's name without `.md`.
        name: String,
        /// Shows the prompt, the brains that would be asked and the place of the answer; asks no brain.
        #[arg(long)]
        dry_run: bool,
    },
    /// Shows when routines come next.
    Preview {
        /// The routine; else all that are enabled.
        name: Option<String>,
        /// How many occurrences of each.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        count: u16,
    },
    /// Turns a routine on, in its note.
    Enable {
        /// The routine.
        name: String,
    },
    /// Turns a routine off, in its note. A run that is under way sends nothing any more.
    Disable {
        /// The routine.
        name: String,
    },
}

/// Runs `routine`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = Arc::new(context.workspace()?);
    match args {
        Args::List => list(context, &workspace),
        Args::Run { name, dry_run: true } => dry_run(context, &workspace, name),
        Args::Run { name, .. } => run_now(context, &workspace, name),
        Args::Preview { name, count } => show_next(context, &workspace, name.as_deref(), usize::from(*count)),
        Args::Enable { name } => set_enabled(context, &workspace, name, true),
        Args::Disable { name } => set_enabled(context, &workspace, name, false),
    }
}

fn list(context: &Context, workspace: &Workspace) -> CommandResult {
    let listed = routines::list(workspace)?;
    context.ui.json(&listed);
    if listed.is_empty() {
        context.ui.line(format!("no routines in `{}`", workspace.settings.paths.routines));
    }
    let moment = |shown: &ShownInstant| routines::moment_in_words(workspace, shown.at());
    for routine in &listed {
        let ListedRoutine { name, schedule, next, last, problems, .. } = routine;
        let schedule = schedule.as_deref().unwrap_or("not understood");
        let state = match next {
            Some(next) => format!("next {}", moment(next)),
            None if problems.is_empty() => "disabled".to_owned(),
            None => "doesn't run: see below".to_owned(),
        };
        let last = last.as_ref().map(|last| format!(", last ran {}", moment(last))).unwrap_or_default();
        context.ui.line(format!("{name:<16} {schedule:<18} {state}{last}"));
        if let Some(waits) = routine.undelivered() {
            context.ui.note(format!("{name}: {waits}"));
        }
        for Finding { line, reason, suggestion, .. } in problems {
            context.ui.note(format!("{name}: line {line}: {reason}; {suggestion}"));
        }
    }
    Ok(Status::of(listed.iter().all(|routine| routine.problems.is_empty())))
}

fn show_next(context: &Context, workspace: &Workspace, name: Option<&str>, count: usize) -> CommandResult {
    #[derive(Serialize)]
    struct UpcomingRun {
        name: String,
        at: Vec<ShownInstant>,
    }
    let notes = match name {
        Some(name) => vec![routines::find(workspace, name)?],
        None => routines::read_all(workspace)?,
    };
    let now = workspace.clock.now();
    let mut all = Vec::new();
    for note in notes {
        if name.is_some() && note.routine.is_none() {
            return Err(RunError::NoRoutine(note.name).into());
        }
        let wanted = |routine: &&Routine| name.is_some() || routine.enabled;
        let Some(routine) = note.routine.as_ref().filter(wanted) else { continue };
        let table = Timetable::new(&workspace.zone, &routine.schedule);
        let at = table.after(now).take(count).map(|next| ShownInstant::new(next.at, workspace.zone.tz()));
        all.push(UpcomingRun { name: note.name, at: at.collect() });
    }
    context.list(&all, "no routine is enabled", |coming| {
        let times: String = coming.at.iter().map(|at| format!("\n  {}", at.for_people(now))).collect();
        format!("{}{times}", coming.name)
    })
}

fn set_enabled(context: &Context, workspace: &Workspace, name: &str, enabled: bool) -> CommandResult {
    let (note, changed) = routines::set_enabled(workspace, name, enabled, Actor::Cli)?;
    let listed = routines::list(workspace)?.into_iter().find(|listed| listed.name == note.name);
    let state = if enabled { "enabled" } else { "disabled" };
    let already = if changed { "is now" } else { "was already" };
    let next = listed.as_ref().and_then(|listed| listed.next.as_ref());
    let next = next.map(|next| format!("; next run {}", routines::moment_in_words(workspace, next.at())));
    let said = format!("`{}` {already} {state}{}", note.name, next.unwrap_or_default());
    context.answer(&listed, said)
}

fn dry_run(context: &Context, workspace: &Workspace, name: &str) -> CommandResult {
    let planned = routines::preview(workspace, &routines::find(workspace, name)?)?;
    context.ui.json(&planned);
    let ui = &context.ui;
    ui.line(format!("asked:\n{}\n", planned.asked));
    if !planned.material.is_empty() {
        ui.line(format!("context sent with the prompt:\n{}\n", planned.material));
    }
    let brains = if planned.brains.is_empty() { MEMORY.to_owned() } else { planned.brains.join(", then ") };
    ui.line(format!("brain: {brains} ({})", planned.why.trim_end_matches('.')));
    ui.line(format!("to: {}", planned.to));
    if !planned.holds {
        ui.line("a scheduled run would be skipped now: no new hit for its `only_if`");
    }
    Ok(Status::Fine)
}

fn run_now(context: &Context, workspace: &Arc<Workspace>, name: &str) -> CommandResult {
    let note = routines::find(workspace, name)?;
    let routine = note.routine.as_ref().filter(|routine| !routine.prompt.is_empty());
    let routine = routine.ok_or_else(|| RunError::NoRoutine(note.name.clone()))?;
    // This command prints the answer itself, so the console notifier prints nothing.
    let quiet = Arc::new(Console::new(Box::new(std::io::sink()), false, workspace.zone.tz().clone()));
    let turns = Arc::new(TurnJournal::open(&workspace.dirs.state)?);
    let delivery_order = workspace.delivery_order_with(quiet);
    let approvals = Arc::new(crate::agent::VaultApprovals::new(workspace, crate::agent::Waiter::Nothing));
    let runner = toolbox::runner_with(workspace, turns, Arc::default(), approvals, delivery_order)?;
    let key = routines::claim_now(workspace, runner.journal(), runner.turns(), &note)?;
    let driven = on_workers(async {
        let stop = daemon::stop_on_signals()?;
        Ok(runner.drive(&key, &stop).await?)
    })?;
    let run = runner.journal().run(&key)?;
    let brain = run.as_ref().and_then(|run| Facts::parse(run.facts.as_deref()?)).map(|facts| facts.brain);
    let (brain, answer) = (brain.filter(|brain| brain != MEMORY), run.and_then(|run| run.answer));
    let (outcome, is_fine) = match driven {
        RunProgress::Done(outcome) => (outcome, answer.is_some()),
        RunProgress::Busy => ("the daemon has taken it over".to_owned(), true),
        RunProgress::Later(why) => (format!("it goes on later: {why}"), false),
    };
    let to = routines::destination(workspace, routine);
    let ran = serde_json::json!({
        "name": note.name, "run": key, "answer": answer, "brain": brain, "outcome": outcome, "to": to,
    });
    context.answer(&ran, answer.as_deref().unwrap_or("there is no answer"))?;
    context.ui.note(if outcome == "sent" { format!("sent to {to}") } else { outcome });
    Ok(Status::of(is_fine))
}
