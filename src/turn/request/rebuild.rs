//! Finds the parts of an earlier turn's request in its log, so that [`assemble`](mod@super::assemble) can make the
//! request again. Pure.
//!
//! The line of facts below the answer names the question, the last block of the request, the time, the budget, the
//! skills and the summaries. A folded callout of the log holds the injected memories. Neither state nor cache is read.

use ulid::Ulid;

use super::assemble::RequestQuestion;
use super::files::message_of;
use crate::format::log::{EventKind, INJECTED, LogBlock, MessageChanges};
use crate::format::shortened;
use crate::turn::facts::{self, Facts};

/// The last part of a recall block's id; `discord::snowflake` makes them.
const RECALL_PART: u128 = 2;

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
        let author = &block.event.author;
        let is_other =
            |other: &LogBlock| other.event.kind == EventKind::User && other.event.author != *author;
        let asker = blocks.iter().any(is_other).then(|| format!("(from {author})"));
        let remarks: Vec<String> = asker.into_iter().chain(replied_to(blocks, id, &changes)).collect();
        let remark = (!remarks.is_empty()).then(|| remarks.join("\n"));
        Some(RequestQuestion { id: (*id).to_owned(), text: text.to_owned(), remark, files: Vec::new() })
    });
    found.collect()
}

/// The most characters of a message that is replied to.
const REPLIED: usize = 500;

/// The beginning of the message that a question replies to, if the window holds it.
fn replied_to(blocks: &[LogBlock], question: &str, changes: &MessageChanges<'_>) -> Option<String> {
    let id = |block: &LogBlock| block.event.id.as_deref().and_then(message_of);
    let own = message_of(question);
    let remarks = blocks.iter().filter(|block| own.is_some() && id(block) == own);
    let target = remarks.filter_map(|block| block.event.answers()).next()?;
    let block = blocks.iter().find(|block| block.event.id.as_deref() == Some(target))?;
    let said = shortened(facts::split(changes.text(block)?).0.trim(), REPLIED);
    Some(format!("(a reply to what {} said: {said})", block.event.author))
}

/// The events up to and including the one with this id.
pub fn blocks_up_to<'a>(blocks: &'a [LogBlock], tail: Option<&str>) -> &'a [LogBlock] {
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
    content.find(INJECTED).map_or("", |at| &content[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::log;

    #[test]
    fn who_asks_is_said_where_several_people_talk() {
        let said = |who, id| format!("\n> [!user] 2026-11-22T09:00:00Z {who}\n> And mine?\n\n^{id}\n");
        let remark = |text: String| questions(&log::parse(text.as_bytes()).blocks, &["B"]).remove(0).remark;
        assert_eq!(remark(said("Ann", "A") + &said("Bob", "B")).as_deref(), Some("(from Bob)"));
        assert_eq!(remark(said("Bob", "A") + &said("Bob", "B")), None);
    }
}
