//! `lcm` (lossless context management): searches long conversations, and describes, expands, updates and verifies their
//! summaries.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tokio_util::sync::CancellationToken;

use crate::agent::SummaryWriter;
use crate::cli::prelude::*;
use crate::reminders::rfc3339;
use crate::summary::answers::{DEPTH, ExpandOptions};
use crate::summary::grep::{GrepQuery, GrepScope, LIMIT, MOST};
use crate::summary::{DueScope, Summaries};

/// Finds, describes, expands and verifies summaries of conversations.
///
/// Logs keep every word; a summary is a note below `summaries/` that points into its log. Nothing but `update` asks a
/// model.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Searches messages and summaries: words that must all occur ("some together" in quotes), newest first.
    Grep {
        /// The words, or the pattern.
        pattern: Vec<String>,
        /// Takes the pattern for a regular expression.
        #[arg(long)]
        regex: bool,
        /// The kinds of text that are searched.
        #[arg(long, default_value = "both", value_parser = PossibleValuesParser::new(GrepScope::NAMES)
            .map(|word| GrepScope::named(&word).unwrap_or_default()))]
        scope: GrepScope,
        /// Nothing before then: `7 days ago`, `2026-12-01`, or RFC 3339.
        #[arg(long, value_name = "T")]
        since: Option<String>,
        /// Nothing from then on.
        #[arg(long, value_name = "T")]
        before: Option<String>,
        /// The most hits, up to 200.
        #[arg(long, short = 'n', default_value_t = LIMIT)]
        limit: usize,
    },
    /// Shows one summary: what it says, what it covers, and which summaries it is made from.
    Describe {
        /// Its id: `sum_…`.
        id: String,
    },
    /// Gives back what a summary covers: the bytes of its log, in order.
    Expand {
        /// Its id: `sum_…`.
        id: String,
        /// Gives the summaries below it instead.
        #[arg(long)]
        summaries: bool,
        /// The levels of summaries.
        #[arg(long, default_value_t = DEPTH, requires = "summaries")]
        depth: u32,
        /// The most tokens (four characters each).
        #[arg(long, value_name = "N")]
        max_tokens: Option<u64>,
    },
    /// Makes the summaries that are due, or missing, or out of date, as the daemon does by itself.
    Update {
        /// Asks no brain: what was said is extracted.
        #[arg(long)]
        extract: bool,
    },
    /// Verifies every summary against the log that it covers; the exit code is 1 where one is wrong or missing.
    Verify,
}

/// Runs `lcm`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let summaries = Summaries::of(&workspace);
    match args {
        Args::Grep { pattern, regex, scope, since, before, limit } => {
            let instant =
                |text: &Option<String>| text.as_deref().map(|text| past(text, &workspace)).transpose();
            let mut query = GrepQuery::new(&pattern.join(" "), *regex)?;
            (query.scope, query.limit) = (*scope, *limit);
            (query.since, query.before) = (instant(since)?, instant(before)?);
            if *limit > MOST {
                context.ui.note(format!("at most {MOST} hits are shown"));
            }
            grep(context, &workspace, &summaries, &query)
        }
        Args::Describe { id } => describe(context, &workspace, &summaries, id),
        Args::Expand { id, summaries: below, depth, max_tokens } => {
            let options = ExpandOptions { messages: !below, depth: *depth, most_tokens: *max_tokens };
            expand(context, &summaries, id, options)
        }
        Args::Update { extract } => update(context, workspace, *extract),
        Args::Verify => verify(context, &summaries),
    }
}

fn grep(
    context: &Context,
    workspace: &Workspace,
    summaries: &Summaries<'_>,
    query: &GrepQuery,
) -> CommandResult {
    let found = summaries.grep(query)?;
    context.ui.json(&found);
    for hit in &found.hits {
        let when = hit.at.to_zoned(workspace.zone.tz().clone()).strftime("%Y-%m-%d %H:%M");
        context.ui.line(format!("{}:{}  {when}  {}", hit.path, hit.line, hit.cite));
        context.ui.line(format!("    {}", hit.snippet));
    }
    match (found.hits.is_empty(), found.more) {
        (true, 0) => context.ui.note("nothing found"),
        (_, 0) => {}
        (_, more) => context.ui.note(format!("{more} more; narrow it down with `--since` and `--before`")),
    }
    Ok(Status::Fine)
}

fn describe(context: &Context, workspace: &Workspace, summaries: &Summaries<'_>, id: &str) -> CommandResult {
    let attributed = summaries.describe(id)?;
    context.ui.json(&attributed);
    let found = &attributed.described;
    let ui = &context.ui;
    ui.line(format!("{}  {}, depth {}, {}", found.id, found.kind, found.depth, found.path));
    let covers =
        found.covers.as_ref().map_or_else(String::new, |[first, last]| format!(", {first} to {last}"));
    ui.line(format!("covers {} events of {}{covers}", found.events, found.log));
    ui.line(format!("{} tokens for {}", found.tokens, found.covered_tokens));
    for (what, ids) in [("made from", &found.sources), ("part of", &found.parents)] {
        if !ids.is_empty() {
            ui.line(format!("{what} {}", ids.join(", ")));
        }
    }
    ui.line(format!("by {} at {}", attributed.brain, rfc3339(attributed.at, workspace.zone.tz())));
    ui.line(format!("\n{}", without_control(&found.text)));
    Ok(Status::Fine)
}

fn expand(context: &Context, summaries: &Summaries<'_>, id: &str, options: ExpandOptions) -> CommandResult {
    if options.messages && options.most_tokens.is_none() && !context.ui.json {
        // The bytes of the log as they are; a terminal gets them without control characters.
        let (bytes, problem) = summaries.covered(id)?;
        if std::io::stdout().is_terminal() {
            context.ui.document(without_control(&String::from_utf8_lossy(&bytes)).as_bytes());
        } else {
            context.ui.document(&bytes);
        }
        return is_whole(context, problem.as_ref());
    }
    let expanded = summaries.expand(id, options)?;
    context.ui.json(&expanded);
    for block in &expanded.blocks {
        context.ui.line(format!("{}:{}  {}", block.path, block.line, block.cite));
        context.ui.line(without_control(&block.text));
    }
    if expanded.truncated {
        context.ui.note("there is more than `--max-tokens` allows");
    }
    is_whole(context, expanded.problem.as_ref())
}

/// A text with its control characters replaced, for a terminal.
fn without_control(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Prints that the expanded text is not what was summarised, where a problem says so.
fn is_whole(context: &Context, problem: Option<&String>) -> CommandResult {
    if let Some(why) = problem {
        context.ui.note(format!("the log differs from the summarised text: {why}"));
    }
    Ok(Status::of(problem.is_none()))
}

fn update(context: &Context, workspace: Workspace, extract: bool) -> CommandResult {
    let workspace = Arc::new(workspace);
    let writer = if extract {
        SummaryWriter::without_brains(Arc::clone(&workspace))
    } else {
        SummaryWriter::new(Arc::clone(&workspace), Arc::default()).map_err(CommandError::problem)?
    };
    let logs = Summaries::of(&workspace).logs()?;
    let (written, failed) = on_workers(async {
        let (mut written, mut failed) = (Vec::new(), false);
        for (name, _) in logs {
            match writer.work(&name, DueScope::All, &CancellationToken::new()).await {
                Ok(done) => written.extend(done.written),
                Err(error) => {
                    failed = true;
                    context.ui.note(format!("{name}: {error}"));
                }
            }
        }
        Ok((written, failed))
    })?;
    let said = match written.len() {
        0 => "no summary is due".to_owned(),
        1 => "1 summary was written".to_owned(),
        count => format!("{count} summaries were written"),
    };
    context.report(&serde_json::json!({ "written": written }), [said], !failed)
}

fn verify(context: &Context, summaries: &Summaries<'_>) -> CommandResult {
    let verified = summaries.verify()?;
    let lines = match verified.summaries {
        _ if !verified.bad.is_empty() => {
            verified.bad.iter().map(|bad| format!("{}: {}", bad.id, bad.why)).collect()
        }
        0 => vec!["there are no summaries yet".to_owned()],
        1 => vec!["1 summary is correct".to_owned()],
        count => vec![format!("all {count} summaries are correct")],
    };
    context.report(&verified, lines, verified.bad.is_empty())
}
