//! Answers requests about summaries:
//! - shows a summary by its id;
//! - expands a summary into the summaries that it is made from, or into its events;
//! - returns the bytes that a summary covers;
//! - searches logs and summaries;
//! - verifies all summaries.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::grep::{GrepQuery, GrepScope, Hits};
use super::proof::SummaryFault;
use super::store::Result;
use super::store::{Summaries, SummaryError, events};
use super::window::{SummaryNote, Window};
use crate::format::log::LogBlock;
use crate::format::summary::SummaryKind;
use crate::reminders::PlacedFinding;
use crate::turn::history;

/// A summary with its lineage.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DescribedSummary {
    /// Its id.
    pub id: String,
    /// `leaf` (of events) or `condensed` (of summaries).
    #[schemars(with = "String")]
    pub kind: SummaryKind,
    /// How many summaries lie between it and the events.
    pub depth: u32,
    /// Its first and last event.
    pub covers: Option<[String; 2]>,
    /// The summaries that it is made from.
    pub sources: Vec<String>,
    /// Its tokens.
    pub tokens: u64,
    /// Its text.
    pub text: String,
    /// Its note.
    pub path: String,
    /// Its log.
    pub log: String,
    /// The summaries that are made from it.
    pub parents: Vec<String>,
    /// The events that it covers, and their tokens.
    pub events: usize,
    /// The tokens of those.
    pub covered_tokens: u64,
}

/// A summary with its lineage and its author.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributedSummary {
    /// The summary.
    #[serde(flatten)]
    pub described: DescribedSummary,
    /// The brain that wrote it, or `extract`.
    pub brain: String,
    /// When.
    pub at: Timestamp,
}

/// The result of proving all summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// How many summaries there are.
    pub summaries: usize,
    /// Its faults.
    pub bad: Vec<SummaryFault>,
}

impl Summaries<'_> {
    /// The summary of this id (`sum_…`, perhaps in brackets), with its log.
    ///
    /// # Errors
    /// None has it, or a note can't be read.
    fn find(&self, id: &str) -> Result<(Window, SummaryNote)> {
        let id = id.trim().trim_start_matches('[').trim_end_matches(']');
        let all_logs = self.all_logs()?.into_iter();
        for (name, summaries) in all_logs {
            if let Some(note) = summaries.notes.iter().find(|note| note.summary.id == id).cloned() {
                return Ok((self.moved_window(&name, summaries.notes, &mut None)?, note));
            }
        }
        Err(SummaryError::Unknown(id.to_owned()))
    }

    /// Everything about the summary of this id.
    ///
    /// # Errors
    /// None has it, or a note can't be read.
    pub fn describe(&self, id: &str) -> Result<AttributedSummary> {
        let (window, SummaryNote { path, summary, .. }) = self.find(id)?;
        let events = window.events(&summary.id).unwrap_or_default();
        let covered = window.blocks()[events.clone()].iter();
        let is_parent = |note: &&SummaryNote| note.summary.sources.contains(&summary.id);
        let described = DescribedSummary {
            parents: window.notes().filter(is_parent).map(|note| note.summary.id.clone()).collect(),
            id: summary.id,
            kind: summary.kind,
            depth: summary.depth,
            covers: summary.covers.map(|(first, last)| [format!("^{first}"), format!("^{last}")]),
            sources: summary.sources,
            tokens: summary.tokens,
            text: summary.text,
            path,
            log: format!("{}.md", window.link),
            events: events.len(),
            covered_tokens: covered.map(|block| super::window::size(block).tokens).sum(),
        };
        Ok(AttributedSummary { described, brain: summary.brain, at: summary.at })
    }

    /// Expands the summary of this id.
    ///
    /// # Errors
    /// There is no such summary, the log no longer holds its events, or a note can't be read.
    pub fn expand(&self, id: &str, options: ExpandOptions) -> Result<ExpandedSummary> {
        let (window, note) = self.find(id)?;
        let id = &note.summary.id;
        let piece = |note: &SummaryNote| ExpandedBlock {
            cite: format!("[{}]", note.summary.id),
            path: note.path.clone(),
            line: note.line,
            text: note.summary.text.clone(),
        };
        let all: Vec<ExpandedBlock> = if options.messages {
            let event = |(block, bytes): (&LogBlock, &[u8])| ExpandedBlock {
                cite: block.event.id.as_ref().map_or_else(|| "[msg]".to_owned(), |id| format!("[msg#^{id}]")),
                path: format!("{}.md", window.link),
                line: block.line,
                text: String::from_utf8_lossy(bytes).into_owned(),
            };
            events_of(&window, id)?.into_iter().map(event).collect()
        } else {
            // A leaf has nothing below it but events.
            let below = window.descend(id, options.depth);
            if below.is_empty() { vec![piece(&note)] } else { below.into_iter().map(piece).collect() }
        };
        let mut tokens = 0;
        let count = all.len();
        let fits = |piece: &ExpandedBlock| {
            tokens += piece.tokens();
            options.most_tokens.is_none_or(|most| tokens <= most)
        };
        let blocks: Vec<ExpandedBlock> = all.into_iter().take_while(fits).collect();
        Ok(ExpandedSummary {
            id: id.clone(),
            truncated: blocks.len() < count,
            blocks,
            problem: window.problem(id),
        })
    }

    /// The bytes of the log that the summary of this id covers, as they are now, and why they aren't the ones that were
    /// summarised, if they aren't.
    ///
    /// # Errors
    /// None has it, the log doesn't hold them any more, or a note can't be read.
    pub fn covered(&self, id: &str) -> Result<(Vec<u8>, Option<String>)> {
        let (window, note) = self.find(id)?;
        let id = &note.summary.id;
        let bytes = events_of(&window, id)?.into_iter().flat_map(|(_, bytes)| bytes).copied().collect();
        Ok((bytes, window.problem(id)))
    }

    /// Searches logs and summaries. A log that can't be read is passed over.
    ///
    /// # Errors
    /// A summary can't be read, a folder can't be listed, or the search takes too long.
    pub fn grep(&self, query: &GrepQuery) -> Result<Hits> {
        let mut hits = Vec::new();
        if query.scope != GrepScope::Summaries {
            for (path, _) in self.notes_below(&self.logs)? {
                if let Ok(bytes) = self.workspace.vault.read(&path) {
                    hits.extend(query.in_log(path.as_str(), &events(&bytes)));
                }
            }
        }
        if query.scope != GrepScope::Messages {
            let logs = self.all_logs()?;
            let notes = logs.values().flat_map(|summaries| &summaries.notes);
            hits.extend(notes.filter_map(|note| query.in_summary(note)));
        }
        if query.is_over() { Err(SummaryError::Slow) } else { Ok(query.best(hits)) }
    }

    /// Proves all summaries against the logs that they cover.
    ///
    /// # Errors
    /// A note can't be read.
    pub fn verify(&self) -> Result<VerifyReport> {
        let (mut verified, mut logs) = (VerifyReport::default(), None);
        for (name, summaries) in self.all_logs()? {
            verified.summaries += summaries.notes.len();
            verified.bad.extend(summaries.strays);
            verified.bad.extend(self.moved_window(&name, summaries.notes, &mut logs)?.verify());
        }
        Ok(verified)
    }

    /// The faults of summaries, by their notes: for `check`, which reads their heads itself. Those that are made again
    /// without a person are left out.
    ///
    /// # Errors
    /// A note can't be read.
    pub fn findings(&self) -> Result<Vec<PlacedFinding>> {
        let (mut findings, mut logs) = (Vec::new(), None);
        for (name, summaries) in self.all_logs()? {
            let window = self.moved_window(&name, summaries.notes, &mut logs)?;
            findings.extend(window.verify().into_iter().filter_map(|problem| {
                let note = window.note(&problem.id)?;
                Some(PlacedFinding {
                    path: note.path.clone(),
                    line: 1,
                    column: 1,
                    reason: problem.why,
                    suggestion: "`vault-agent lcm verify` shows all".to_owned(),
                })
            }));
        }
        Ok(findings)
    }
}

/// The events that a summary covers, with their bytes.
fn events_of<'w>(window: &'w Window, id: &str) -> Result<Vec<(&'w LogBlock, &'w [u8])>> {
    let events = window.messages(id);
    if !events.is_empty() {
        return Ok(events);
    }
    Err(SummaryError::Lost { id: id.to_owned(), why: window.problem(id).unwrap_or_default() })
}

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
