//! `history`: prints the changes of the vault, with actor and reason; with `--lines`, each line of a note with the
//! snapshot that it comes from.

use std::ops::ControlFlow;

use super::diff::{is_path, unknown_path};
use super::shared::{ago, diff_style, diff_text, note_path, open_history, refresh, stat_words, vault_path};
use crate::cli::prelude::*;
use crate::history::{BlameBound, Deletions, History, LineWriter, LogFilter};

/// Shows every change of the vault, newest first: when, who, what.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only what changed this file or folder.
    path: Option<String>,
    /// Only by this actor: `human`, `scheduler`, `cli`, `mcp`, `discord`, `hook`, `restore`, or `agent`
    /// for all but people.
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// Not before this time, such as `yesterday 18:00`.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Not after this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only with these words in the message.
    #[arg(long, value_name = "WORDS")]
    grep: Option<String>,
    /// The changes of one reminder or commitment.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// At most as many.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Shows what changed, line by line.
    #[arg(short, long)]
    patch: bool,
    /// Shows where each line of a note comes from: when, who wrote it, the snapshot.
    #[arg(long, requires = "path", conflicts_with_all = ["patch", "actor", "since", "until", "grep", "id", "limit"])]
    lines: bool,
    /// The note as it was then, by a snapshot's id or a time.
    #[arg(long, value_name = "REV|TIME", requires = "lines")]
    at: Option<String>,
    /// Lists the files that no snapshot holds, with the reasons.
    #[arg(long, conflicts_with_all = ["accept_deletions", "path"])]
    left_out: bool,
    /// Confirms that the many files that are gone were deleted on purpose.
    #[arg(long)]
    accept_deletions: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Checks the whole history, as `audit` does: every snapshot, folder and text; the list of snapshots that is kept
    /// outside the repository; the rules for the agent's writes. (A folder of that name is `./verify`.)
    Verify {
        /// Accepts the history as it is: earlier changes to it are no longer reported.
        #[arg(long)]
        accept: bool,
    },
}

const ACTORS: [&str; 8] = ["agent", "human", "scheduler", "cli", "mcp", "discord", "hook", "restore"];

/// Runs `history`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace_or_last()?;
    let history = open_history(&workspace)?;
    if let Some(Command::Verify { accept }) = args.command {
        if accept {
            history.accept_as_it_is()?;
        }
        return super::audit::check_all(context, &workspace, &history);
    }
    if args.accept_deletions {
        let snapshot = workspace.snapshot_all(&history, Deletions::Accept)?;
        context.ui.note(format!("recorded {} deletions", snapshot.deleted));
    } else {
        refresh(context, &workspace, &history)?;
    }
    if args.left_out {
        return list_left_out(context, &history);
    }
    let time = |text: &Option<String>| text.as_deref().map(|text| past(text, &workspace)).transpose();
    if let Some(actor) = args.actor.as_deref().filter(|actor| !ACTORS.contains(actor)) {
        return Err(CommandError::usage(format!("`{actor}` is no actor"))
            .hint(format!("one of {}", ACTORS.join(", "))));
    }
    let path = args.path.as_deref().map(|path| vault_path(&workspace, path)).transpose()?;
    if args.lines {
        return show_lines(context, &history, path.as_deref().unwrap_or_default(), args.at.as_deref());
    }
    if let Some(typed) = args.path.as_deref().filter(|typed| !is_path(&history, &workspace, typed)) {
        return Err(unknown_path(typed));
    }
    let filter = LogFilter {
        path: path.filter(|path| !path.is_empty()),
        actor: args.actor.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
        grep: args.grep.clone(),
        id: args.id.clone(),
        skip: 0,
        limit: args.limit,
    };
    if context.ui.json {
        let records = history.records(&filter)?;
        let entries = records.iter().map(|record| history.entry(record, args.patch));
        context.ui.json(&entries.collect::<Result<Vec<_>, _>>()?);
    } else {
        show(context, &history, &filter, args.patch)?;
    }
    Ok(Status::Fine)
}

fn list_left_out(context: &Context, history: &History) -> CommandResult {
    let left = history.left_out()?;
    if left.is_empty() {
        context.ui.note("nothing is left out");
    }
    context.report(&left, left.iter().map(|file| format!("{}: {}", file.path, file.reason)), true)
}

/// The lines of a larger commit are not counted; a first snapshot would read every file.
const MAX_COUNTED_FILES: usize = 200;

fn show(context: &Context, history: &History, filter: &LogFilter, patch: bool) -> Result<()> {
    let now = context.clock.now();
    let (dim, bold) = (anstyle::Style::new().dimmed(), anstyle::Style::new().bold());
    let mut any = false;
    history.log(filter, |record| {
        any = true;
        let commit = &record.commit;
        let counted = record.changes.len() <= MAX_COUNTED_FILES;
        let diffs = record.changes.iter().filter(|_| counted).map(|change| history.file_diff(change));
        let diffs = diffs.collect::<Result<Vec<_>, _>>()?;
        let stat = if counted { stat_words(&diffs) } else { format!("{} files", record.changes.len()) };
        let id: String = commit.id.to_string().chars().take(10).collect();
        let row = format!(
            "{dim}{id}{dim:#}  {:<15}  {:<9}  {stat:<9}  {bold}{}{bold:#}",
            ago(commit.time, now),
            commit.message.actor(),
            printable(&commit.message.subject)
        );
        let mut open = context.ui.line_of_notes(row.trim_end());
        if patch {
            for diff in &diffs {
                open = open && context.ui.line_of_notes(&diff_text(diff, diff_style()));
            }
            open = open && context.ui.line_of_notes("");
        }
        Ok(if open { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if !any {
        context.ui.note("nothing matches");
    }
    Ok(())
}

/// Shows the note, or prints it as one document.
fn show_lines(context: &Context, history: &History, path: &str, at: Option<&str>) -> CommandResult {
    let note = note_path(path)?;
    let point = at.map(|at| history.point(at)).transpose()?;
    let blame = history.blame(&note, point.as_ref(), BlameBound::default())?;
    context.ui.json(&blame);
    if context.ui.json {
        return Ok(Status::Fine);
    }
    let now = context.clock.now();
    let dim = anstyle::Style::new().dimmed();
    for line in &blame.lines {
        let origin = blame.origin(line);
        let id = origin.and_then(|origin| origin.snapshot.as_deref()).unwrap_or("");
        let when = match origin {
            Some(origin) => origin.at.map_or_else(|| "now".to_owned(), |at| ago(at, now)),
            None => "older".to_owned(),
        };
        let who = origin.map_or("", |origin| origin.writer.as_str());
        let turn = origin.filter(|it| it.writer == LineWriter::Assistant).and_then(|it| it.turn.as_deref());
        let turn = turn.map(|turn| format!(" turn {turn}")).unwrap_or_default();
        let text = printable(&line.text);
        let row = format!("{dim}{id:<10}  {when:<14}  {who:<9}{turn}{dim:#}  {:>4}  {text}", line.line);
        if !context.ui.line_of_notes(&row) {
            break;
        }
    }
    if !blame.complete {
        context.ui.note("`older`: written before the snapshots that were searched");
    }
    Ok(Status::Fine)
}
