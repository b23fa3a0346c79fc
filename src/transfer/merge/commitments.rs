//! Merges follow-ups into their note.

use std::collections::HashSet;

use jiff::{Timestamp, tz::TimeZone};

use super::Merged;
use crate::format::commitment::{self, Commitment};
use crate::transfer::ImportItem;
use crate::vault::{Operation, apply};

pub(super) fn merge(before: &[u8], items: &[&ImportItem]) -> Merged {
    let mut file = commitment::parse(before);
    let mut said: HashSet<_> = file.blocks.iter().map(|block| content_of(&block.commitment)).collect();
    let mut ids: HashSet<String> = file.blocks.iter().map(|block| block.commitment.id.clone()).collect();
    ids.extend(file.other_ids.iter().cloned());
    let mut merged = Merged { after: before.to_vec(), ..Merged::default() };
    let mut wanted: Vec<(usize, Commitment)> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let ImportItem::Commitment(new) = item else { continue };
        let Some(safe) = reparsed(new) else {
            merged.refused.push((place, "it would not read back as it is".to_owned()));
            continue;
        };
        if !said.insert(content_of(&safe)) {
            merged.duplicates += 1;
            continue;
        }
        let id = if ids.contains(&safe.id) {
            commitment::next_id(
                &file,
                TimeZone::UTC.to_datetime(safe.created.unwrap_or(Timestamp::UNIX_EPOCH)).date(),
            )
        } else {
            safe.id.clone()
        };
        ids.insert(id.clone());
        file.other_ids.push(id.clone());
        wanted.push((place, Commitment { id, ..safe }));
    }
    if wanted.is_empty() {
        return merged;
    }
    let mut after = if before.is_empty() { b"# Commitments\n".to_vec() } else { before.to_vec() };
    for (_, commitment) in &wanted {
        let gap = if after.ends_with(b"\n\n") || after.ends_with(b"\n\r\n") { "" } else { "\n" };
        let text = format!("{gap}{}", commitment.to_block()).into_bytes();
        after = apply(&[Operation::Append { text }], &after).0;
    }
    let read = commitment::parse(&after);
    if read.blocks.len() == file.blocks.len() + wanted.len() {
        merged.after = after;
        merged.count = wanted.len();
        merged.added.extend(wanted.iter().map(|(_, commitment)| commitment.to_block().trim_end().to_owned()));
    } else {
        let reason = "the note ends inside a comment or a code block; close it first";
        merged.refused.extend(wanted.into_iter().map(|(place, _)| (place, reason.to_owned())));
    }
    merged
}

/// The follow-up as its own block reads back.
fn reparsed(new: &Commitment) -> Option<Commitment> {
    let file = commitment::parse(format!("\n{}", new.to_block()).as_bytes());
    file.find(&new.id).map(|block| block.commitment.clone())
}

/// A follow-up's content, without its id and its state.
fn content_of(commitment: &Commitment) -> (String, Option<Timestamp>, Option<String>) {
    (commitment.text.clone(), commitment.due, commitment.scope.clone())
}
