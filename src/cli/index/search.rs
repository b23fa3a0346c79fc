//! `search`: prints the blocks of the vault that match a query, best first.

use serde::Deserialize;

use crate::cli::memories::expand_here;
use crate::cli::prelude::*;
use crate::deliver::{link, takes_links};
use crate::format::lenient_json;
use crate::search::{Answer, Hit, Query, Reranked, SearchClient};

/// Searches all notes, logs and memories.
///
/// Words find their other forms too; exact ones come first. A hit with none of the words, but similar ones or a similar
/// meaning, is marked ≈; for a query of up to three words it ranks below all hits that have one. "Phrases" in quotes,
/// `-not`, `prefix*`, and `path:`, `tag:`, `section:`, `kind:`, `role:`, `before:2026-11-20`, `after:2026-11` narrow it
/// down. Quote the whole query for the shell: 'theme -dark "side bar"'.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The query.
    #[arg(required_unless_present = "stdin")]
    query: Vec<String>,
    /// Only there: a folder or file, `logs`, `sessions`, `memory`, `daily`, `channel:ID` or `thread:ID`. Or only what
    /// belongs to `global`, `here` (this folder's project), `project:ID`, `agent:ID`, `user:ID` or `custom:NAME`, with
    /// commas between several.
    #[arg(long)]
    scope: Option<String>,
    /// At most so many hits.
    #[arg(long, short = 'n', default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only hits with a word as it was typed, or a form of it: no similar words, no similar meaning.
    #[arg(long)]
    exact: bool,
    /// Reorders the first 50 hits with the reranker of `[rerank]` in the settings: better, and slower.
    #[arg(long)]
    deep: bool,
    /// Reads one JSON query a line, `{"id","query","limit","scope","deep","exact"}`, and answers one a line, in order.
    #[arg(long, conflicts_with = "query")]
    stdin: bool,
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    query: String,
    limit: Option<usize>,
    scope: Option<String>,
    #[serde(default)]
    deep: bool,
    #[serde(default)]
    exact: bool,
}

#[derive(Debug, Default, Serialize)]
struct Reply {
    id: Value,
    hits: Vec<Hit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reranked: Option<Reranked>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Runs `search`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let client = SearchClient::new(Arc::new(context.workspace_or_last()?));
    if args.stdin {
        return answer_lines(context, args, &client);
    }
    let query = Query {
        text: args.query.join(" "),
        scope: expand_here(args.scope.as_deref())?,
        limit: args.limit as usize,
        exact: args.exact,
    };
    let answer = if args.deep { client.deep(&query)? } else { client.search(&query)? };
    context.ui.json(&answer);
    answer.notes.iter().chain(&answer.freshness.warnings).for_each(|word| context.ui.note(word));
    show(context, &answer, client.workspace());
    Ok(Status::Fine)
}

/// Answers queries from standard input until it ends.
fn answer_lines(context: &Context, args: &Args, client: &SearchClient) -> CommandResult {
    let mut status = Status::Fine;
    for line in std::io::stdin().lock().split(b'\n') {
        let line = line?;
        // Some shells begin what they pass on with a byte order mark.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let reply = match lenient_json::from_slice::<Line>(line) {
            Ok(asked) => reply(client, args, asked),
            Err(error) => {
                let id = lenient_json::from_slice(line).map_or(Value::Null, |it: Value| it["id"].clone());
                Reply { id, error: Some(format!("not a query: {error}")), ..Reply::default() }
            }
        };
        if reply.error.is_some() {
            status = Status::Problem;
        }
        context.ui.json_line(&reply);
        if context.ui.is_closed() {
            break;
        }
    }
    Ok(status)
}

fn reply(client: &SearchClient, args: &Args, asked: Line) -> Reply {
    let scope = asked.scope.or_else(|| args.scope.clone());
    let query = Query {
        text: asked.query,
        scope: expand_here(scope.as_deref()).unwrap_or(scope),
        limit: asked.limit.unwrap_or(args.limit as usize),
        exact: asked.exact || args.exact,
    };
    let found = if asked.deep || args.deep { client.deep(&query) } else { client.search(&query) };
    match found {
        Ok(answer) => {
            let notes = answer.notes.into_iter().chain(answer.freshness.warnings).collect();
            Reply { id: asked.id, hits: answer.hits, reranked: answer.reranked, notes, error: None }
        }
        Err(error) => Reply { id: asked.id, error: Some(error.to_string()), ..Reply::default() },
    }
}

/// The hits. On a terminal that takes links each place opens its note in Obsidian; the words are the same.
fn show(context: &Context, answer: &Answer, workspace: &Workspace) {
    use anstyle::AnsiColor::{Cyan, Green};
    let (root, zone) = (workspace.vault.root(), workspace.zone.tz());
    let vault = root.file_name().map(|name| name.to_string_lossy()).filter(|_| takes_links());
    let (path, dim) = (Green.on_default(), anstyle::Style::new().dimmed());
    let head = Cyan.on_default();
    for hit in &answer.hits {
        let section = hit.section.iter().map(|section| format!("  {head}{}{head:#}", printable(section)));
        let who = hit.author.iter().map(|author| format!("  {}", printable(author)));
        let when = hit.timestamp.map(|at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M"));
        let when = when.map(|when| format!("  {dim}{when}{dim:#}"));
        let pin = hit.pinned.then(|| "  (pinned)".to_owned());
        let more: String = section.chain(who).chain(when).chain(pin).collect();
        let place = format!("{path}{}{path:#}:{}", printable(&hit.path), hit.line);
        let place = match &vault {
            Some(vault) => {
                let block = hit.block_id.as_ref().map(|id| format!("^{id}"));
                let at = block.as_deref().or(hit.section.as_deref());
                link::on_terminal(&place, &link::obsidian_at(vault, &hit.path, at))
            }
            None => place,
        };
        let alike = if hit.alike { "  ≈" } else { "" };
        context.ui.styled_line(&format!("{place}{alike}{more}"));
        context.ui.line(format!("    {}", hit.snippet));
    }
    // A note above says what was not searched.
    if answer.hits.is_empty() && answer.freshness.not_searched == 0 && !context.ui.json {
        context.ui.note("nothing found");
    }
}
