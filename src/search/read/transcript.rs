//! Splits the log of a conversation into blocks. The log's events that are messages or tool calls become blocks of the
//! kind "turn". The text between events becomes the blocks that it would be in any note.
//!
//! The blocks don't include recalled memories, deleted messages, events about the conversation itself, or the tool
//! calls in the session of a coding agent.

use std::sync::Arc;

use crate::embed::cut;
use crate::format::log::{self, EventKind};
use crate::search::read::block::{self, ParsedNote};
use crate::search::read::note::Options;
use crate::search::read::{Block, Kind, Lines, Role, frontmatter, markdown};

/// The most bytes of a speaker's name. Each block of a turn has it, so a long one would cost its square.
const MOST_AUTHOR: usize = 200;

/// Reads the log at `path`; none where it has neither events nor a log's header.
pub(super) fn parse(path: &str, bytes: &[u8], options: &Options) -> Option<ParsedNote> {
    if let Some(log) = log::parse_headings(bytes) {
        return Some(turns(&log));
    }
    let log = log::parse(bytes);
    if log.blocks.is_empty() && log.header.is_none() {
        return None;
    }
    let other = between(bytes, &log);
    let mut note = turns(&log);
    // Of a coding agent's session what was said is indexed, and not what its tools read and wrote: whole files, whose words
    // are everybody's. `lcm grep` finds those.
    if path.starts_with(&options.sessions()) {
        note.blocks.retain(|block| block.role != Some(Role::Tool));
    }
    if !other.is_empty() {
        note.blocks.extend(other);
        note.blocks.sort_by_key(|block| block.start);
    }
    Some(note)
}

/// The text of a log beside its events, as the blocks of a note: a person's words and callouts, and
/// events of a kind that there isn't.
fn between(bytes: &[u8], log: &log::LogFile) -> Vec<Block> {
    let mut rest = bytes.to_vec();
    for block in &log.blocks {
        let event = rest.get_mut(block.range.clone()).unwrap_or_default();
        event.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    let text = String::from_utf8_lossy(&rest);
    let body = frontmatter::split(&text).map_or(0, |(_, body)| body);
    let mut blocks = Vec::new();
    markdown::blocks(&text, body, &Lines::of(&text), &mut blocks);
    blocks
}

/// A log's turns, of the conversation that its header names. What was injected or is about the
/// conversation itself is left out.
fn turns(log: &log::LogFile) -> ParsedNote {
    let mut note = ParsedNote::default();
    let context = log.header.as_ref().map(|header| header.context_id.as_str());
    let context: Option<Arc<str>> = context.filter(|context| !context.is_empty()).map(Arc::from);
    let changes = log::MessageChanges::of(&log.blocks);
    for found in &log.blocks {
        let role = match found.event.kind {
            EventKind::User => Role::User,
            EventKind::Agent => Role::Agent,
            EventKind::Tool => Role::Tool,
            EventKind::System | EventKind::Recall => continue,
        };
        // A deleted message isn't found, and an edited one is found by its present text.
        let Some(text) = changes.text(found) else { continue };
        let content = if role == Role::Agent { log::split_facts(text).0 } else { text };
        if found.event.is_recall() || content.trim().is_empty() {
            continue;
        }
        let author = cut(&found.event.author, MOST_AUTHOR);
        let tags = block::tags_of_pieces(block::tags(content, &[]));
        let most = if content.len() > 4 * markdown::MOST { markdown::MOST } else { content.len() };
        for piece in block::pieces(content, most) {
            let text = content[piece].trim();
            if text.is_empty() {
                continue;
            }
            let mut block = Block::new(Kind::Turn, found.range.start, found.range.end, text.to_owned());
            block.line = u32::try_from(found.line).unwrap_or(u32::MAX);
            block.end_line = u32::try_from(found.end_line).unwrap_or(u32::MAX);
            block.time = Some(found.event.at.as_second());
            block.role = Some(role);
            block.author = Some(Arc::from(author));
            block.context_id.clone_from(&context);
            block.block_id.clone_from(&found.event.id);
            block.tags = tags(text);
            // The speaker is part of the memory.
            author.clone_into(&mut block.extra);
            note.blocks.push(block);
        }
    }
    note
}
