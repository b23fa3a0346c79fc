//! `inbox`: lists candidates (proposed memories), keeps or declines them, and searches logs for new candidates.

use crate::capture::{HUMAN, Inbox, InboxError, ListedCandidate, QuestionBuilder, new_turns, rules};
use crate::cli::prelude::*;
use crate::config::InboxSettings;
use crate::format::Finding;
use crate::format::candidate::{Candidate, CandidateState, is_id};

/// Shows the facts from your conversations that are proposed for memory, and keeps or declines them.
///
/// The same can be done in the note, `Inbox.md`: tick a line to keep it, delete it to decline. A kept one goes to
/// MEMORY.md, with a link to where it was said; a declined one isn't asked again.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Shows the open entries; the default.
    List {
        /// Also what was kept or declined.
        #[arg(long)]
        all: bool,
    },
    /// Keeps the entries with these ids.
    Keep {
        /// The ids: `cap_` and 12 characters.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Declines the entries with these ids; they aren't proposed again.
    Drop {
        /// The ids: `cap_` and 12 characters.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Searches logs for facts, by rules, and proposes them; `[capture]` needn't be on.
    Scan {
        /// The logs, as in `logs/discord-channel/123/20260130T142355Z_0001.md`, or folders of them; else all of
        /// Discord's.
        #[arg(value_name = "LOG")]
        logs: Vec<String>,
        /// Only what was said from this day on: `2026-12-01`.
        #[arg(long, value_name = "DATE", value_parser = day)]
        since: Option<jiff::civil::Date>,
        /// Shows what would be proposed, and writes nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// Runs `inbox`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let inbox = Inbox::new(workspace.memory());
    match args.action.as_ref().unwrap_or(&Action::List { all: false }) {
        Action::List { all } => list(context, &inbox, *all),
        Action::Keep { ids } => for_each_id(context, ids, |id| {
            let kept = inbox.keep(id, None, HUMAN, workspace.clock.now(), &context.origin())?;
            Ok((format!("kept: {}", kept.saved.text), kept))
        }),
        Action::Drop { ids } => for_each_id(context, ids, |id| {
            let gone = inbox.decline(id, &context.origin())?;
            Ok((format!("declined: {}", gone.text), gone))
        }),
        Action::Scan { logs, since, dry_run } => scan(context, &workspace, logs, *since, *dry_run),
    }
}

fn list(context: &Context, inbox: &Inbox<'_>, all: bool) -> CommandResult {
    let listed = inbox.list()?;
    // Programs are given everything, with its state.
    context.ui.json(&listed);
    let shown: Vec<&ListedCandidate> =
        listed.iter().filter(|one| all || one.state == CandidateState::Open).collect();
    shown.iter().for_each(|one| context.ui.line(describe(one)));
    let path = inbox.path();
    // A line that looks like an answer and isn't understood has no effect.
    let missed = inbox.read()?.near_misses;
    for Finding { line, column, reason, suggestion } in &missed {
        context.ui.note(format!("{path}:{line}:{column}: not understood: {reason}; {suggestion}"));
    }
    match (shown.is_empty(), missed.is_empty()) {
        (true, true) => context.ui.note(format!("nothing waits in {path}")),
        (true, false) => {}
        (false, _) => context.ui.note(format!("tick a line in {path}, or: vault-agent inbox keep|drop ID")),
    }
    Ok(Status::Fine)
}

/// A candidate, for people.
fn describe(one: &ListedCandidate) -> String {
    let state = match one.state {
        CandidateState::Open => "",
        CandidateState::Kept => "  (kept)",
        CandidateState::Dropped => "  (declined)",
    };
    let change = match (&one.replaces, &one.joins) {
        (Some(old), _) => format!("\n  instead of: {old}"),
        (_, Some(old)) => format!("\n  beside: {old}"),
        _ => String::new(),
    };
    let ListedCandidate { id, category, section, text, quote, source, .. } = one;
    format!("{id}  [{category}] {section}: {text}{state}\n  “{quote}” [[{source}]]{change}")
}

/// Acts on one id after another; an error with one is printed, and the others go on.
fn for_each_id<T: Serialize>(
    context: &Context,
    ids: &[String],
    mut act: impl FnMut(&str) -> Result<(String, T), InboxError>,
) -> CommandResult {
    if let Some(wrong) = ids.iter().find(|id| !is_id(id)) {
        let error = CommandError::usage(format!("{} is no id", crate::format::quote(wrong)));
        return Err(error.hint("one is `cap_` and 12 characters; `vault-agent inbox list` shows them"));
    }
    let (mut done, mut failed) = (Vec::new(), None);
    for id in ids {
        match act(id) {
            Ok((words, one)) => {
                context.ui.line(words);
                done.push(one);
            }
            Err(error) if failed.is_none() => failed = Some(error),
            Err(error) => context.ui.note(error.to_string()),
        }
    }
    if !done.is_empty() || failed.is_none() {
        context.ui.json(&done);
    }
    failed.map_or(Ok(Status::Fine), |error| Err(error.into()))
}

fn scan(
    context: &Context,
    workspace: &Workspace,
    logs: &[String],
    since: Option<jiff::civil::Date>,
    dry: bool,
) -> CommandResult {
    let inbox = Inbox::new(workspace.memory());
    let mut builder = QuestionBuilder::new(workspace.memory())?;
    let (mut proposals, mut read, now) = (Vec::new(), 0, workspace.clock.now());
    for path in selected_logs(workspace, logs)? {
        let (turns, _) = new_turns::turns(path.as_str(), &workspace.vault.read(&path)?, None);
        for turn in turns {
            let day = workspace.zone.tz().to_datetime(turn.at).date();
            if since.is_some_and(|since| day < since) {
                continue;
            }
            read += 1;
            proposals.extend(builder.learn(&turn, rules::extract(&turn.text, day), rules::NAME, now));
        }
    }
    let asking = builder.choose(proposals, &workspace.settings, now, &workspace.zone);
    if !dry {
        inbox.ask(&asking.lines, &asking.again)?;
        inbox.settle(now)?.problems.iter().for_each(|problem| context.ui.note(problem));
    }
    let found = asking.lines.iter().map(|one| {
        let Candidate { id, category, section, text, quote, .. } = one;
        json!({ "id": id, "category": category, "section": section, "text": text, "quote": quote, "ref": one.source() })
    });
    let line = |one: &Candidate| format!("{}  [{}] {}: {}", one.id, one.category, one.section, one.text);
    context.report(&found.collect::<Vec<_>>(), asking.lines.iter().map(line), true)?;
    let verb = if dry { "would be proposed" } else { "proposed" };
    let messages = asking.lines.iter().map(Candidate::source).collect::<HashSet<_>>().len();
    context.ui.note(format!("{messages} of {read} messages: {} {verb}", asking.lines.len()));
    if asking.not_asked > 0 {
        let InboxSettings { per_day, open } = workspace.settings.inbox;
        let more = asking.not_asked;
        let bounds = format!("at most {per_day} a day and {open} open (`[inbox]`)");
        context.ui.note(format!("{more} more are not proposed: {bounds}"));
    }
    Ok(Status::Fine)
}

/// The named logs, or all of conversations, in order.
fn selected_logs(workspace: &Workspace, logs: &[String]) -> Result<Vec<NotePath>> {
    let folder = workspace.note(&workspace.settings.paths.logs);
    let notes = workspace.vault.notes_below(folder.clone())?;
    let mut all: Vec<NotePath> = notes.into_iter().map(|entry| entry.path).collect();
    if logs.is_empty() {
        all.retain(|path| new_turns::is_conversation_log(&workspace.settings.paths.logs, path.as_str()));
        return Ok(all);
    }
    let mut out = Vec::new();
    for log in logs {
        let wanted = NotePath::new(log.trim_end_matches('/')).map_err(CommandError::usage)?;
        let found: Vec<NotePath> =
            all.iter().filter(|path| **path == wanted || path.is_within(&wanted)).cloned().collect();
        if found.is_empty() {
            let error = CommandError::usage(format!("`{log}` is no log, and no folder of logs"));
            return Err(error.hint(format!("logs are the notes below `{folder}`")));
        }
        out.extend(found);
    }
    Ok(out)
}
