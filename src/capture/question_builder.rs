//! Makes questions for a person, whether a candidate (a proposed memory) is to be kept, and chooses the best questions
//! within the limits of the inbox. Turns (a person's messages) and their candidates come in; questions go out.
//!
//! A [`QuestionBuilder`] reads `MEMORY.md` and the inbox once, and then takes one turn after another. It compares each
//! turn's candidates with the known facts and with all earlier questions. A turn with an earlier question is skipped
//! with all its candidates. So nothing is asked twice if the program crashes after it wrote a question into the inbox
//! and before it recorded that the turn was read.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::admission::Admission;
use super::dedup;
use super::inbox::{Inbox, InboxError};
use super::new_turns::PersonTurn;
use super::propose::{KnownFacts, KnownItem, Proposal, propose};
use crate::capture::{AUTO, ExtractedFact};
use crate::config::{InboxSettings, Settings};
use crate::embed::BuiltinTable;
use crate::format::candidate::{Candidate, CandidateState, CheckboxMark};
use crate::format::struck;
use crate::memory::keep_fact::without_decoration;
use crate::memory::{MemoryNotes, normal};
use crate::schedule::Zone;

/// The bonus for each repetition, and the number of repetitions that count.
const AGAIN: f64 = 0.05;
const MOST_AGAIN: usize = 3;

/// Learns for one vault, as it was when this was made.
pub struct QuestionBuilder {
    table: BuiltinTable,
    memory: KnownFacts,
    /// The turns with a question about them: `logs/…#^id`.
    sources: HashSet<String>,
    /// The ids of questions whose words came up again, once for each time.
    again: Vec<String>,
    /// How many questions wait.
    open: usize,
    /// When each question for a person was asked.
    asked: Vec<Timestamp>,
}

/// The questions that one run writes into the inbox.
#[derive(Debug, Default)]
pub struct InboxQuestions {
    /// New lines, best first.
    pub lines: Vec<Candidate>,
    /// The ids of questions that move up.
    pub again: Vec<String>,
    /// How many candidates were not asked about.
    pub not_asked: usize,
}

impl QuestionBuilder {
    /// Reads the current notes.
    ///
    /// # Errors
    /// A note can't be read.
    pub fn new(notes: MemoryNotes<'_>) -> Result<Self, InboxError> {
        let table = BuiltinTable::builtin();
        let (mut facts, mut over) = (Vec::new(), HashSet::new());
        for section in notes.list_long(None)? {
            for memory in &section.memories {
                if let Some(struck) = struck::parse(&memory.text) {
                    over.insert(normal(&without_decoration(struck.words)));
                    continue;
                }
                let at = memory.timestamp.as_deref().and_then(|stamp| instant(stamp, notes));
                facts.push(KnownItem::new(
                    &table,
                    section.section.as_deref(),
                    &without_decoration(&memory.text),
                    at,
                ));
            }
        }
        let file = Inbox::new(notes).read()?;
        let all = file.all();
        // A fact that was kept and holds no longer may hold again.
        let counts = |(state, one): &&(CandidateState, &Candidate)| {
            *state != CandidateState::Kept || !over.contains(&normal(&one.text))
        };
        let known = all.iter().filter(counts).map(|(_, one)| KnownItem::from_question(&table, one)).collect();
        let sources = file.records.iter().map(|record| record.candidate.source()).collect();
        let open = file.lines.iter().filter(|line| line.candidate.mark == CheckboxMark::Open).count();
        let records = file.records.iter().filter_map(|line| line.candidate.record.as_ref());
        let asked = records.filter(|record| record.on.as_deref() != Some(AUTO)).map(|it| it.asked).collect();
        let memory = KnownFacts { facts, asked: known };
        Ok(Self { table, memory, sources, again: Vec::new(), open, asked })
    }

    /// Whether there was a question about this turn before.
    pub fn is_known(&self, turn: &PersonTurn) -> bool {
        self.sources.contains(&turn.source())
    }

    /// The facts of a section that are similar to these words, nearest first, for a brain to judge.
    pub fn near_facts(&self, section: &str, text: &str) -> Vec<&str> {
        let vector = self.table.embed(text);
        let facts: Vec<&KnownItem> = self.memory.facts.iter().filter(|fact| fact.is_about(section)).collect();
        let near = dedup::nearest(&vector, facts.iter().map(|fact| fact.vector.as_slice()));
        near.into_iter().map(|place| facts[place].text.as_str()).collect()
    }

    /// The questions about a turn with these candidates; the next turn knows of them.
    pub fn learn(
        &mut self,
        turn: &PersonTurn,
        found: Vec<ExtractedFact>,
        by: &str,
        now: Timestamp,
    ) -> Vec<Proposal> {
        if found.is_empty() || self.is_known(turn) {
            return Vec::new();
        }
        let proposals = propose(turn, found, &self.memory, by, now, &self.table, &mut self.again);
        for proposal in &proposals {
            self.memory.asked.push(KnownItem::from_question(&self.table, &proposal.candidate));
        }
        if !proposals.is_empty() {
            self.sources.insert(turn.source());
        }
        proposals
    }

    /// Chooses the questions among all proposals. Those that the settings admit at once are ticked. Of the others, the
    /// best become questions, as many as the limits of the day and of open questions allow; what a person asked to be
    /// remembered comes first. The remaining proposals are recorded nowhere.
    pub fn choose(
        &self,
        mut proposals: Vec<Proposal>,
        settings: &Settings,
        now: Timestamp,
        zone: &Zone,
    ) -> InboxQuestions {
        let score = |proposal: &Proposal| {
            let again = self.again.iter().filter(|id| **id == proposal.candidate.id).count();
            let is_wanted = proposal.scores.utility >= 1.0;
            f64::from(u8::from(is_wanted)) + proposal.scores.total() + AGAIN * again.min(MOST_AGAIN) as f64
        };
        proposals.sort_by(|one, other| score(other).total_cmp(&score(one)));
        let day = |at: Timestamp| zone.tz().to_datetime(at).date();
        let today = self.asked.iter().filter(|at| day(**at) == day(now)).count();
        let InboxSettings { per_day, open } = settings.inbox;
        let mut room = per_day.saturating_sub(today).min(open.saturating_sub(self.open));
        let mut out = InboxQuestions { again: self.again.clone(), ..InboxQuestions::default() };
        for Proposal { mut candidate, admission, .. } in proposals {
            if admission == Admission::In && settings.captures_at_once(candidate.category) {
                candidate.mark = CheckboxMark::Ticked;
                if let Some(record) = &mut candidate.record {
                    record.on = Some(AUTO.to_owned());
                }
            } else if room == 0 {
                out.not_asked += 1;
                continue;
            } else {
                room -= 1;
            }
            out.lines.push(candidate);
        }
        out
    }
}

/// The instant of a fact's timestamp, which may be a day alone.
fn instant(stamp: &str, notes: MemoryNotes<'_>) -> Option<Timestamp> {
    if let Ok(at) = stamp.parse::<Timestamp>() {
        return Some(at);
    }
    let local: DateTime = stamp.replace(' ', "T").parse().ok().or_else(|| stamp.get(..10)?.parse().ok())?;
    notes.zone.tz().to_timestamp(local).ok()
}
