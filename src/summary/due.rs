//! Lists a log's due summaries: missing summaries of events, outdated summaries, and summaries that combine other
//! summaries. Pure.
//!
//! The id of a summary is computed from its log, its events and its sources. So a deleted summary can be found again,
//! if another summary still names its id.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::tz::TimeZone;

use super::extract::SourceText;
use super::plan::{self, DueScope};
use super::window::{EventChanges, PlacedSummary, SummaryNote, TOOL_CHARS, Window};
use crate::format::log::{EventKind, LogBlock, MessageChanges};
use crate::format::summary::{Summary, SummaryKind};
use crate::turn::history;

/// How many events behind the last known one a missing leaf is looked for, and its most events.
const REACH: usize = 300;
const LONGEST_LEAF: usize = 1_000;

/// A summary that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueSummary {
    /// The summary, as yet without its text, author and time.
    pub summary: Summary,
    /// The note that it replaces, if any.
    pub replaces: Option<SummaryNote>,
    /// How many summaries of its depth stand before it.
    pub before: usize,
    /// Its source texts.
    pub texts: Vec<SourceText>,
}

impl Window {
    /// The summaries to make next; making them may make others due. Empty if the log is gone.
    pub fn due(&self, scope: DueScope, zone: &TimeZone) -> Vec<DueSummary> {
        if self.bytes.is_none() {
            return Vec::new();
        }
        let mut due = self.due_leaves(scope, zone);
        if due.is_empty() {
            due = self.outdated(scope, zone);
        }
        if due.is_empty() {
            due = self.due_condensed(scope, zone);
        }
        due
    }

    fn due_leaves(&self, scope: DueScope, zone: &TimeZone) -> Vec<DueSummary> {
        let placed: Vec<&PlacedSummary> =
            if scope == DueScope::New { self.roots() } else { self.leaves().collect() };
        let mut covered: Vec<Range<usize>> =
            placed.iter().filter_map(|placed| placed.events.clone()).collect();
        let mut due = if scope == DueScope::New { Vec::new() } else { self.former_ranges(&covered) };
        covered.extend(due.iter().cloned());
        covered.sort_by_key(|events| events.start);
        // New events follow all covered ones, so only they are examined with each message.
        let grown = if scope == DueScope::New { covered.last().map_or(0, |events| events.end) } else { 0 };
        due.extend(plan::leaves(&self.sizes_from(grown), &covered, scope));
        if due.is_empty() {
            return Vec::new();
        }
        due.sort_by_key(|events| events.start);
        let (changes, changed) = (MessageChanges::of(&self.blocks), self.changed());
        let due = due.into_iter().filter_map(|events| self.leaf(events, (&changes, &changed), zone, None));
        in_their_order(due.collect())
    }

    /// The missing leaves whose ids those above them tell: the same events have the same id.
    fn former_ranges(&self, covered: &[Range<usize>]) -> Vec<Range<usize>> {
        let missing = self.missing();
        let mut found = Vec::new();
        if missing.is_empty() {
            return found;
        }
        let all = self.notes.iter().filter_map(|placed| Some(placed.events.as_ref()?.end)).max().unwrap_or(0);
        let leaf = |start: usize, limit: usize| {
            let ends = start + plan::LEAF_EVENTS..=limit.min(start + LONGEST_LEAF);
            ends.map(|end| start..end).find(|events| {
                let id = self.covered_ids(events).map(|covers| self.id_of(SummaryKind::Leaf, &covers, &[]));
                id.is_some_and(|id| missing.contains(id.as_str()))
            })
        };
        let mut from = 0;
        for (start, end) in covered.iter().map(|taken| (taken.start, taken.end)).chain([(all, all)]) {
            while let Some(events) = (from..start.min(from + REACH)).find_map(|at| leaf(at, start)) {
                from = events.end;
                found.push(events);
            }
            from = from.max(end);
        }
        found
    }

    pub(super) fn leaves(&self) -> impl Iterator<Item = &PlacedSummary> {
        self.notes
            .iter()
            .filter(|placed| placed.note.summary.kind == SummaryKind::Leaf && placed.events.is_some())
    }

    fn leaf(
        &self,
        events: Range<usize>,
        (changes, changed): (&MessageChanges<'_>, &EventChanges<'_>),
        zone: &TimeZone,
        replaces: Option<&SummaryNote>,
    ) -> Option<DueSummary> {
        let covers = self.covered_ids(&events)?;
        let summary = Summary {
            id: self.id_of(SummaryKind::Leaf, &covers, &[]),
            covers: Some(covers),
            log: Some(self.link.clone()),
            sha256: self.hash(&events),
            sources_sha256: Some(self.sources_hash(&events, &[], changed)),
            ..Summary::default()
        };
        Some(DueSummary {
            summary,
            replaces: replaces.cloned(),
            before: self.count_before(0, events.start),
            texts: event_texts_with(changes, &self.blocks[events], zone),
        })
    }

    fn count_before(&self, depth: u32, start: usize) -> usize {
        let is_before = |placed: &&PlacedSummary| {
            placed.note.summary.depth == depth
                && placed.events.as_ref().is_some_and(|events| events.start < start)
        };
        self.notes.iter().filter(is_before).count()
    }

    /// The outdated summaries that no person edited and whose sources are up to date; those of changed bytes only if all
    /// are examined.
    fn outdated(&self, scope: DueScope, zone: &TimeZone) -> Vec<DueSummary> {
        let changed = self.changed();
        let old = self.outdated_ids(&changed, scope == DueScope::All);
        if old.is_empty() {
            return Vec::new();
        }
        let changes = MessageChanges::of(&self.blocks);
        let is_next = |placed: &&PlacedSummary| {
            let summary = &placed.note.summary;
            let waits = summary.sources.iter().any(|id| old.contains(id.as_str()));
            old.contains(summary.id.as_str()) && !waits && !placed.note.is_edited
        };
        let again = self.notes.iter().filter(is_next).filter_map(|placed| {
            let events = placed.events.clone()?;
            match placed.note.summary.kind {
                SummaryKind::Leaf => self.leaf(events, (&changes, &changed), zone, Some(&placed.note)),
                SummaryKind::Condensed => {
                    let children = self.children(&placed.note.summary.id);
                    let is_whole = children.len() == placed.note.summary.sources.len();
                    if is_whole { self.condensed(&children, zone, Some(&placed.note)) } else { None }
                }
            }
        });
        again.collect()
    }

    fn due_condensed(&self, scope: DueScope, zone: &TimeZone) -> Vec<DueSummary> {
        let mut groups = self.former_groups();
        if groups.is_empty() {
            let roots = self.roots();
            let span = |placed: &&PlacedSummary| {
                (placed.note.summary.depth, placed.events.clone().unwrap_or_default())
            };
            let spans: Vec<_> = roots.iter().map(span).collect();
            let notes = |group: Range<usize>| roots[group].iter().map(|placed| &placed.note).collect();
            groups = plan::condense(&spans, scope).into_iter().map(notes).collect();
        }
        let due = groups.into_iter().filter_map(|notes| self.condensed(&notes, zone, None));
        in_their_order(due.collect())
    }

    /// The groups whose condensed summary is missing, as one above it tells: of summaries that none stands directly
    /// above, though one further up may be about the same events.
    fn former_groups(&self) -> Vec<Vec<&SummaryNote>> {
        let missing = self.missing();
        if missing.is_empty() {
            return Vec::new();
        }
        let below = self.named_sources();
        let mut orphans: BTreeMap<u32, Vec<&SummaryNote>> = BTreeMap::new();
        for PlacedSummary { note, events } in &self.notes {
            if events.is_some() && !below.contains(note.summary.id.as_str()) {
                orphans.entry(note.summary.depth).or_default().push(note);
            }
        }
        let is_missing = |group: &[&SummaryNote]| {
            self.lineage(group).is_some_and(|(id, _, _)| missing.contains(id.as_str()))
        };
        let mut groups = Vec::new();
        for notes in orphans.values() {
            for start in 0..notes.len() {
                let most = notes.len().min(start + plan::FANOUT);
                let end = (start + plan::FLOOR..=most).find(|end| is_missing(&notes[start..*end]));
                groups.extend(end.map(|end| notes[start..end].to_vec()));
            }
        }
        groups
    }

    /// Id, covered events and sources of the summary that condenses these.
    fn lineage(&self, notes: &[&SummaryNote]) -> Option<(String, Range<usize>, Vec<String>)> {
        let first = self.events(&notes.first()?.summary.id)?;
        let last = self.events(&notes.last()?.summary.id)?;
        let events = first.start..last.end;
        let sources: Vec<String> = notes.iter().map(|note| note.summary.id.clone()).collect();
        let id = self.id_of(SummaryKind::Condensed, &self.covered_ids(&events)?, &sources);
        Some((id, events, sources))
    }

    fn condensed(
        &self,
        notes: &[&SummaryNote],
        zone: &TimeZone,
        replaces: Option<&SummaryNote>,
    ) -> Option<DueSummary> {
        let (id, events, sources) = self.lineage(notes)?;
        let depth = notes.iter().map(|note| note.summary.depth).max()? + 1;
        let text = |note: &&SummaryNote| {
            let span =
                self.events(&note.summary.id).map_or_else(String::new, |events| self.span(&events, zone));
            SourceText { head: span, text: note.summary.text.clone() }
        };
        let summary = Summary {
            id,
            kind: SummaryKind::Condensed,
            depth,
            covers: self.covered_ids(&events),
            sources,
            sha256: self.hash(&events),
            sources_sha256: Some(self.sources_hash(&events, notes, &EventChanges::new())),
            ..Summary::default()
        };
        let (replaces, before) = (replaces.cloned(), self.count_before(depth, events.start));
        Some(DueSummary { summary, replaces, before, texts: notes.iter().map(text).collect() })
    }

    /// From when to when these events were.
    fn span(&self, events: &Range<usize>, zone: &TimeZone) -> String {
        let time = |at: usize| {
            self.blocks[at].event.at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
        };
        format!("{} to {}", time(events.start), time(events.end - 1))
    }
}

/// Counts those of their depth that are made before each of them, too: many are made at once.
fn in_their_order(mut due: Vec<DueSummary>) -> Vec<DueSummary> {
    for (at, one) in due.iter_mut().enumerate() {
        one.before += at;
    }
    due
}

/// The texts of these events as they are now: edits applied, deletions and injected memory left out.
pub fn event_texts(blocks: &[LogBlock], events: Range<usize>, zone: &TimeZone) -> Vec<SourceText> {
    event_texts_with(&MessageChanges::of(blocks), &blocks[events], zone)
}

/// The texts of some events of a log, with the edits and deletions of all its messages.
fn event_texts_with<'b>(
    changes: &MessageChanges<'b>,
    events: &'b [LogBlock],
    zone: &TimeZone,
) -> Vec<SourceText> {
    let texts = events.iter().filter_map(|block| {
        let event = &block.event;
        let text = changes.text(block)?;
        let text = match event.kind {
            EventKind::User => history::strip_mentions(text).to_owned(),
            EventKind::Agent => crate::format::log::split_facts(text).0.trim().to_owned(),
            EventKind::Tool => history::shorten(text, TOOL_CHARS),
            EventKind::System | EventKind::Recall => return None,
        };
        let time = event.at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
        let who = match (event.kind, event.author.as_str()) {
            (EventKind::Tool, name) => format!("tool {name}"),
            (kind, "") => kind.to_string(),
            (_, author) => author.to_owned(),
        };
        (!text.is_empty()).then(|| SourceText { head: format!("{time} {who}"), text })
    });
    texts.collect()
}
