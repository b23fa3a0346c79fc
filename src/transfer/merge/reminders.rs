//! Merges reminders into their note.

use std::collections::HashSet;

use super::MergedNote;
use crate::format::reminder::{self, ParsedLine, Reminder};
use crate::transfer::ImportItem;
use crate::vault::{Operation, apply};

pub(super) fn merge(before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let file = reminder::parse(before);
    let mut ids: HashSet<_> = file.reminders.iter().filter_map(|line| line.reminder.id).collect();
    let said: HashSet<_> = file.reminders.iter().map(|line| content_of(&line.reminder)).collect();
    let mut merged = MergedNote { after: before.to_vec(), ..MergedNote::default() };
    let mut wanted: Vec<(usize, String)> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let ImportItem::Reminder(new) = item else { continue };
        let known = match new.id {
            Some(id) => ids.contains(&id),
            None => said.contains(&content_of(new)),
        };
        if known {
            merged.duplicates += 1;
            continue;
        }
        let line = new.to_line();
        match reminder::parse_line(line.as_bytes()) {
            ParsedLine::Reminder(read) if read == *new => {
                ids.extend(new.id);
                wanted.push((place, line));
            }
            ParsedLine::NearMiss { reason, .. } => merged.refused.push((place, reason)),
            _ => merged.refused.push((place, "it would not read back as it is".to_owned())),
        }
    }
    if wanted.is_empty() {
        return merged;
    }
    let start: &[u8] = if before.is_empty() { b"# Reminders\n\n" } else { before };
    let append = |(_, line): &(usize, String)| Operation::Append { text: line.clone().into_bytes() };
    let (after, _) = apply(&wanted.iter().map(append).collect::<Vec<_>>(), start);
    // An end inside a comment or a code block would make all of them dead.
    let is_whole = reminder::parse(&after).reminders.len() == file.reminders.len() + wanted.len();
    merged.with_all(after, wanted, is_whole)
}

/// A reminder's content, without its id.
fn content_of(reminder: &Reminder) -> (jiff::civil::DateTime, reminder::Recur, &str) {
    (reminder.date.to_datetime(reminder.time), reminder.recur, &reminder.msg)
}
