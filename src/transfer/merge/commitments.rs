//! Merges follow-ups into their note.

use std::collections::HashSet;

use jiff::{Timestamp, tz::TimeZone};

use super::MergedNote;
use crate::format::commitment::{self, Commitment};
use crate::transfer::ImportItem;
use crate::vault::{Operation, apply};

pub(super) fn merge(before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let mut file = commitment::parse(before);
    let mut said: HashSet<_> = file.blocks.iter().map(|block| content_of(&block.commitment)).collect();
    let mut ids: HashSet<String> = file.blocks.iter().map(|block| block.commitment.id.clone()).collect();
    ids.extend(file.other_ids.iter().cloned());
    let mut merged = MergedNote { after: before.to_vec(), ..MergedNote::default() };
    let mut wanted: Vec<(usize, String)> = Vec::new();
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
        wanted.push((place, Commitment { id, ..safe }.to_block()));
    }
    if wanted.is_empty() {
        return merged;
    }
    let mut after = if before.is_empty() { b"# Commitments\n".to_vec() } else { before.to_vec() };
    for (_, block) in &wanted {
        let gap = if after.ends_with(b"\n\n") || after.ends_with(b"\n\r\n") { "" } else { "\n" };
        after = apply(&[Operation::Append { text: format!("{gap}{block}").into_bytes() }], &after).0;
    }
    let is_whole = commitment::parse(&after).blocks.len() == file.blocks.len() + wanted.len();
    merged.with_all(after, wanted, is_whole)
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
