//! `status`: what the daemon is doing, what comes next, what waits.

use std::io::IsTerminal;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::next::next_lines;
use super::pause::Paused;
use crate::agenda::{Coming, coming};
use crate::cli::when::{retold, told};
use crate::cli::{CommandError, CommandResult, Context, Status, when};
use crate::config::{DISCORD_TOKEN_VARIABLE, MEMORY};
use crate::daemon::{DaemonLock, DaemonStatus, LockError};
use crate::deliver::journal::{OpenDelivery, Refusal};
use crate::format::approval;
use crate::reminders::rfc3339;
use crate::tasks::Scanner;
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// What the daemon is doing, what comes next, and what could not be delivered.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many of the next reminders to show.
    #[arg(long, default_value_t = 5)]
    count: usize,
    /// Shows it anew every second until Ctrl-C; with `--json`, or where it is no terminal, whenever it changed.
    #[arg(long)]
    watch: bool,
}

/// How often `--watch` looks.
const EVERY: Duration = Duration::from_secs(1);

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
    /// Whether a pause holds.
    pause: Paused,
    /// The brains, as they are remembered.
    #[cfg(feature = "assistant")]
    brains: Vec<crate::cli::assistant::brain::Listed>,
    /// The budgets of the day, with what is used of them.
    #[cfg(feature = "assistant")]
    budgets: Vec<crate::agent::budget::Budget>,
    /// Other MCP servers, as they were when they were last used.
    #[cfg(all(feature = "assistant", feature = "mcp", unix))]
    mcp: Vec<Server>,
    /// The routines.
    #[cfg(feature = "assistant")]
    routines: Vec<crate::routines::Listed>,
    /// The daemon that serves this vault with another state directory; 0 where its number isn't known.
    elsewhere: Option<u32>,
    /// The files that no snapshot holds, with the reasons.
    #[cfg(feature = "history")]
    left_out: Vec<crate::history::LeftOut>,
    /// What went at once from the folders in which coding agents keep their memories.
    #[cfg(feature = "history")]
    lost: Vec<crate::cli::snapshots::Loss>,
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
                let why = crate::terminal::printable(
                    self.seen.last_error.as_deref().unwrap_or("it is not known why"),
                );
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
    if args.watch {
        return watch(context, args);
    }
    let workspace = context.workspace_or_last()?;
    let report = report(&workspace, args.count, &mut Scanner::default())?;
    context.ui.json(&report);
    lines(&workspace, &report).iter().for_each(|line| context.ui.line(line));
    if report.refused.iter().any(|refusal| refusal.place.starts_with("discord")) {
        context.ui.note(format!("look at [discord] in vault-agent.toml and at `{DISCORD_TOKEN_VARIABLE}`"));
    }
    Ok(if report.is_troubled() { Status::Problem } else { Status::Fine })
}

/// Looks again and again, until Ctrl-C or until nobody reads on.
fn watch(context: &Context, args: &Args) -> CommandResult {
    let ui = context.ui;
    let screen = !ui.json && std::io::stdout().is_terminal();
    let (mut before, mut scanner) = (None, Scanner::default());
    while !ui.is_closed() && !ui.has_lost() {
        // Opened anew each time: the settings may change meanwhile.
        let workspace = context.workspace()?;
        let report = report(&workspace, args.count, &mut scanner)?;
        let seen = if ui.json {
            vec![serde_json::to_string(&report).map_err(CommandError::problem)?]
        } else {
            lines(&workspace, &report)
        };
        if screen {
            // Home, then each line over the old one, then nothing below: a screen that is cleared first flickers.
            let text: String = seen.iter().map(|line| format!("{line}\x1b[K\r\n")).collect();
            ui.document(format!("\x1b[H{text}\x1b[J").as_bytes());
        } else if before.as_ref() != Some(&seen) {
            let gap = before.is_some() && !ui.json;
            ui.document(format!("{}{}\n", if gap { "\n" } else { "" }, seen.join("\n")).as_bytes());
            before = Some(seen);
        }
        std::thread::sleep(context.clock.sleep(EVERY));
    }
    Ok(Status::Fine)
}

impl Report {
    fn is_troubled(&self) -> bool {
        let failed = self.daemon.as_ref().is_some_and(|daemon| daemon.last_error.is_some());
        !self.waiting.is_empty()
            || self.elsewhere.is_some()
            || !self.refused.is_empty()
            || self.running && failed
    }
}

fn report(workspace: &Workspace, count: usize, scanner: &mut Scanner) -> Result<Report, CommandError> {
    let settings = workspace.pass_settings();
    let journal = workspace.journal()?;
    Ok(Report {
        running: DaemonLock::holder(&workspace.dirs.state).is_some(),
        daemon: DaemonStatus::read(&workspace.dirs.state),
        next: coming(workspace, count, scanner)?,
        waiting: journal.open_deliveries()?,
        refused: journal.refusals(&settings.notifiers)?,
        approvals: asked(workspace)?,
        read_only: settings.read_only,
        pause: Paused::of(workspace),
        #[cfg(feature = "assistant")]
        brains: crate::cli::assistant::brain::listed(workspace),
        #[cfg(feature = "assistant")]
        budgets: crate::agent::budget::of_vault(workspace),
        #[cfg(all(feature = "assistant", feature = "mcp", unix))]
        mcp: servers(workspace),
        #[cfg(feature = "assistant")]
        routines: crate::routines::list(workspace)?,
        elsewhere: DaemonLock::elsewhere(&workspace.dirs.state, workspace.vault.root()),
        #[cfg(feature = "history")]
        left_out: crate::history::left_out_in(&workspace.dirs.state),
        #[cfg(feature = "history")]
        lost: crate::cli::snapshots::recent(workspace),
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

/// The report for people.
fn lines(workspace: &Workspace, report: &Report) -> Vec<String> {
    let mut out = Vec::new();
    let now = workspace.clock.now();
    daemon_lines(&mut out, workspace, report);
    if let Some(reason) = &report.read_only {
        out.push(format!("firing    no: {reason}"));
    }
    if let Some(pause) = workspace.pause().filter(|pause| pause.holds(now)) {
        out.push(format!("paused    {}", pause.words(workspace.zone.tz()).trim_start_matches("paused ")));
    }
    #[cfg(feature = "assistant")]
    for brain in &report.brains {
        out.push(format!("brain     {}: {}", brain.name, brain.state(now)));
    }
    #[cfg(feature = "assistant")]
    for budget in &report.budgets {
        out.push(format!("budget    {}: {}", budget.brain.as_deref().unwrap_or("the day"), budget.state()));
    }
    #[cfg(all(feature = "assistant", feature = "mcp", unix))]
    for server in &report.mcp {
        out.push(format!("mcp       {}: {}", server.name, server.state(now)));
    }
    #[cfg(feature = "assistant")]
    for routine in &report.routines {
        let next = routine.at.map(|at| told(at, now, workspace.zone.tz()));
        match (next, routine.problems.first()) {
            (Some(next), _) => out.push(format!("routine   {}: next {next}", routine.name)),
            (None, Some(problem)) => {
                out.push(format!("routine   {}: doesn't run: {}", routine.name, problem.reason));
            }
            (None, None) => {}
        }
    }
    next_lines(&mut out, workspace, &report.next);
    for open in &report.waiting {
        let error = open.error.as_deref().unwrap_or("not attempted yet");
        out.push(format!(
            "waiting   {} {:?}, due {}: {error} ({} attempts)",
            open.fact.id,
            open.fact.msg,
            told(open.fact.due, now, workspace.zone.tz()),
            open.attempts
        ));
    }
    let note = &workspace.settings.paths.approvals;
    for asked in &report.approvals {
        // What memory asks for is a budget, and no command.
        let what = match asked.brain.as_str() {
            MEMORY => format!("the assistant asks for {}", approval::quoted(&asked.run)),
            brain => format!("{brain} wants to run {}", approval::quoted(&asked.run)),
        };
        out.push(format!("asked     {note}:{}: {what}; tick it, or delete the line", asked.line));
    }
    for refusal in &report.refused {
        out.push(format!("refused   by {}: {}", refusal.place, refusal.reason));
    }
    #[cfg(feature = "history")]
    out.extend(report.lost.iter().map(|loss| format!("lost      {}", loss.words(workspace))));
    #[cfg(feature = "history")]
    if let Some(first) = report.left_out.first() {
        let more = report.left_out.len() - 1;
        let more = if more > 0 {
            format!(", and {more} more: `vault-agent history --left-out`")
        } else {
            String::new()
        };
        out.push(format!("not kept  {} ({}){more}", first.path, first.reason));
    }
    out
}

/// How the daemon is.
fn daemon_lines(out: &mut Vec<String>, workspace: &Workspace, report: &Report) {
    let now = workspace.clock.now();
    match (&report.daemon, report.running) {
        (Some(daemon), true) => {
            out.push(format!("daemon    running, process {}, since {}", daemon.pid, told(daemon.started, now, workspace.zone.tz())));
            if let Some(last) = daemon.last_pass {
                out.push(format!("last pass {}, {} ms, {} fired since the start", ago(last, now), daemon.took_ms, daemon.fired));
            }
            if daemon.slow_passes > 0 {
                out.push(format!("slow      {} passes took longer than 2 s", daemon.slow_passes));
            }
            let agreed = daemon.agreed.map(|at| format!("; agreed with a look at every file {}", ago(at, now)));
            let unseen = (daemon.unseen > 0).then(|| format!("; {} changed without an event", daemon.unseen));
            out.push(format!("vault     {}{}{}", daemon.watcher, agreed.unwrap_or_default(), unseen.unwrap_or_default()));
            for (part, words) in &daemon.parts {
                out.push(format!("{part:9} {}", retold(words, now, workspace.zone.tz())));
            }
            for wrong in daemon.settings_error.iter().chain(&daemon.last_error) {
                out.push(format!("problem   {wrong}"));
            }
        }
        (_, true) => out.push("daemon    starting".to_owned()),
        (_, false) if report.elsewhere.is_some() => {
            let pid = report.elsewhere.unwrap_or_default();
            out.push(format!("daemon    {}: {}", LockError::Elsewhere(pid), super::run::ONE_STATE));
        }
        (_, false) => out.push(
            "daemon    not running: start it with `vault-agent run`, or install it with `vault-agent service install`"
                .to_owned(),
        ),
    }
}

/// How long ago; a clock that went back is said.
fn ago(then: Timestamp, now: Timestamp) -> String {
    if then > now { "in the future: the clock went back".to_owned() } else { when::distance(then, now) }
}
