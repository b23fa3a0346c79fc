//! Computes the ranking's word signals of a block: which of the question's terms it has, how close together they stand,
//! and which of them its neighbours have.
//!
//! There are three passes. The first collects the blocks of each term. The second, which needs each term's frequency in
//! the scope, adds up the values of every block and note. The third divides each sum by its maximum. The last two go
//! layer by layer (a layer is one part of the corpus, with whole notes): memory stays small, and the cores share the
//! layers. A turn's terms count for the turns around it, too; the terms of a note's block count for that block alone.

use std::sync::Arc;

use crate::embed::BuiltinTable;
use crate::search::analyze::Shape;
use crate::search::parallel::share;
use crate::search::query::QueryTerm;
use crate::search::rank::accumulator::{LayerScratch, RankingInput, Scores};
use crate::search::retrieve::{
    B, COMMON, CorpusScope, K1, MANY, Occurrence, RATHER_COMMON, TermBlocks, count, idf, saturated,
};
use crate::search::weights::{AROUND, NEAR_WORD, Signal};

/// The region around a turn fades linearly to zero at eight turns, and ends after six.
const REGION: u32 = 6;

/// Values of blocks, or of notes.
type Values = Vec<(u32, f32)>;

/// The speakers in scope: the words of all their names, and the speakers that the question names.
pub(in crate::search) struct Speakers {
    pub names: Vec<String>,
    pub named: Vec<u32>,
}

impl Speakers {
    /// The speakers of `candidates`. If the question names all of them, none counts as named.
    pub fn of(input: &RankingInput<'_>) -> Self {
        let RankingInput { scope: CorpusScope { corpus, candidates, .. }, question, .. } = *input;
        let ids = &candidates.authors;
        let asked = |name: &str| {
            name.split(' ').any(|part| part.len() > 1 && question.words.iter().any(|word| word == part))
        };
        let mut named: Vec<u32> = ids.iter().copied().filter(|id| asked(corpus.author_name(*id))).collect();
        if named.len() == ids.len() {
            named.clear();
        }
        let names = ids.iter().flat_map(|id| corpus.author_name(*id).split(' ').map(str::to_owned)).collect();
        Self { names, named }
    }
}

impl RankingInput<'_> {
    /// All signals from words, into `scores`, of the blocks that are looked at.
    pub(super) fn word_signals(&self, speakers: &Speakers, scores: &mut Scores<'_>) {
        let Self { scope, question, others, .. } = *self;
        let (corpus, blocks) = (scope.corpus, scope.candidates.count);
        let mut is_other = vec![false; corpus.note_count()];
        others.iter().for_each(|note| is_other[*note as usize] = true);
        let terms = share(blocks, question.terms.len(), |n| {
            let term = &question.terms[n];
            Term::new(scope, term, speakers.names.contains(&term.word))
        });
        let sums = share(blocks, corpus.segs.len(), |at| {
            self.scratch.with_layer(corpus, |scratch| {
                Layer { scope, at, is_other: &is_other, scratch, sums: Sums::default() }.run(&terms)
            })
        });
        let wholes = Wholes::new(&terms, &sums);
        let mut answers = Vec::new();
        self.scratch.with_layer(corpus, |scratch| {
            sums.into_iter().for_each(|sums| sums.hand_over(scope, &wholes, scratch, scores, &mut answers));
        });
        answers.into_iter().for_each(|(slot, value)| scores.add(Signal::AnswersMatch, slot, value));
    }
}

/// The sums of a layer's blocks.
#[derive(Default)]
struct Sums {
    region: Values,
    /// BM25 of the blocks alone.
    own: Values,
    /// The same, and soft matches, each term by how much its word tells, too.
    telling: Values,
    soft_telling: Values,
    /// BM25 of the turns that are questions, for the turns after them.
    answers: Values,
    /// BM25 of whole notes, and how rare the terms are that they have.
    sessions: Values,
    session_cover: Values,
}

/// A layer at work.
struct Layer<'a> {
    scope: CorpusScope<'a>,
    at: usize,
    /// Whether a note's blocks are looked at beside turns, by its number.
    is_other: &'a [bool],
    scratch: &'a mut LayerScratch,
    sums: Sums,
}

impl Layer<'_> {
    fn run(mut self, terms: &[Term]) -> Sums {
        for term in terms {
            let own = self.looked_at(&term.found);
            self.alone(term, &own);
            self.in_sessions(term, &own);
            if !term.is_name {
                self.cover(term, &own);
                self.soften(term, &own);
            }
        }
        let Self { scope: CorpusScope { corpus, .. }, scratch, mut sums, .. } = self;
        scratch.session_bm25.drain(|file, value| sums.sessions.push((file, value)));
        scratch.session_cover.drain(|file, value| sums.session_cover.push((file, value)));
        scratch.telling.drain(|slot, value| sums.telling.push((slot, value)));
        scratch.own.drain(|slot, value| {
            sums.own.push((slot, value));
            if let Some(after) = corpus.turn_beside(slot, 1)
                && corpus.shape(slot).has(Shape::QUESTION)
            {
                sums.answers.push((after, value));
            }
        });
        sums
    }

    /// Those of a term's blocks in this layer that are turns, or of the other notes.
    fn looked_at(&self, found: &TermBlocks) -> Vec<Occurrence> {
        let corpus = self.scope.corpus;
        let own = found.within(&corpus.segs[self.at].slots());
        own.iter().filter(|block| block.is_turn || self.is_other[block.note as usize]).copied().collect()
    }

    /// BM25 of the block; of turns it speaks for the answer, too.
    fn alone(&mut self, of: &Term, blocks: &[Occurrence]) {
        let CorpusScope { corpus, candidates, .. } = self.scope;
        let LayerScratch { own, telling, .. } = &mut *self.scratch;
        for block in blocks {
            let length = f32::from(corpus.meta(block.slot).length);
            let gain = of.rarity * saturated(block.tf(), length, candidates.mean_length, B);
            own.add(block.slot, gain);
            telling.add(block.slot, of.tells * gain);
        }
    }

    /// BM25 of whole notes, and how many of the terms they have.
    fn in_sessions(&mut self, of: &Term, blocks: &[Occurrence]) {
        let CorpusScope { corpus, candidates, .. } = self.scope;
        let LayerScratch { session, session_bm25, session_cover, .. } = &mut *self.scratch;
        blocks.iter().for_each(|block| session.add(block.note, block.tf()));
        session.drain(|file, tf| {
            let length = count(corpus.note(file).row.terms as usize);
            let gain = of.session_rarity * saturated(tf, length, candidates.mean_session, B);
            session_bm25.add(file, gain);
            if !of.is_name {
                session_cover.add(file, of.rarity);
            }
        });
    }

    /// Adds up the coverage of the term: in the block, in the turns around as far as they may answer, and in the
    /// region.
    fn cover(&mut self, of: &Term, blocks: &[Occurrence]) {
        let corpus = self.scope.corpus;
        let (term, sums) = (&mut self.scratch.term, &mut self.sums);
        let reach = if of.is_rather_common { 0 } else { REGION };
        for block in blocks {
            if block.is_turn {
                for (at, distance) in corpus.turns_around(block.slot, reach) {
                    #[expect(clippy::cast_precision_loss, reason = "at most 6")]
                    term.raise(at, 1.0 - distance.abs() as f32 / 8.0);
                }
            } else {
                sums.region.push((block.slot, of.rarity));
            }
        }
        term.drain(|slot, value| sums.region.push((slot, of.rarity * value)));
    }

    /// The term and its near words: the best match in the block counts, and in the turns around.
    fn soften(&mut self, of: &Term, blocks: &[Occurrence]) {
        let corpus = self.scope.corpus;
        blocks.iter().for_each(|block| self.scratch.term.raise(block.slot, 1.0));
        for (near, value) in &of.near {
            self.looked_at(near).iter().for_each(|block| self.scratch.term.raise(block.slot, *value));
        }
        let (term, telling) = (&mut self.scratch.term, &mut self.sums.soft_telling);
        let reach = if of.is_soft_alone { 0 } else { AROUND.len() as u32 / 2 };
        let mut turns = Values::new();
        term.drain(|slot, value| {
            if corpus.is_turn(slot) {
                turns.push((slot, value));
            } else {
                telling.push((slot, of.tells * of.soft_rarity * value));
            }
        });
        for (slot, value) in &turns {
            for (at, distance) in corpus.turns_around(*slot, reach) {
                // The turn with the word stands this far before the one for which it counts.
                let (_, weight) = AROUND.iter().find(|(offset, _)| *offset == -distance).unwrap_or(&(0, 0.0));
                term.raise(at, weight * value);
            }
        }
        term.drain(|slot, value| {
            telling.push((slot, of.tells * of.soft_rarity * value));
        });
    }
}

/// The wholes that the sums are divided by: the rarities of all terms; of those that are no speaker's name; of all
/// terms, near ones and all; and the best window's and note's.
#[derive(Default)]
struct Wholes {
    all: f32,
    without_names: f32,
    own: f32,
    telling: f32,
    soft_telling: f32,
    session: f32,
}

impl Wholes {
    fn new(terms: &[Term], sums: &[Sums]) -> Self {
        let mut this = Self::default();
        for term in terms {
            let rarity = if term.found.blocks.is_empty() { 0.0 } else { term.rarity };
            this.all += rarity;
            if !term.is_name {
                this.without_names += rarity;
                this.soft_telling += term.tells * term.soft_rarity;
            }
        }
        let most = |values: fn(&Sums) -> &Values| {
            let most = sums.iter().flat_map(values).map(|(_, value)| *value).fold(0.0, f32::max);
            if most > 0.0 { most } else { 1.0 }
        };
        this.own = most(|sums| &sums.own);
        this.telling = most(|sums| &sums.telling);
        this.session = most(|sums| &sums.sessions);
        this
    }
}

impl Sums {
    /// Hands all sums over as shares of their wholes.
    fn hand_over(
        self,
        scope: CorpusScope<'_>,
        wholes: &Wholes,
        scratch: &mut LayerScratch,
        scores: &mut Scores<'_>,
        answers: &mut Values,
    ) {
        let CorpusScope { corpus, candidates, .. } = scope;
        // If there are many blocks, only those with a word get the score of their whole note.
        let touched = (candidates.count > MANY).then(|| {
            self.soft_telling.iter().chain(&self.own).for_each(|(slot, _)| scratch.term.raise(*slot, 1.0));
            let mut touched: Vec<u32> = Vec::with_capacity(self.soft_telling.len());
            scratch.term.drain(|slot, _| touched.push(slot));
            touched
        });
        let mut add = |signal: Signal, values: Values, whole: f32| {
            values.into_iter().for_each(|(slot, value)| scores.add(signal, slot, value / whole));
        };
        add(Signal::Region, self.region, wholes.without_names);
        add(Signal::OwnTop, self.own, wholes.own);
        add(Signal::TellingTop, self.telling, wholes.telling);
        add(Signal::SoftTelling, self.soft_telling, wholes.soft_telling.max(f32::MIN_POSITIVE));
        let mut per_session = |signal: Signal, values: Values, whole: f32| {
            let Some(touched) = &touched else {
                for (file, value) in values {
                    let slots = corpus.note(file).slots;
                    slots.for_each(|slot| scores.add(signal, slot, value / whole));
                }
                return;
            };
            values.into_iter().for_each(|(file, value)| scratch.session.add(file, value));
            for slot in touched {
                let value = scratch.session.get(corpus.meta(*slot).file);
                if value > 0.0 {
                    scores.add(signal, *slot, value / whole);
                }
            }
            scratch.session.clear();
        };
        per_session(Signal::SessionTop, self.sessions, wholes.session);
        per_session(Signal::CoverSession, self.session_cover, wholes.without_names);
        let best = wholes.all * (K1 + 1.0);
        answers.extend(self.answers.into_iter().map(|(slot, value)| (slot, value / best)));
    }
}

/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
pub(in crate::search) const MOST_IDF: f32 = 5.5;
/// The least number of blocks for the rarity of a word. A smaller scope counts as if further blocks without the word
/// filled it up.
pub(in crate::search) const FEW: f32 = 400.0;

/// A term with its blocks and its statistics in the whole scope.
#[derive(Debug)]
pub(in crate::search) struct Term {
    pub is_name: bool,
    /// The blocks that have it.
    pub found: Arc<TermBlocks>,
    pub rarity: f32,
    /// The weight of its word in any text.
    pub tells: f32,
    pub is_rather_common: bool,
    /// The blocks of each near word, and what it counts; none that stands everywhere, which tells nothing, and costs
    /// the most.
    pub near: Vec<(Arc<TermBlocks>, f32)>,
    pub soft_rarity: f32,
    /// Its rarity among notes.
    pub session_rarity: f32,
    /// Whether it and its near words stand for the block alone.
    pub is_soft_alone: bool,
}

impl Term {
    /// A term without variants, because it is a name.
    pub fn new(scope: CorpusScope<'_>, term: &QueryTerm, is_name: bool) -> Self {
        let found = scope.of_question(term);
        let near = term.near.iter().filter(|_| !is_name);
        let near = near.map(|(word, likeness)| (scope.of(word), NEAR_WORD * likeness));
        let near: Vec<_> = near.filter(|(found, _)| !scope.is_common(found.blocks.len(), COMMON)).collect();
        let blocks = found.blocks.len();
        let soft_blocks = blocks + near.iter().map(|(found, _)| found.blocks.len()).sum::<usize>();
        let (all, notes) = (count(scope.candidates.count), count(scope.candidates.notes.len()));
        Self {
            is_name,
            rarity: idf(count(blocks), all),
            tells: BuiltinTable::builtin().weight(&term.word),
            is_rather_common: scope.is_common(blocks, RATHER_COMMON),
            soft_rarity: idf(count(blocks), all.max(FEW)).min(MOST_IDF),
            session_rarity: idf(count(found.notes), notes),
            is_soft_alone: scope.is_common(soft_blocks, COMMON),
            found,
            near,
        }
    }
}
