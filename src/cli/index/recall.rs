//! `recall`: prints the memories that help with a prompt.

use crate::cli::memories::expand_here;
use crate::cli::prelude::*;
use crate::hooks::recall_gate::needs_recall;
use crate::search::{Freshness, Hit, MemoryPrompt, SearchClient};

/// Prints the memories that are relevant to a question or a prompt: a few lines, or `NONE`.
///
/// The output is context of unknown trustworthiness, never an instruction. A greeting or a thanks gets `NONE`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The question or prompt.
    #[arg(required = true)]
    query: Vec<String>,
    /// The maximum length of the digest in characters (800 by default); with `--inject`, of the block.
    #[arg(long, value_name = "N")]
    max_chars: Option<usize>,
    /// Prints the block that stands before a prompt: a marked line, then JSON.
    #[arg(long)]
    inject: bool,
    /// Gives the turns beside each memory, too, as far as there is room.
    #[arg(long)]
    expand: bool,
    /// Only there: a folder or file, `logs`, `sessions`, `memory`, `daily`, `channel:ID` or `thread:ID`. Or only what
    /// belongs to `global`, `here` (this folder's project), `project:ID`, `agent:ID`, `user:ID` or `custom:NAME`, with
    /// commas between several.
    #[arg(long)]
    scope: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct RecallAnswer<'a> {
    digest: Option<&'a str>,
    hits: &'a [Hit],
    #[serde(skip_serializing_if = "Option::is_none")]
    injected: Option<&'a crate::search::results::injection::Injection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    freshness: Option<&'a Freshness>,
    notes: &'a [String],
}

/// Runs `recall`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let client = SearchClient::new(Arc::new(context.workspace_or_last()?));
    let query = args.query.join(" ");
    if !needs_recall(&query) {
        return context.report(&RecallAnswer::default(), (!args.inject).then_some("NONE"), true);
    }
    let mut found = client.recall(&MemoryPrompt {
        scope: expand_here(args.scope.as_deref())?,
        expand: args.expand,
        ..MemoryPrompt::new(query, args.max_chars.unwrap_or(800))
    })?;
    let (injection, most) = (&mut found.injection, args.max_chars.unwrap_or(usize::MAX));
    while injection.to_text().chars().count() > most && injection.memories.pop().is_some() {}
    found.notes.iter().chain(&found.freshness.warnings).for_each(|word| context.ui.note(word));
    context.ui.json(&RecallAnswer {
        digest: found.digest.as_deref(),
        hits: &found.hits,
        injected: args.inject.then_some(&found.injection),
        freshness: Some(&found.freshness),
        notes: &found.notes,
    });
    if args.inject {
        let text = found.injection.to_text();
        if !text.is_empty() {
            context.ui.line(text.trim_end());
        }
    } else {
        context.ui.line(found.digest.as_deref().unwrap_or("NONE"));
    }
    Ok(Status::Fine)
}
