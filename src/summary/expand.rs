//! Expands a summary: into the summaries below it, or into its events, byte for byte.

use schemars::JsonSchema;
use serde::Serialize;

use super::located_summary::LocatedSummary;
use super::window::SummaryNote;
use crate::turn::history;

/// Levels of summaries by default.
pub const DEPTH: u32 = 3;

/// How far a summary is expanded.
#[derive(Debug, Clone, Copy)]
pub struct ExpandOptions {
    /// The events that it covers; else the summaries below it, down to a depth.
    pub messages: bool,
    /// Levels of summaries.
    pub depth: u32,
    /// The most tokens of all blocks together; none for no bound.
    pub most_tokens: Option<u64>,
}

/// One block of an expansion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpandedBlock {
    /// `[msg#^id]` or `[sum_…]`.
    #[serde(rename = "ref")]
    pub cite: String,
    /// Its note.
    pub path: String,
    /// Its first line, from 1.
    pub line: usize,
    /// An event's bytes as they stand in its log, as far as they are text; a summary's text.
    pub text: String,
}

impl ExpandedBlock {
    /// Its estimated tokens, its citation's among them.
    pub fn tokens(&self) -> u64 {
        history::estimate(&self.text) + history::estimate(&self.cite) + 1
    }
}

/// The sources of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExpandedSummary {
    /// The summary.
    pub id: String,
    /// Events or summaries, oldest first.
    pub blocks: Vec<ExpandedBlock>,
    /// Whether there is more than the bound allows.
    pub truncated: bool,
    /// Why these are not the summarised events, if a note was changed by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Expands a summary.
pub fn expand(found: &LocatedSummary, log: &str, options: ExpandOptions) -> ExpandedSummary {
    let LocatedSummary { window, note } = found;
    let id = &note.summary.id;
    let piece = |note: &SummaryNote| ExpandedBlock {
        cite: format!("[{}]", note.summary.id),
        path: note.path.clone(),
        line: note.line,
        text: note.summary.text.clone(),
    };
    let all: Vec<ExpandedBlock> = if options.messages {
        let event = |block: super::EventBlock<'_>| ExpandedBlock {
            cite: block.id.map_or_else(|| "[msg]".to_owned(), |id| format!("[msg#^{id}]")),
            path: log.to_owned(),
            line: block.line,
            text: String::from_utf8_lossy(block.bytes).into_owned(),
        };
        window.messages(id).into_iter().map(event).collect()
    } else {
        // A leaf has nothing below it but events.
        let below = window.descend(id, options.depth);
        if below.is_empty() { vec![piece(note)] } else { below.into_iter().map(piece).collect() }
    };
    let mut tokens = 0;
    let count = all.len();
    let fits = |piece: &ExpandedBlock| {
        tokens += piece.tokens();
        options.most_tokens.is_none_or(|most| tokens <= most)
    };
    let blocks: Vec<ExpandedBlock> = all.into_iter().take_while(fits).collect();
    ExpandedSummary { id: id.clone(), truncated: blocks.len() < count, blocks, problem: window.problem(id) }
}
