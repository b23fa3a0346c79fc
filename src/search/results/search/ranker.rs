//! Ranks the notes and the turns of a scope for one question.
//!
//! A question and a state of the index come in. Slots with scores go out, best first.

use std::cell::OnceCell;

use super::merge::in_one;
use crate::search::query::question::Question;
use crate::search::rank::expanded_word::ExpandedWord;
use crate::search::rank::note_ranking::{NoteRanking, RankedNote};
use crate::search::rank::signal_names::weights;
use crate::search::rank::turn_signals;
use crate::search::rank::turn_signals::{Candidates, Near, Scores, Vectors, Work};
use crate::search::recall::{CorpusState, QuestionVector, Recall};
use crate::search::retrieve::candidates::{Bounds, MANY};
use crate::search::retrieve::nearest_vectors::{Nearest, nearest_blocks};
use crate::search::retrieve::term_blocks::{CorpusScope, Occurrences};
use crate::search::retrieve::typo_correction::correct_typos;
use crate::search::weights::{NEAR, NEAR_SPREADS};

/// Of a corpus with more slots than this, room is kept between questions (16 bytes a slot) by a [resident](Recall::resident) one
/// alone.
const MOST_KEPT: usize = 1 << 20;

/// A question, and what may answer it.
pub(super) struct Ranker<'a> {
    recall: &'a Recall,
    state: &'a CorpusState,
    pub scope: CorpusScope<'a>,
    /// As it was meant: without typing errors.
    pub question: Question,
    pub vector: QuestionVector,
    /// The blocks nearest to it, once they were searched.
    nearest: OnceCell<Nearest>,
    work: Work,
}

impl<'a> Ranker<'a> {
    /// `work` goes back to `recall` in the end.
    pub fn new(
        recall: &'a Recall,
        state: &'a CorpusState,
        candidates: &'a Candidates,
        question: Question,
        work: Work,
    ) -> Self {
        let scope = CorpusScope { corpus: &state.corpus, candidates };
        let question = correct_typos(question, scope, &work.occurrences, recall.today());
        let vector = recall.ask(&question.text, state, candidates);
        Self { recall, state, scope, question, vector, nearest: OnceCell::new(), work }
    }

    /// The blocks of its terms.
    pub fn occurrences(&self) -> &Occurrences {
        &self.work.occurrences
    }

    /// Its vector and those that go with it.
    fn vectors(&self) -> Option<Vectors<'_>> {
        let model = self.state.model.as_ref().filter(|_| !self.vector.is_builtin);
        let matrix = model.map(|(_, matrix)| matrix);
        self.vector.probe.as_ref().map(|probe| Vectors { matrix, probe })
    }

    /// The notes that answer, best first.
    pub fn notes(&self, expanded: &[ExpandedWord], bounds: Bounds<'_>, most: usize) -> Vec<RankedNote> {
        let (scope, vectors) = (self.scope, self.vectors());
        let many = vectors.filter(|_| scope.candidates.count > MANY);
        let nearest = many.map(|vectors| self.nearest.get_or_init(|| nearest_blocks(scope, vectors)));
        let lists = self.recall.lists(self.state);
        let (question, table) = (&self.question, &self.recall.table);
        NoteRanking { scope, question, vectors, table, nearest, lists, expanded, bounds, most }.rank()
    }

    /// The best blocks of notes and conversations in one order: of notes the best block of each, then further ones.
    pub fn best(&mut self, expanded: &[ExpandedWord], bounds: Bounds<'_>, most: usize) -> Vec<(u32, f64)> {
        let CorpusScope { corpus, candidates } = self.scope;
        let (mut notes, mut further) = (Vec::new(), Vec::new());
        if candidates.has_notes {
            for note in self.notes(expanded, bounds, most) {
                let mut blocks = note.blocks.into_iter();
                notes.extend(blocks.next().map(|(slot, _)| (slot, f64::from(note.score))));
                further.extend(blocks.map(|(slot, own)| (slot, f64::from(own))));
            }
            further.sort_by(|a, b| b.1.total_cmp(&a.1));
            notes.append(&mut further);
            notes.truncate(most);
        }
        let mut turns = Vec::new();
        if candidates.has_turns {
            turns = self.turns(bounds, most, notes.iter_mut().map(|(slot, score)| (*slot, score)));
            turns.retain(|(slot, _)| corpus.is_said(*slot));
        }
        in_one(turns, notes, |(_, score)| score, most)
    }

    /// The `most` best turns within `bounds`, and the scores of `others`.
    pub fn turns<'o>(
        &mut self,
        bounds: Bounds<'_>,
        most: usize,
        others: impl Iterator<Item = (u32, &'o mut f64)>,
    ) -> Vec<(u32, f64)> {
        let CorpusScope { corpus, candidates } = self.scope;
        let near = if self.vector.is_builtin && self.recall.table.is_builtin() {
            Near::Cosine(NEAR)
        } else {
            Near::Spreads(NEAR_SPREADS)
        };
        let mut others: Vec<(u32, &mut f64)> = others.collect();
        let mut notes: Vec<u32> = others.iter().map(|(slot, _)| corpus.meta(*slot).file).collect();
        notes.sort_unstable();
        let mut work = std::mem::take(&mut self.work);
        let mut scores = Scores::with(weights(&self.question), near, corpus.len(), &mut work);
        let prompt = turn_signals::Prompt {
            corpus,
            candidates,
            question: &self.question,
            vectors: self.vectors(),
            nearest: self.nearest.get(),
            others: &notes,
            zone: &self.recall.zone,
        };
        turn_signals::compute(prompt, &mut work, &mut scores);
        let best = scores.best(corpus, candidates, bounds, most).into_iter();
        let best = best.map(|slot| (slot, f64::from(scores.of(slot)))).collect();
        others.iter_mut().for_each(|(slot, score)| **score = f64::from(scores.of(*slot)));
        scores.into(&mut work);
        self.work = work;
        best
    }
}

impl Drop for Ranker<'_> {
    fn drop(&mut self) {
        let mut work = std::mem::take(&mut self.work);
        work.occurrences.clear();
        let is_kept = self.recall.is_resident || self.scope.corpus.len() <= MOST_KEPT;
        *self.recall.work() = Some(work).filter(|_| is_kept);
    }
}
