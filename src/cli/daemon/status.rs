//! `status`: prints the daemon's state, overdue items, the next reminders and tasks, and the messages that wait to be
//! sent.

use crate::agenda::UpcomingItem;
use crate::cli::prelude::*;
use crate::config::{DISCORD_TOKEN_VARIABLE, MEMORY};
use crate::deliver::instants::{format_instant, format_instants_in};
use crate::doctor::{StatusReport, ago, report};
use crate::format::approval;
use crate::instance::{DaemonLock, ONE_STATE};
use crate::tasks::Scanner;

/// Shows the daemon's state, what is late, what comes next, and undelivered notifications.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many of what is late, and of the next reminders, to show.
    #[arg(long, default_value_t = 5)]
    count: usize,
    /// Refreshes every second until Ctrl-C; with `--json`, or without a terminal, whenever something changed.
    #[arg(long)]
    watch: bool,
}

/// The interval of `--watch`.
const INTERVAL: Duration = Duration::from_secs(1);

/// Runs `status`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    if args.watch {
        return watch(context, args);
    }
    let workspace = context.workspace_or_last()?;
    let report = report(&workspace, args.count, &mut Scanner::default())?;
    let done = context.report(&report, lines(&workspace, &report, args.count), !report.is_troubled());
    if report.refused.iter().any(|refusal| refusal.place.starts_with("discord")) {
        context.ui.note(format!("look at [discord] in vault-agent.toml and at `{DISCORD_TOKEN_VARIABLE}`"));
    }
    done
}

/// Prints the report again and again, until Ctrl-C or until the reader is gone.
fn watch(context: &Context, args: &Args) -> CommandResult {
    let ui = context.ui;
    let screen = !ui.json && std::io::stdout().is_terminal();
    let (mut before, mut scanner) = (None, Scanner::default());
    while !ui.is_closed() && !ui.has_lost() {
        // Opened anew each time: the settings may change meanwhile.
        let workspace = context.workspace()?;
        let report = report(&workspace, args.count, &mut scanner)?;
        let seen = if ui.json {
            vec![serde_json::to_string(&report)?]
        } else {
            let lines = lines(&workspace, &report, args.count);
            lines.iter().map(|line| printable(line).into_owned()).collect()
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
        std::thread::sleep(context.clock.sleep(INTERVAL));
    }
    Ok(Status::Fine)
}

/// The report for people.
fn lines(workspace: &Workspace, report: &StatusReport, count: usize) -> Vec<String> {
    let mut out = Vec::new();
    let now = workspace.clock.now();
    daemon_lines(&mut out, workspace, report);
    if let Some(tick) = report.tick.as_ref().filter(|tick| tick.slow) {
        let when = ago(tick.at, now);
        out.push(format!("slow      the last tick, {when}, took {} ms, longer than 2 s", tick.took_ms));
    }
    if let Some(reason) = &report.read_only {
        out.push(format!("firing    no: {reason}"));
    }
    if let Some(pause) = workspace.pause().filter(|pause| pause.holds(now)) {
        out.push(format!("paused    {}", pause.words(workspace.zone.tz()).trim_start_matches("paused ")));
    }
    if let Some(until) = workspace.notify_rules().quiet_until(&workspace.zone, now) {
        let until = format_instant(until, now, workspace.zone.tz());
        out.push(format!("quiet     until {until}: what is due waits, unless it is urgent"));
    }
    #[cfg(feature = "assistant")]
    out.extend(report.brains.iter().map(|brain| format!("brain     {}: {}", brain.name, brain.state(now))));
    #[cfg(feature = "assistant")]
    for budget in &report.budgets {
        out.push(format!("budget    {}: {}", budget.brain.as_deref().unwrap_or("the day"), budget.state()));
    }
    #[cfg(all(feature = "assistant", unix))]
    out.extend(report.mcp.iter().map(|server| format!("mcp       {}: {}", server.name, server.state(now))));
    #[cfg(feature = "assistant")]
    for routine in &report.routines {
        let next = routine.next.as_ref().map(|next| format!("next {}", next.for_people(now)));
        out.extend(routine.trouble().or(next).map(|state| format!("routine   {}: {state}", routine.name)));
    }
    out.extend(report.problems.iter().map(|problem| format!("problem   {problem}")));
    let (shown, more) = report.late.split_at(report.late.len().min(count));
    let late = shown.iter().map(|one| (one.instant, one.id.clone().unwrap_or_else(no_id), &one.msg));
    occurrences(&mut out, workspace, "late", late);
    out.extend((!more.is_empty()).then(|| format!("late      {} more", more.len())));
    let next = report.next.iter().map(|one| (one.instant, place(one), &one.msg));
    // A note that can't be read may hold the next item.
    if !occurrences(&mut out, workspace, "next", next) && report.problems.is_empty() {
        out.push("next      nothing is scheduled".to_owned());
    }
    for open in &report.waiting {
        let error = open.error.as_deref().unwrap_or("not attempted yet");
        out.push(format!(
            "waiting   {} {:?}, due {}: {error} ({} attempts)",
            open.fact.id,
            open.fact.msg,
            format_instant(open.fact.due, now, workspace.zone.tz()),
            open.attempts
        ));
    }
    let note = &workspace.settings.paths.approvals;
    for asked in &report.approvals {
        // A request of memory is a budget, no command.
        let what = match asked.brain.as_str() {
            MEMORY => format!("the assistant asks for {}", approval::quoted(&asked.run)),
            brain => format!("{brain} wants to run {}", approval::quoted(&asked.run)),
        };
        out.push(format!("asked     {note}:{}: {what}; tick it, or delete the line", asked.line));
    }
    let refused = report.refused.iter();
    out.extend(refused.map(|refusal| format!("refused   by {}: {}", refusal.place, refusal.reason)));
    out.extend(report.lost.iter().map(|loss| format!("lost      {}", loss.words(workspace))));
    if let Some((first, more)) = report.left_out.split_first() {
        let more = match more.len() {
            0 => String::new(),
            count => format!(", and {count} more: `vault-agent history --left-out`"),
        };
        out.push(format!("not kept  {} ({}){more}", first.path, first.reason));
    }
    out.extend(report.not_pushed.iter().map(|why| format!("history   not pushed: {why}")));
    out
}

/// The lines about the daemon.
fn daemon_lines(out: &mut Vec<String>, workspace: &Workspace, report: &StatusReport) {
    let now = workspace.clock.now();
    match (&report.daemon, report.running) {
        (Some(daemon), true) => {
            out.push(format!("daemon    running, process {}, since {}", daemon.pid, format_instant(daemon.started, now, workspace.zone.tz())));
            if let Some(last) = daemon.last_pass {
                out.push(format!("last pass {}, {} ms, {} fired since the start", ago(last, now), daemon.took_ms, daemon.fired));
            }
            if daemon.slow_passes > 0 {
                out.push(format!("slow      {} passes took longer than 2 s", daemon.slow_passes));
            }
            let agreed = daemon.agreed.map(|at| format!("; all files compared {}", ago(at, now)));
            let unseen = (daemon.unseen > 0).then(|| format!("; {} changed without an event", daemon.unseen));
            out.push(format!("vault     {}{}{}", daemon.watcher, agreed.unwrap_or_default(), unseen.unwrap_or_default()));
            for (part, words) in &daemon.parts {
                out.push(format!("{part:9} {}", format_instants_in(words, now, workspace.zone.tz())));
            }
            let wrong = daemon.last_error.iter().filter(|wrong| !report.problems.contains(wrong));
            out.extend(wrong.map(|wrong| format!("problem   {wrong}")));
        }
        (_, true) => out.push("daemon    starting".to_owned()),
        (_, false) => out.push(match DaemonLock::other_daemon(&workspace.dirs.state, workspace.vault.root()) {
            Some(other) => format!("daemon    {other}: {ONE_STATE}"),
            None => "daemon    not running: start it with `vault-agent run`, or install it with `vault-agent service install`"
                .to_owned(),
        }),
    }
}

/// Its id; of a task where it stands, `Home.md:3 (tasks)`.
fn place(one: &UpcomingItem) -> String {
    match (&one.id, one.format.as_str()) {
        (Some(id), "own") => id.clone(),
        (None, "own") => no_id(),
        _ => format!("{}:{} ({})", one.path, one.line, one.format),
    }
}

fn no_id() -> String {
    "no id yet".to_owned()
}

/// The lines of occurrences below their head; whether there are any.
fn occurrences<'r>(
    out: &mut Vec<String>,
    workspace: &Workspace,
    head: &str,
    all: impl Iterator<Item = (Timestamp, String, &'r String)>,
) -> bool {
    let (mut table, now) = (table(), workspace.clock.now());
    for (at, place, msg) in all {
        table.add_row([format_instant(at, now, workspace.zone.tz()), place, msg.clone()]);
    }
    let lines = table.lines().map(|line| format!(" {}", line.trim_end()));
    let any = table.row_count() > 0;
    if any {
        out.push(head.to_owned());
        out.extend(lines);
    }
    any
}
