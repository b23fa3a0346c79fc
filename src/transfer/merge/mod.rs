//! Merges items into notes: adds those that a note lacks. Pure.
//!
//! Each function here takes a note's bytes and items, and returns the bytes with the missing items added. Every byte
//! that was there stays, in its order. An item that is there already is counted, not added. An item counts as added
//! only if it is found when the new bytes are parsed. If the note ends inside a comment, for example, no item is added,
//! and the result gives the reason.

mod bullets;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::{ImportItem, chunks};
use crate::format::commitment::{self, Commitment, CommitmentStatus};
use crate::format::reminder::{self, ParsedLine, Recur, Reminder};
use crate::vault::{Operation, apply};

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

/// A note with the missing items added.
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

/// Merges items into the note of this kind with the bytes `before` (empty if the note is missing).
pub fn merge(kind: NoteKind, before: &[u8], items: &[&ImportItem]) -> MergedNote {
    match kind {
        NoteKind::Memory => bullets::merge(before, "# Memory\n", &wanted(items)),
        NoteKind::Daily(date) => day(date, before, items),
        NoteKind::Pinned => bullets::merge(before, "# Pinned\n", &wanted(items)),
        NoteKind::Reminders => merge_reminders(before, items),
        NoteKind::Commitments => merge_commitments(before, items),
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

/// A day's note: as it came where there is none; in either case with the bullets that it lacks.
fn day(date: Date, before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let first = items.iter().position(|item| matches!(item, ImportItem::Day { .. }));
    let first = first.filter(|_| before.is_empty());
    let whole = create_note(before, first.map_or(&[][..], |first| &items[first..=first]));
    // A paragraph with the same words counts as there, too.
    let there: HashSet<String> =
        chunks::chunks(&String::from_utf8_lossy(&whole.after)).into_iter().map(|chunk| chunk.text).collect();
    let wanted = wanted(items).into_iter().filter(|wanted| Some(wanted.item) != first);
    let (new, known): (Vec<WantedBullet>, Vec<WantedBullet>) = wanted.partition(|wanted| {
        let from_day = matches!(items[wanted.item], ImportItem::Day { .. });
        !(from_day && there.contains(&wanted.text))
    });
    let mut merged = bullets::merge(&whole.after, &format!("# {date}\n"), &new);
    merged.added.splice(0..0, whole.added);
    merged.count += whole.count;
    merged.duplicates += whole.duplicates + known.len();
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
                add(section, &None, format!("{} {text}", time.strftime("%H:%M")));
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

fn merge_reminders(before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let file = reminder::parse(before);
    let standing: HashMap<_, _> =
        file.reminders.iter().filter_map(|line| Some((line.reminder.id?, &line.reminder))).collect();
    let said: HashSet<_> = file.reminders.iter().map(|line| reminder_content(&line.reminder)).collect();
    // The ids of this import, and what has each of them.
    let (mut ids, mut with_id) = (HashSet::new(), HashSet::new());
    let mut merged = MergedNote { after: before.to_vec(), ..MergedNote::default() };
    let mut wanted: Vec<(usize, String)> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let ImportItem::Reminder(new) = item else { continue };
        let same_id = new.id.and_then(|id| standing.get(&id));
        if let (Some(id), Some(old)) = (new.id, same_id)
            && (old.recur, &old.msg) != (new.recur, &new.msg)
            && !said.contains(&reminder_content(new))
        {
            let reason = format!("another reminder has the id `{id}`; that is left as it is");
            merged.refused.push((place, reason));
            continue;
        }
        // One with an id may have moved on since. Two of one import with one id are two where they differ.
        let content = reminder_content(new);
        let is_known = match new.id {
            Some(id) => same_id.is_some() || !with_id.insert((id, content)),
            None => said.contains(&content),
        };
        if is_known {
            merged.duplicates += 1;
            continue;
        }
        let new = Reminder { id: new.id.filter(|id| ids.insert(*id)), ..new.clone() };
        let line = new.to_line();
        match reminder::parse_line(line.as_bytes()) {
            ParsedLine::Reminder(read) if read == new => wanted.push((place, line)),
            ParsedLine::NearMiss(finding) => merged.refused.push((place, finding.reason)),
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
fn reminder_content(reminder: &Reminder) -> (DateTime, Recur, &str) {
    (reminder.date.to_datetime(reminder.time), reminder.recur, &reminder.msg)
}

fn merge_commitments(before: &[u8], items: &[&ImportItem]) -> MergedNote {
    let mut file = commitment::parse(before);
    let mut said: HashSet<_> =
        file.blocks.iter().flat_map(|block| commitment_contents(&block.commitment)).collect();
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
        // Ids count up each day, so that two vaults have the same; with the same instant it is the same follow-up.
        let is_it =
            |it: &&Commitment| (&it.id, it.created) == (&safe.id, safe.created) && it.created.is_some();
        let standing = file.blocks.iter().map(|block| &block.commitment).find(is_it);
        let contents = commitment_contents(&safe);
        let is_said = contents.iter().any(|content| said.contains(content));
        said.extend(contents);
        if is_said || standing.is_some_and(|it| it.text == safe.text) {
            merged.duplicates += 1;
            continue;
        }
        if standing.is_some() {
            let reason = "this follow-up has other words by now; it is left as it is";
            merged.refused.push((place, reason.to_owned()));
            continue;
        }
        let id = if ids.contains(&safe.id) {
            let made = safe.created.map(|at| TimeZone::UTC.to_datetime(at).date());
            let of_id = || safe.id.strip_prefix("c-")?.get(..10)?.parse::<Date>().ok();
            // Two machines may each import before they see the other's note.
            let day = made.or_else(of_id).unwrap_or(Date::constant(1970, 1, 1));
            commitment::hashed_id(&file, day, &safe)
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

/// What makes two follow-ups the same: text, due time and scope, and either the instant that they were made at, or
/// whether they wait. One that waits isn't the same as an earlier one that is over.
fn commitment_contents(commitment: &Commitment) -> [(String, Option<Timestamp>, Option<String>, String); 2] {
    let Commitment { text, due, scope, created, status, .. } = commitment;
    let made = created.map(|at| at.to_string()).unwrap_or_default();
    let waits = (*status == CommitmentStatus::Pending).to_string();
    [made, waits].map(|last| (text.clone(), *due, scope.clone(), last))
}
