//! Learning from turns: what the vault knows goes in, what a person is asked comes out.
//!
//! A [`Learner`] reads `MEMORY.md` and the inbox once, and takes turn after turn; what one turn asks is known to the next.
//! A turn that was asked about before is passed over whole: so a crash between the note and the place in the log asks
//! nothing twice.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::ask::{Inbox, InboxError};
use super::judge::{Admission, Known, Memory, Proposal, propose};
use super::read::reading::Turn;
use crate::capture::{AUTO, Found};
use crate::config::Settings;
use crate::embed::Table;
use crate::format::candidate::{Candidate, Mark};
use crate::format::struck;
use crate::memory::{MemoryNotes, keep::bare};

/// Learns for one vault, as it was when this was made.
pub struct Learner {
    table: Table,
    memory: Memory,
    /// The turns that something was asked about: `logs/…#^id`.
    sources: std::collections::HashSet<String>,
}

impl std::fmt::Debug for Learner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Learner").field("facts", &self.memory.facts.len()).finish_non_exhaustive()
    }
}

impl Learner {
    /// Knows what the notes say now.
    ///
    /// # Errors
    /// A note can't be read.
    pub fn new(notes: MemoryNotes<'_>) -> Result<Self, InboxError> {
        let table = Table::builtin();
        let mut facts = Vec::new();
        for section in notes.list_long(None)? {
            for memory in section.memories.iter().filter(|memory| struck::parse(&memory.text).is_none()) {
                let at = memory.timestamp.as_deref().and_then(|stamp| instant(stamp, notes));
                facts.push(Known::new(&table, section.section.as_deref(), &bare(&memory.text), at));
            }
        }
        let file = Inbox::new(notes).read()?;
        let all = file.all();
        let asked =
            all.iter().map(|(_, one)| Known::new(&table, Some(&one.section), &one.text, None)).collect();
        let sources = file.records.iter().map(|record| record.candidate.source()).collect();
        Ok(Self { table, memory: Memory { facts, asked }, sources })
    }

    /// Whether something was asked about this turn before.
    pub fn is_known(&self, turn: &Turn) -> bool {
        self.sources.contains(&turn.source())
    }

    /// The facts that are near these words in a section, nearest first, for a brain to judge by.
    pub fn near(&self, section: &str, text: &str) -> Vec<&str> {
        let vector = self.table.embed(text);
        let about =
            |fact: &&Known| fact.section.as_deref().is_none_or(|own| crate::memory::is_section(own, section));
        let facts: Vec<&Known> = self.memory.facts.iter().filter(about).collect();
        let vectors: Vec<Vec<f32>> = facts.iter().map(|fact| fact.vector.clone()).collect();
        let near = crate::capture::judge::dedup::nearest(&vector, &vectors);
        near.into_iter().map(|(place, _)| facts[place].text.as_str()).collect()
    }

    /// What is asked about a turn in which this was found; the next turn knows of it.
    pub fn learn(&mut self, turn: &Turn, found: Vec<Found>, by: &str, now: Timestamp) -> Vec<Proposal> {
        if found.is_empty() || self.is_known(turn) {
            return Vec::new();
        }
        let proposals = propose(turn, found, &self.memory, by, now, &self.table);
        for Candidate { section, text, .. } in proposals.iter().map(|proposal| &proposal.candidate) {
            self.memory.asked.push(Known::new(&self.table, Some(section), text, None));
        }
        if !proposals.is_empty() {
            self.sources.insert(turn.source());
        }
        proposals
    }
}

/// The lines for these proposals: what the settings let in at once is ticked already.
pub fn lines(proposals: Vec<Proposal>, settings: &Settings) -> Vec<Candidate> {
    let line = |Proposal { mut candidate, admission, .. }: Proposal| {
        let auto = admission == Admission::In && settings.captures_at_once(candidate.category);
        if auto {
            candidate.mark = Mark::Ticked;
            if let Some(record) = &mut candidate.record {
                record.on = Some(AUTO.to_owned());
            }
        }
        candidate
    };
    proposals.into_iter().map(line).collect()
}

/// The instant of a fact's timestamp, which may be a day alone.
fn instant(stamp: &str, notes: MemoryNotes<'_>) -> Option<Timestamp> {
    if let Ok(at) = stamp.parse::<Timestamp>() {
        return Some(at);
    }
    let local: DateTime = stamp.replace(' ', "T").parse().ok().or_else(|| stamp.get(..10)?.parse().ok())?;
    notes.zone.tz().to_timestamp(local).ok()
}
