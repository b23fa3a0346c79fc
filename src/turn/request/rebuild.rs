//! Makes the request of an earlier turn again from its log, by the same assembly over the same bytes. Pure.
//!
//! The line of facts below the answer names the question, the last block of the request, the time, the budget and the
//! skills; a folded callout of the log holds the injected memories. The caller passes the texts of notes, skills and
//! tools, as they are now or were then. Neither state nor cache is read.

use jiff::tz::TimeZone;
use ulid::Ulid;

use super::assemble::{self, RequestMaterial, RequestQuestion};
use super::history::MessageChanges;
use super::notes::RequestNotes;
use super::past_context::PastSummary;
use crate::brain::{MessagePart, Request, ToolSpec};
use crate::format::log::{EventKind, LogBlock};
use crate::turn::facts::{self, Facts};
use crate::turn::skills::RequestSkills;

pub use crate::format::log::INJECTED as MARK;

/// The last part of a recall block's id; `discord::snowflake` makes them.
const RECALL_PART: u128 = 2;

/// The parts of a request that are not in the log.
#[derive(Debug, Clone, Default)]
pub struct RebuildContext {
    /// The notes that every request includes.
    pub notes: RequestNotes,
    /// The skills that were listed, with their descriptions.
    pub skills: RequestSkills,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// The summaries in the request, in its order.
    pub summaries: Vec<PastSummary>,
    /// The longest answer of the brain that answered, in tokens.
    pub max_output_tokens: Option<u32>,
    /// The message parts of each question's files, by its block's id; only files in the vault can be rebuilt.
    pub files: Vec<(String, Vec<MessagePart>)>,
}

/// The answer to a question in its log: the facts of its last chunk.
pub fn facts_of(blocks: &[LogBlock], question: &str) -> Option<Facts> {
    let agents = blocks.iter().filter(|block| block.event.kind == EventKind::Agent);
    let mut facts = agents.filter_map(|block| facts::split(&block.event.content).1);
    facts.find(|facts| facts.turn.as_deref() == Some(question) && !facts.is_partial())
}

/// The questions of a turn in the log's current wording, up to its last event.
pub fn questions(blocks: &[LogBlock], ids: &[&str]) -> Vec<RequestQuestion> {
    let changes = MessageChanges::of(blocks);
    let found = ids.iter().filter_map(|id| {
        let block = blocks.iter().find(|block| block.event.id.as_deref() == Some(id))?;
        let text = changes.text(block)?;
        Some(RequestQuestion { id: (*id).to_owned(), text: text.to_owned(), files: Vec::new() })
    });
    found.collect()
}

/// The events up to and including the one with this id.
pub fn up_to<'a>(blocks: &'a [LogBlock], tail: Option<&str>) -> &'a [LogBlock] {
    let end = tail.and_then(|tail| blocks.iter().rposition(|block| block.event.id.as_deref() == Some(tail)));
    end.map_or(blocks, |end| &blocks[..=end])
}

/// The block with the memories for a question: the question's own id with another last part, as the
/// logs' writer makes it.
pub fn recall_id(question: &str) -> String {
    question
        .parse::<Ulid>()
        .map_or_else(|_| String::new(), |id| Ulid((id.0 & !0xffff) | RECALL_PART).to_string())
}

/// The injected text in the folded callout of this question; empty if there is none.
pub fn injection<'a>(blocks: &'a [LogBlock], recall_id: &str) -> &'a str {
    let callout = blocks
        .iter()
        .find(|block| block.event.kind == EventKind::Recall && block.event.id.as_deref() == Some(recall_id));
    let content = callout.map_or("", |block| block.event.content.as_str());
    content.find(MARK).map_or("", |at| &content[at..])
}

/// The request of the turn with these facts; `None` if the log no longer has what it needs.
pub fn request(
    blocks: &[LogBlock],
    facts: &Facts,
    recall_id: &str,
    context: RebuildContext,
    zone: &TimeZone,
) -> Option<Request> {
    let (at, budget, turn) = (facts.at?, facts.budget?, facts.turn.as_deref()?);
    let log_part = up_to(blocks, facts.tail.as_deref());
    let ids: Vec<&str> = facts.with.iter().map(String::as_str).chain([turn]).collect();
    let mut questions = questions(log_part, &ids);
    for question in &mut questions {
        let files = context.files.iter().find(|(id, _)| *id == question.id);
        question.files = files.map(|(_, parts)| parts.clone()).unwrap_or_default();
    }
    if questions.is_empty() {
        return None;
    }
    Some(assemble::assemble(RequestMaterial {
        notes: context.notes,
        skills: &context.skills,
        tools: context.tools,
        blocks: log_part,
        summaries: &context.summaries,
        questions,
        injection: injection(blocks, recall_id),
        now: at.to_zoned(zone.clone()),
        budget,
        max_output_tokens: context.max_output_tokens,
        schema: None,
    }))
}
