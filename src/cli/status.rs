//! `status`: what the daemon is doing, what comes next, what waits.

use comfy_table::{Table, presets};
use jiff::Timestamp;
use serde::Serialize;

use super::{CommandError, CommandResult, Context, Status};
use crate::config::{DISCORD_TOKEN_VARIABLE, MEMORY};
use crate::daemon::{DaemonLock, DaemonStatus, LockError};
use crate::deliver::compose;
use crate::deliver::journal::{OpenDelivery, Refusal};
use crate::format::{approval, reminder};
use crate::reminders::rfc3339;
use crate::schedule::Moment;
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// What the daemon is doing, what comes next, and what could not be delivered.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many of the next reminders to show.
    #[arg(long, default_value_t = 5)]
    count: usize,
}

/// The answer of `status --json`.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether a daemon serves this vault now.
    running: bool,
    /// What it last said of itself; without a running daemon, what the last one said.
    daemon: Option<DaemonStatus>,
    /// The next reminders, earliest first.
    next: Vec<Coming>,
    /// Deliveries that wait for another attempt, or were refused everywhere.
    waiting: Vec<OpenDelivery>,
    /// Places that refuse messages with the current settings.
    refused: Vec<Refusal>,
    /// What the assistant asks and nobody answered yet.
    approvals: Vec<Asked>,
    /// Why nothing fires on this machine, where another one does.
    read_only: Option<String>,
    /// The brains, as they are remembered.
    #[cfg(feature = "assistant")]
    brains: Vec<super::brain::Listed>,
    /// The budgets of the day, with what is used of them.
    #[cfg(feature = "assistant")]
    budgets: Vec<crate::agent::budget::Budget>,
    /// Other MCP servers, as they were when they were last used.
    #[cfg(all(feature = "assistant", feature = "mcp", unix))]
    mcp: Vec<Server>,
    /// The routines.
    #[cfg(feature = "assistant")]
    routines: Vec<super::routine::Listed>,
    /// The daemon that serves this vault with another state directory; 0 where its number isn't known.
    elsewhere: Option<u32>,
    /// The files that no snapshot holds, with the reasons.
    #[cfg(feature = "history")]
    left_out: Vec<crate::history::LeftOut>,
}

/// A question that waits for its answer.
#[derive(Debug, Serialize)]
struct Asked {
    id: String,
    /// The line in the note of approvals.
    line: usize,
    /// Until when it can be answered, in the vault's zone.
    until: String,
    brain: String,
    run: String,
}

/// A reminder that will fire.
#[derive(Debug, Serialize)]
pub(crate) struct Coming {
    /// Its id, once it has one.
    pub id: Option<String>,
    /// When, in the vault's zone.
    pub at: String,
    /// Its message.
    pub msg: String,
    line: usize,
    /// The same as an instant.
    #[serde(skip)]
    pub instant: Timestamp,
}

/// Another MCP server.
#[cfg(all(feature = "assistant", feature = "mcp", unix))]
#[derive(Debug, Serialize)]
struct Server {
    /// Its name.
    name: String,
    #[serde(flatten)]
    seen: crate::agent::servers::health::Seen,
}

#[cfg(all(feature = "assistant", feature = "mcp", unix))]
impl Server {
    fn state(&self, now: Timestamp) -> String {
        let when = |at: Option<Timestamp>| at.map_or_else(String::new, |at| ago(at, now));
        match self.seen.is_well() {
            None => "not used yet".to_owned(),
            Some(true) => format!("answered {}", when(self.seen.last_ok)),
            Some(false) => {
                let why = printable(self.seen.last_error.as_deref().unwrap_or("it is not known why"));
                format!("failed {}: {why}", when(self.seen.failed))
            }
        }
    }
}

#[cfg(all(feature = "assistant", feature = "mcp", unix))]
fn servers(workspace: &Workspace) -> Vec<Server> {
    let mut known = crate::agent::servers::health::Health::new(&workspace.dirs.state).load();
    let mut server =
        |name: &String| Server { name: name.clone(), seen: known.remove(name).unwrap_or_default() };
    workspace.settings.mcp.iter().map(|one| server(&one.name)).collect()
}

/// Runs `status`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let report = report(&workspace, args.count)?;
    context.ui.json(&report);
    if !context.ui.json {
        show(context, &workspace, &report);
    }
    let troubled = !report.waiting.is_empty()
        || report.elsewhere.is_some()
        || !report.refused.is_empty()
        || report.running && report.daemon.as_ref().is_some_and(|daemon| daemon.last_error.is_some());
    Ok(if troubled { Status::Problem } else { Status::Fine })
}

fn report(workspace: &Workspace, count: usize) -> Result<Report, CommandError> {
    let settings = workspace.pass_settings();
    let journal = workspace.journal()?;
    Ok(Report {
        running: DaemonLock::holder(&workspace.dirs.state).is_some(),
        daemon: DaemonStatus::read(&workspace.dirs.state),
        next: coming(workspace, count)?,
        waiting: journal.open_deliveries()?,
        refused: journal.refusals(&settings.notifiers)?,
        approvals: asked(workspace)?,
        read_only: settings.read_only,
        #[cfg(feature = "assistant")]
        brains: super::brain::listed(workspace),
        #[cfg(feature = "assistant")]
        budgets: crate::agent::budget::of_vault(workspace),
        #[cfg(all(feature = "assistant", feature = "mcp", unix))]
        mcp: servers(workspace),
        #[cfg(feature = "assistant")]
        routines: super::routine::listed(workspace)?,
        elsewhere: DaemonLock::elsewhere(&workspace.dirs.state, workspace.vault.root()),
        #[cfg(feature = "history")]
        left_out: crate::history::left_out_in(&workspace.dirs.state),
    })
}

/// The questions of the note of approvals that can still be answered.
fn asked(workspace: &Workspace) -> Result<Vec<Asked>, CommandError> {
    let bytes = match workspace.vault.read(&workspace.note(&workspace.settings.paths.approvals)) {
        Ok(bytes) => bytes,
        Err(VaultError::NotFound(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let now = workspace.clock.now();
    let lines = approval::parse(&bytes).lines.into_iter();
    let open = lines.filter(|line| {
        line.approval.is_open() && line.approval.mark == approval::Mark::Open && line.approval.until > now
    });
    let asked = open.map(|line| Asked {
        id: line.approval.id,
        line: line.line,
        until: rfc3339(line.approval.until, workspace.zone.tz()),
        brain: line.approval.brain,
        run: line.approval.run,
    });
    Ok(asked.collect())
}

/// The next reminders, earliest first.
pub(crate) fn coming(workspace: &Workspace, count: usize) -> Result<Vec<Coming>, CommandError> {
    let path = workspace.note(&workspace.settings.paths.reminders);
    let bytes = match workspace.vault.read(&path) {
        Ok(bytes) => bytes,
        Err(VaultError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let moment = Moment::new(&workspace.zone, workspace.clock.now());
    let mut coming: Vec<_> = reminder::parse(&bytes)
        .reminders
        .into_iter()
        .filter_map(|line| {
            let next = moment.next(&line.reminder)?;
            Some(Coming {
                id: line.reminder.id.as_ref().map(ToString::to_string),
                at: rfc3339(next.at, workspace.zone.tz()),
                msg: line.reminder.msg,
                line: line.line,
                instant: next.at,
            })
        })
        .collect();
    coming.sort_by_key(|reminder| (reminder.instant, reminder.line));
    coming.truncate(count);
    Ok(coming)
}

fn show(context: &Context, workspace: &Workspace, report: &Report) {
    let ui = context.ui;
    let now = workspace.clock.now();
    match (&report.daemon, report.running) {
        (Some(daemon), true) => {
            ui.line(format!("daemon    running, process {}, since {}", daemon.pid, ago(daemon.started, now)));
            if let Some(last) = daemon.last_pass {
                ui.line(format!("last pass {}, {} ms, {} fired since the start", ago(last, now), daemon.took_ms, daemon.fired));
            }
            if daemon.slow_passes > 0 {
                ui.line(format!("slow      {} passes took longer than 2 s", daemon.slow_passes));
            }
            ui.line(format!("vault     {}", daemon.watcher));
            for (part, words) in &daemon.parts {
                ui.line(format!("{part:9} {words}"));
            }
            for wrong in daemon.settings_error.iter().chain(&daemon.last_error) {
                ui.line(format!("problem   {wrong}"));
            }
        }
        (_, true) => ui.line("daemon    starting"),
        (_, false) if report.elsewhere.is_some() => {
            let pid = report.elsewhere.unwrap_or_default();
            ui.line(format!("daemon    {}: {}", LockError::Elsewhere(pid), super::run::ONE_STATE));
        }
        (_, false) => ui.line("daemon    not running: start it with `vault-agent run`, or install it with `vault-agent service install`"),
    }
    if let Some(reason) = &report.read_only {
        ui.line(format!("firing    no: {reason}"));
    }
    #[cfg(feature = "assistant")]
    for brain in &report.brains {
        ui.line(format!("brain     {}: {}", brain.name, brain.state()));
    }
    #[cfg(feature = "assistant")]
    for budget in &report.budgets {
        ui.line(format!("budget    {}: {}", budget.brain.as_deref().unwrap_or("the day"), budget.state()));
    }
    #[cfg(all(feature = "assistant", feature = "mcp", unix))]
    for server in &report.mcp {
        ui.line(format!("mcp       {}: {}", server.name, server.state(now)));
    }
    #[cfg(feature = "assistant")]
    for routine in &report.routines {
        let today = workspace.zone.tz().to_datetime(now).date();
        let next = routine.at.map(|at| compose::moment(workspace.zone.tz().to_datetime(at), today));
        match (next, routine.problems.first()) {
            (Some(next), _) => ui.line(format!("routine   {}: next {next}", routine.name)),
            (None, Some(problem)) => {
                ui.line(format!("routine   {}: doesn't run: {}", routine.name, problem.reason));
            }
            (None, None) => {}
        }
    }
    show_next(context, workspace, report);
    for open in &report.waiting {
        let error = open.error.as_deref().unwrap_or("not attempted yet");
        ui.line(format!(
            "waiting   {} {:?}: {error} ({} attempts)",
            open.fact.id, open.fact.msg, open.attempts
        ));
    }
    let note = &workspace.settings.paths.approvals;
    for asked in &report.approvals {
        // What memory asks for is a budget, and no command.
        let what = match asked.brain.as_str() {
            MEMORY => format!("the assistant asks for {}", approval::quoted(&asked.run)),
            brain => format!("{brain} wants to run {}", approval::quoted(&asked.run)),
        };
        ui.line(format!("asked     {note}:{}: {what}; tick it, or delete the line", asked.line));
    }
    for refusal in &report.refused {
        ui.line(format!("refused   by {}: {}", refusal.place, refusal.reason));
    }
    #[cfg(feature = "history")]
    if let Some(first) = report.left_out.first() {
        let more = report.left_out.len() - 1;
        let more = if more > 0 {
            format!(", and {more} more: `vault-agent history --left-out`")
        } else {
            String::new()
        };
        ui.line(format!("not kept  {} ({}){more}", first.path, first.reason));
    }
    if report.refused.iter().any(|refusal| refusal.place.starts_with("discord")) {
        ui.note(format!("look at [discord] in vault-agent.toml and at `{DISCORD_TOKEN_VARIABLE}`"));
    }
}

fn show_next(context: &Context, workspace: &Workspace, report: &Report) {
    if report.next.is_empty() {
        context.ui.line("next      nothing is scheduled");
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let tz = workspace.zone.tz();
    let today = tz.to_datetime(workspace.clock.now()).date();
    for reminder in &report.next {
        table.add_row([
            compose::moment(tz.to_datetime(reminder.instant), today).as_str(),
            reminder.id.as_deref().unwrap_or("no id yet"),
            &printable(&reminder.msg),
        ]);
    }
    context.ui.line("next");
    for line in table.lines() {
        context.ui.line(format!(" {}", line.trim_end()));
    }
}

/// Text of a note as a terminal may see it.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// `3 min ago`, in the largest whole unit.
fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = then.duration_until(now).as_secs();
    let (amount, unit) = match seconds {
        ..0 => return "in the future: the clock went back".to_owned(),
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..172_800 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{amount} {unit} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_largest_whole_unit() {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        let said: Vec<_> = [5, 65, 3700, 90_000, 180_000, -3]
            .iter()
            .map(|seconds| ago(now - jiff::SignedDuration::from_secs(*seconds), now))
            .collect();
        insta::assert_debug_snapshot!(said, @r#"
        [
            "5 s ago",
            "1 min ago",
            "1 h ago",
            "25 h ago",
            "2 days ago",
            "in the future: the clock went back",
        ]
        "#);
    }
}
