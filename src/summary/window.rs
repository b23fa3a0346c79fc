//! Holds a log with its summaries ([`Window`]), and finds the events that each summary covers. Also tells which
//! summaries are missing or outdated. Pure.
//!
//! The covered bytes of a summary are all bytes of the log from the beginning of its first event to the end of its
//! last. The summary's id is a hash over its kind, the log's name, the first and last event, and the sources. So a
//! deleted note comes back with its id.
//!
//! A summary is *outdated* in three cases:
//! - A message that it covers was edited or deleted since.
//! - The text of a summary that it is made from has changed.
//! - The covered bytes have changed. This is looked for only when all summaries are examined.
//!
//! An outdated summary is made again, unless a person edited its note. Until then no request includes the summary,
//! unless only the bytes have changed. A summary's head has a hash of its sources, because times can't show such
//! changes: the clocks of machines and of Discord differ.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use jiff::Timestamp;

use super::plan::EventSize;
use crate::format::log::{EventKind, LogBlock};
use crate::format::summary::{self, Summary, SummaryKind};
use crate::turn::history;
use crate::turn::past_context::PastSummary;

/// Characters of a tool's call that a summary is made from.
pub(super) const TOOL_CHARS: usize = 600;

/// A summary's note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryNote {
    /// Its vault-relative path.
    pub path: String,
    /// The line at which its text begins, from 1.
    pub line: usize,
    /// Whether a person changed it.
    pub is_edited: bool,
    /// Its parsed note.
    pub summary: Summary,
}

/// A log with its summaries.
#[derive(Debug)]
pub struct Window {
    /// The path that the ids of the summaries are made of, below the folder of logs.
    name: String,
    /// The path at which the log stands.
    pub(super) link: String,
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) blocks: Vec<LogBlock>,
    pub(super) places: HashMap<String, usize>,
    pub(super) notes: Vec<PlacedSummary>,
    /// Ids of notes whose id another note bears, with their paths.
    pub(super) doubled: Vec<(String, String)>,
}

/// The later changes of events, by their numbers: when the last was, and the text since; `None` for a deletion.
pub(super) type EventChanges<'w> = BTreeMap<usize, (Timestamp, Option<&'w str>)>;

/// A note, and the events that it covers; `None` if the log doesn't hold them.
#[derive(Debug)]
pub(super) struct PlacedSummary {
    pub(super) note: SummaryNote,
    pub(super) events: Option<Range<usize>>,
}

impl Window {
    /// The log `name` at `path` (both without `.md`), with its bytes and events where there are any, and its summaries.
    pub fn new(
        name: &str,
        path: &str,
        bytes: Option<Vec<u8>>,
        blocks: Vec<LogBlock>,
        notes: Vec<SummaryNote>,
    ) -> Self {
        let mut places: HashMap<String, usize> = HashMap::with_capacity(blocks.len());
        let mut twice = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            if let Some(id) = &block.event.id
                && places.insert(id.clone(), at).is_some()
            {
                twice.push(id.clone());
            }
        }
        for id in twice {
            places.remove(&id);
        }
        let (name, link) = (name.to_owned(), path.to_owned());
        let mut window = Self { name, link, bytes, blocks, places, notes: Vec::new(), doubled: Vec::new() };
        window.place(notes);
        window
    }

    /// Finds the events of the notes, those of the lowest depth first: others may take theirs from them. Of two notes
    /// with one id the one that covers what its id says counts, else the first.
    fn place(&mut self, mut notes: Vec<SummaryNote>) {
        notes.sort_by(|one, other| (one.summary.depth, &one.path).cmp(&(other.summary.depth, &other.path)));
        let mut known: HashMap<String, (bool, usize)> = HashMap::new();
        for note in notes {
            let Summary { id, kind, covers, sources, .. } = &note.summary;
            let events = match covers {
                Some((first, last)) => self.between(first, last),
                None => range_of_sources(sources, |id| self.notes[known.get(id)?.1].events.clone()),
            };
            let covered = events.as_ref().and_then(|events| self.covered_ids(events));
            let is_right = covered.is_some_and(|covers| self.id_of(*kind, &covers, sources) == *id);
            let id = id.clone();
            let placed = PlacedSummary { note, events };
            let doubled = match known.get(&id) {
                None => {
                    known.insert(id, (is_right, self.notes.len()));
                    self.notes.push(placed);
                    continue;
                }
                Some((false, at)) if is_right => {
                    let at = *at;
                    known.insert(id.clone(), (true, at));
                    std::mem::replace(&mut self.notes[at], placed)
                }
                Some(_) => placed,
            };
            self.doubled.push((id, doubled.note.path));
        }
        let key = |placed: &PlacedSummary| {
            let events = placed.events.clone().unwrap_or(usize::MAX..usize::MAX);
            (events.start, u32::MAX - placed.note.summary.depth)
        };
        self.notes.sort_by_key(key);
    }

    pub(super) fn between(&self, first: &str, last: &str) -> Option<Range<usize>> {
        let (first, last) = (*self.places.get(first)?, *self.places.get(last)?);
        (first <= last).then_some(first..last + 1)
    }

    /// The log's events.
    pub fn blocks(&self) -> &[LogBlock] {
        &self.blocks
    }

    /// The notes in the order of the covered events; notes that cover more come first.
    pub fn notes(&self) -> impl Iterator<Item = &SummaryNote> {
        self.notes.iter().map(|placed| &placed.note)
    }

    /// The note of this id.
    pub fn note(&self, id: &str) -> Option<&SummaryNote> {
        Some(&self.placed(id)?.note)
    }

    pub(super) fn placed(&self, id: &str) -> Option<&PlacedSummary> {
        self.notes.iter().find(|placed| placed.note.summary.id == id)
    }

    /// The events that a summary covers, as numbers of [`Window::blocks`].
    pub fn events(&self, id: &str) -> Option<Range<usize>> {
        self.placed(id)?.events.clone()
    }

    /// The covered events of a summary, with their bytes in the log.
    pub fn messages(&self, id: &str) -> Vec<(&LogBlock, &[u8])> {
        let (Some(events), Some(bytes)) = (self.events(id), &self.bytes) else { return Vec::new() };
        let one = |at: usize| {
            let block = &self.blocks[at];
            let end = if at + 1 < events.end { self.blocks[at + 1].range.start } else { block.range.end };
            (block, &bytes[block.range.start..end])
        };
        events.clone().map(one).collect()
    }

    /// The existing summaries that a summary was made from, oldest first.
    pub fn children(&self, id: &str) -> Vec<&SummaryNote> {
        let sources = self.note(id).map_or(&[][..], |note| &note.summary.sources);
        sources.iter().filter_map(|source| self.note(source)).collect()
    }

    /// The summaries below a summary, down to a number of levels: each after its parent, oldest first.
    pub fn descend(&self, id: &str, depth: u32) -> Vec<&SummaryNote> {
        let mut found = Vec::new();
        let own = self.note(id).map(|note| note.summary.id.as_str());
        self.descend_into(id, depth, &mut own.into_iter().collect(), &mut found);
        found
    }

    /// Each summary once, whatever a note's sources say.
    fn descend_into<'w>(
        &'w self,
        id: &str,
        depth: u32,
        seen: &mut HashSet<&'w str>,
        found: &mut Vec<&'w SummaryNote>,
    ) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        for child in self.children(id) {
            if seen.insert(&child.summary.id) {
                found.push(child);
                self.descend_into(&child.summary.id, deeper, seen, found);
            }
        }
    }

    /// The top-level summaries in order, no two about the same event.
    pub(super) fn roots(&self) -> Vec<&PlacedSummary> {
        let below = self.named_sources();
        let mut end = 0;
        let roots = self.notes.iter().filter(|placed| {
            let Some(events) = &placed.events else { return false };
            let is_root = !below.contains(placed.note.summary.id.as_str()) && events.start >= end;
            end = if is_root { events.end } else { end };
            is_root
        });
        roots.collect()
    }

    pub(super) fn named_sources(&self) -> HashSet<&str> {
        let usable = self.notes.iter().filter(|placed| placed.events.is_some());
        usable.flat_map(|placed| placed.note.summary.sources.iter().map(String::as_str)).collect()
    }

    /// The summaries for a request: the roots that are up to date, oldest first.
    pub fn past_summaries(&self) -> Vec<PastSummary> {
        let outdated = self.outdated_ids(&self.changed(), false);
        let current =
            self.roots().into_iter().filter(|placed| !outdated.contains(placed.note.summary.id.as_str()));
        let past = current.filter_map(|placed| {
            let (events, summary) = (placed.events.clone()?, &placed.note.summary);
            let id = |at: usize| self.blocks[at].event.id.clone();
            Some(PastSummary {
                id: summary.id.clone(),
                text: summary.text.clone(),
                first: id(events.start)?,
                last: id(events.end - 1)?,
                at: summary.at,
            })
        });
        past.collect()
    }

    /// The changes of the log's events.
    pub(super) fn changed(&self) -> EventChanges<'_> {
        let mut changed = EventChanges::new();
        for LogBlock { event, .. } in &self.blocks {
            if let Some((id, text)) = event.change()
                && let Some(at) = self.places.get(id)
            {
                let known = changed.entry(*at).or_insert((event.at, text));
                // A deleted message stays deleted.
                *known = (known.0.max(event.at), known.1.and(text));
            }
        }
        changed
    }

    /// The ids of the summaries that are out of date; with `bytes` also of those whose covered bytes have changed.
    pub(super) fn outdated_ids(&self, changed: &EventChanges<'_>, bytes: bool) -> HashSet<&str> {
        let mut by_depth: Vec<_> = self.notes.iter().filter(|placed| placed.events.is_some()).collect();
        by_depth.sort_by_key(|placed| placed.note.summary.depth);
        let mut outdated = HashSet::new();
        for placed in by_depth {
            let summary = &placed.note.summary;
            if summary.sources.iter().any(|id| outdated.contains(id.as_str()))
                || self.is_changed(placed, changed)
                || (bytes && !self.holds(placed))
            {
                outdated.insert(summary.id.as_str());
            }
        }
        outdated
    }

    /// Whether something else is said of a summary's sources than when it was made.
    fn is_changed(&self, placed: &PlacedSummary, changed: &EventChanges<'_>) -> bool {
        let (Some(events), summary) = (&placed.events, &placed.note.summary) else { return false };
        let children = self.children(&summary.id);
        let Some(made_from) = &summary.sources_sha256 else {
            // A note of an older version has its time alone.
            return changed.range(events.clone()).any(|(_, (when, _))| *when > summary.at)
                || children.iter().any(|child| child.summary.at > summary.at);
        };
        // A missing source is made again first.
        children.len() == summary.sources.len() && self.sources_hash(events, &children, changed) != *made_from
    }

    /// The hash of what is said of a summary's sources beside the covered bytes: of a leaf the changes of its events, of
    /// a condensed one the texts of the summaries that it is made from.
    pub(super) fn sources_hash(
        &self,
        events: &Range<usize>,
        children: &[&SummaryNote],
        changed: &EventChanges<'_>,
    ) -> String {
        if !children.is_empty() {
            let texts = children.iter().map(|child| summary::hash(&child.summary.text));
            return summary::hash(texts.collect::<String>());
        }
        let change = |(at, (_, text)): (&usize, &(Timestamp, Option<&str>))| {
            let id = self.blocks[*at].event.id.as_deref().unwrap_or_default();
            format!("^{id} {}\n", text.map(summary::hash).unwrap_or_default())
        };
        summary::hash(changed.range(events.clone()).map(change).collect::<String>())
    }

    /// The hash of the bytes of these events.
    pub(super) fn hash(&self, events: &Range<usize>) -> String {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        summary::hash(&bytes[self.blocks[events.start].range.start..self.blocks[events.end - 1].range.end])
    }

    /// Whether the covered bytes are still those that the summary was made from.
    pub(super) fn holds(&self, placed: &PlacedSummary) -> bool {
        placed.events.as_ref().is_some_and(|events| self.hash(events) == placed.note.summary.sha256)
    }

    pub(super) fn id_of(&self, kind: SummaryKind, covers: &(String, String), sources: &[String]) -> String {
        let text = format!("{kind}\n{}\n^{}\n^{}\n{}", self.name, covers.0, covers.1, sources.join("\n"));
        format!("sum_{}", &summary::hash(text)[..16])
    }

    pub(super) fn covered_ids(&self, events: &Range<usize>) -> Option<(String, String)> {
        let id = |at: usize| self.blocks.get(at)?.event.id.clone();
        Some((id(events.start)?, id(events.end.checked_sub(1)?)?))
    }

    /// The sizes of the events from a position on; the events before it count as empty.
    pub(super) fn sizes_from(&self, from: usize) -> Vec<EventSize> {
        let known = self.blocks.iter().skip(from).map(|block| self.size(block));
        std::iter::repeat_n(EventSize::default(), from.min(self.blocks.len())).chain(known).collect()
    }

    pub(super) fn size(&self, block: &LogBlock) -> EventSize {
        let is_linkable = block.event.id.as_ref().is_some_and(|id| self.places.contains_key(id));
        EventSize { is_linkable, ..size(block) }
    }

    /// The tokens of the events that no summary covers.
    pub fn uncovered(&self) -> u64 {
        let covered =
            self.roots().last().and_then(|root| root.events.as_ref()).map_or(0, |events| events.end);
        self.blocks[covered..].iter().map(|block| size(block).tokens).sum()
    }

    /// The tokens of a request without its fixed parts: of the top-level summaries and the uncovered events.
    pub fn request_tokens(&self) -> u64 {
        self.uncovered() + self.roots().iter().map(|root| root.note.summary.tokens).sum::<u64>()
    }

    /// The ids that summaries name and for which there is no note.
    pub(super) fn missing(&self) -> HashSet<&str> {
        let known: HashSet<&str> = self.notes.iter().map(|placed| placed.note.summary.id.as_str()).collect();
        self.named_sources().into_iter().filter(|id| !known.contains(id)).collect()
    }
}

/// From the first to the last event of these summaries.
fn range_of_sources(
    sources: &[String],
    events: impl Fn(&String) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    let (first, last) = (events(sources.first()?)?, events(sources.last()?)?);
    (first.start < last.end).then_some(first.start..last.end)
}

/// The size of an event, for planning, without the check whether its id is unique.
pub fn size(block: &LogBlock) -> EventSize {
    let event = &block.event;
    let tokens = match event.kind {
        EventKind::User | EventKind::Agent => history::estimate(event.said()),
        EventKind::Tool => history::estimate(&event.content).min(TOOL_CHARS as u64),
        EventKind::System | EventKind::Recall => 0,
    };
    EventSize { tokens, is_linkable: event.id.is_some(), begins: event.kind == EventKind::User }
}

#[cfg(test)]
mod tests;
