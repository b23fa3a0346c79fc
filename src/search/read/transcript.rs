//! A log's bytes to blocks: its events as turns, and what else stands there as the blocks of a note.

use std::sync::Arc;

use crate::format::log::{self, EventKind, Resume};
use crate::search::read::block::{Block, Kind, Lines, Role};
use crate::search::read::note::{Options, Parsed};
use crate::search::read::{cut, frontmatter, inline, markdown};

/// Reads the log at `path`; none where it has neither events nor a log's header.
pub(super) fn parse(path: &str, bytes: &[u8], options: &Options) -> Option<Parsed> {
    if let Some(log) = log::parse_headings(bytes) {
        // Its last turn may still grow: a changed one is read anew.
        return Some(Parsed { resume: None, ..turns(log, None) });
    }
    let log = log::parse(bytes);
    if log.blocks.is_empty() && log.header.is_none() {
        return None;
    }
    let other = between(bytes, 0, &log);
    let mut parsed = without_tools(turns(log, None), path, options);
    if !other.is_empty() {
        // What stands there may become part of an event: a changed file is read anew.
        parsed.resume = None;
        parsed.note.blocks.extend(other);
        parsed.note.blocks.sort_by_key(|block| block.start);
    }
    Some(parsed)
}

/// Reads what was appended to the log at `path` since `resume`; `None` where that can't be told from the rest.
pub fn parse_appended(path: &str, bytes: &[u8], resume: &str, options: &Options) -> Option<Parsed> {
    let mut parts = resume.splitn(4, ' ');
    let mut number = || parts.next()?.parse::<usize>().ok();
    let (offset, line, crlf) = (number()?, number()?, number()? == 1);
    let log = log::parse_from(bytes, Resume { offset, line, crlf });
    if !between(bytes, offset, &log).is_empty() {
        return None;
    }
    Some(without_tools(turns(log, parts.next()), path, options))
}

/// What stands from byte `from` on in a log beside its events, as the blocks of a note: a person's words and callouts, and
/// events of a kind that there isn't.
fn between(bytes: &[u8], from: usize, log: &log::LogFile) -> Vec<Block> {
    let mut at = from;
    let ends =
        log.blocks.iter().map(|block| block.range.clone()).chain(std::iter::once(bytes.len()..bytes.len()));
    let is_blank = ends.into_iter().all(|range| {
        let gap = bytes.get(at..range.start).unwrap_or_default();
        at = range.end;
        gap.trim_ascii().is_empty()
    });
    if is_blank {
        return Vec::new();
    }
    let mut rest = bytes.to_vec();
    let events = log.blocks.iter().map(|block| block.range.clone()).chain(std::iter::once(0..from));
    for range in events {
        let event = rest.get_mut(range).unwrap_or_default();
        event.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    let text = String::from_utf8_lossy(&rest);
    let body = if from > 0 { from } else { frontmatter::split(&text).map_or(0, |(_, body)| body) };
    let mut blocks = Vec::new();
    markdown::blocks(&text, body, &Lines::of(&text), &mut blocks);
    blocks
}

/// A log's turns, of this conversation or else of the one that its header names. What was injected or is about the
/// conversation itself is left out.
fn turns(log: log::LogFile, context: Option<&str>) -> Parsed {
    let mut parsed = Parsed::default();
    let context = context.or(log.header.as_ref().map(|header| header.context_id.as_str()));
    let context: Option<Arc<str>> = context.filter(|context| !context.is_empty()).map(Arc::from);
    for found in log.blocks {
        let role = match found.event.kind {
            EventKind::User => Role::User,
            EventKind::Agent => Role::Agent,
            EventKind::Tool => Role::Tool,
            EventKind::System | EventKind::Recall => continue,
        };
        let content = found.event.said();
        if found.event.is_recall() || content.trim().is_empty() {
            continue;
        }
        let most = if content.len() > 4 * markdown::MOST { markdown::MOST } else { content.len() };
        for piece in cut::pieces(content, most) {
            let text = content[piece].trim();
            if text.is_empty() {
                continue;
            }
            let mut block = Block::new(Kind::Turn, found.range.start, found.range.end, text.to_owned());
            block.line = u32::try_from(found.line).unwrap_or(u32::MAX);
            block.end_line = u32::try_from(found.end_line).unwrap_or(u32::MAX);
            block.time = Some(found.event.at.as_second());
            block.role = Some(role);
            block.author = Some(Arc::from(found.event.author.as_str()));
            block.context_id.clone_from(&context);
            block.block_id.clone_from(&found.event.id);
            block.tags = inline::tags(text, &[]);
            block.dates = inline::dates(text);
            // Who says it is part of what is remembered.
            block.extra.clone_from(&found.event.author);
            parsed.note.blocks.push(block);
        }
    }
    let (end, context) = (log.end, context.as_deref().unwrap_or_default());
    parsed.resume = Some(format!("{} {} {} {context}", end.offset, end.line, u8::from(end.crlf)));
    parsed
}

/// Of a coding agent's session what was said is indexed, and not what its tools read and wrote: whole files, whose words
/// are everybody's. `lcm grep` finds those.
fn without_tools(mut parsed: Parsed, path: &str, options: &Options) -> Parsed {
    if path.starts_with(&options.sessions()) {
        parsed.note.blocks.retain(|block| block.role != Some(Role::Tool));
    }
    parsed
}
