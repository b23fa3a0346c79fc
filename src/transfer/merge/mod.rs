//! Merges items into notes: adds those that a note lacks. Pure.
//!
//! Each function here takes a note's bytes and items, and returns the bytes with the missing items added. Every byte
//! that was there stays, in its order. An item that stands there already is counted, not added; and nothing counts as
//! added unless the new bytes, parsed, have it as it was meant: a note that ends inside a comment takes no memory, and
//! says so.

mod bullets;
mod commitments;
mod reminders;

use jiff::civil::Date;

use super::{ImportItem, chunks};
use crate::format::reminder::{DateText, TimeText};

/// The kind of a note, for the importer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// The memory note.
    Memory,
    /// A day's note.
    Daily(Date),
    /// The reminders.
    Reminders,
    /// The follow-ups.
    Commitments,
    /// The pinned memories.
    Pinned,
    /// The user's profile.
    Profile,
    /// How the assistant speaks.
    Persona,
    /// Any other note: kept whole.
    Other,
}

/// A note with what it lacked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedNote {
    /// Its bytes afterwards.
    pub after: Vec<u8>,
    /// The lines that were added, as they stand there, under the headings that they stand under.
    pub added: Vec<String>,
    /// How many items that is.
    pub count: usize,
    /// How many items were there already.
    pub duplicates: usize,
    /// The items (by their place in the list) that can't stand in it, and why.
    pub refused: Vec<(usize, String)>,
}

impl MergedNote {
    /// Takes in `wanted`, each with its item's place, where the note `after` reads back with all of them.
    fn with_all(mut self, after: Vec<u8>, wanted: Vec<(usize, String)>, reads_back: bool) -> Self {
        if reads_back {
            self.after = after;
            self.count = wanted.len();
            self.added.extend(wanted.into_iter().map(|(_, text)| text.trim_end().to_owned()));
        } else {
            let reason = "the note ends inside a comment or a code block; close it first";
            self.refused.extend(wanted.into_iter().map(|(place, _)| (place, reason.to_owned())));
        }
        self
    }
}

/// A bullet to be added to a note of bullets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WantedBullet {
    /// Which item it comes from.
    item: usize,
    section: Option<String>,
    timestamp: Option<String>,
    text: String,
}

/// The note of that kind with `before` as its bytes (none where it is missing), and the items that it lacks.
pub fn merge(kind: NoteKind, before: &[u8], items: &[&ImportItem]) -> MergedNote {
    match kind {
        NoteKind::Memory => bullets::merge(before, "# Memory\n", &wanted(items)),
        NoteKind::Daily(date) => day(date, before, items),
        NoteKind::Pinned => bullets::merge(before, "# Pinned\n", &wanted(items)),
        NoteKind::Reminders => reminders::merge(before, items),
        NoteKind::Commitments => commitments::merge(before, items),
        NoteKind::Profile | NoteKind::Persona | NoteKind::Other => create_note(before, items),
    }
}

/// A note that is kept whole where there is none.
fn create_note(before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let mut merged = MergedNote { after: before.to_vec(), ..MergedNote::default() };
    for (place, item) in items.iter().enumerate() {
        let (ImportItem::Note { text, .. }
        | ImportItem::Profile { text }
        | ImportItem::Persona { text }
        | ImportItem::Routine { text, .. }
        | ImportItem::Day { text, .. }) = item
        else {
            continue;
        };
        if merged.after == text.as_bytes() {
            merged.duplicates += 1;
        } else if merged.after.is_empty() {
            merged.after = text.clone().into_bytes();
            merged.added.push(text.clone());
            merged.count += 1;
        } else {
            let reason = "a note with other words is there already; it is left as it is";
            merged.refused.push((place, reason.to_owned()));
        }
    }
    merged
}

/// A day's note: as it came where there is none, else with the bullets that it lacks.
fn day(date: Date, before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let first = items.iter().position(|item| matches!(item, ImportItem::Day { .. }));
    if let Some(first) = first.filter(|_| before.is_empty()) {
        let mut merged = create_note(before, &items[first..=first]);
        let rest: Vec<&ImportItem> =
            items.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, item)| *item).collect();
        if !rest.is_empty() {
            let more = day(date, &merged.after, &rest);
            let original = |at: usize| if at >= first { at + 1 } else { at };
            merged.after = more.after;
            merged.added.extend(more.added);
            merged.count += more.count;
            merged.duplicates += more.duplicates;
            merged.refused.extend(more.refused.into_iter().map(|(at, reason)| (original(at), reason)));
        }
        return merged;
    }
    // A paragraph with the same words counts as there, too.
    let there: std::collections::HashSet<String> =
        chunks::chunks(&String::from_utf8_lossy(before)).into_iter().map(|chunk| chunk.text).collect();
    let (new, known): (Vec<WantedBullet>, Vec<WantedBullet>) =
        wanted(items).into_iter().partition(|wanted| {
            let from_day = matches!(items[wanted.item], ImportItem::Day { .. });
            !(from_day && there.contains(&wanted.text))
        });
    let mut merged = bullets::merge(before, &format!("# {}\n", DateText(date)), &new);
    merged.duplicates += known.len();
    merged
}

/// The items as bullets.
fn wanted(items: &[&ImportItem]) -> Vec<WantedBullet> {
    let mut all = Vec::new();
    for (item, source) in items.iter().enumerate() {
        let mut add = |section: &Option<String>, timestamp: &Option<String>, text: String| {
            all.push(WantedBullet { item, section: section.clone(), timestamp: timestamp.clone(), text });
        };
        match source {
            ImportItem::Memory { section, timestamp, text } => add(section, timestamp, text.clone()),
            ImportItem::Daily { section, time: Some(time), text, .. } => {
                add(section, &None, format!("{} {text}", TimeText(*time)));
            }
            ImportItem::Daily { section, time: None, text, .. } => add(section, &None, text.clone()),
            ImportItem::Pin { text } => add(&None, &None, text.clone()),
            ImportItem::Day { text, .. } => {
                for chunk in chunks::chunks(text) {
                    add(&chunk.section(), &None, chunk.text);
                }
            }
            _ => {}
        }
    }
    all
}
