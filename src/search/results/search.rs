//! Answers a query ([`Recall::search`]) with one list of hits, from notes and from turns of conversations; [`Ranker`]
//! ranks both for one question. `merge` puts them in one order.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use roaring::RoaringBitmap;

use crate::memory::working::expired;
use crate::search::analyze::Analyzer;
use crate::search::parallel::sharing;
use crate::search::query::strip_phrases::strip_phrases;
use crate::search::query::{
    Filter, Item, LONGEST, LONGEST_QUERY, MOST_HITS, Question, SearchScope, Syntax, beginning,
    is_phrases_alone, syntax,
};
use crate::search::rank::turn_signals::{Candidates, RankingInput, Scores, Vectors};
use crate::search::rank::{ExpandedWord, Measured, NoteRanking, RankedNote, expand_words, measures};
use crate::search::recall::{CorpusState, QuestionVector, Recall};
use crate::search::results::merge::{find_typed_words, in_one, list_by_tier, merge, missing};
use crate::search::results::{find_block, outdated_facts};
use crate::search::retrieve::{
    Bounds, CorpusScope, Filters, MANY, Nearest, Occurrences, WordMatcher, correct_typos, matchers,
    nearest_blocks,
};
use crate::search::store::FileRow;
use crate::search::weights::weights;
use crate::search::{Answer, FoundBlock, Freshness, Kind, Query, Result, Role, Snapshot};
use crate::vault::NotePath;

/// A scope's best blocks.
#[derive(Debug, Default)]
pub(in crate::search) struct Ranking {
    /// The slots and their scores, best first.
    pub best: Vec<(u32, f64)>,
    /// The measures that each one's confidence is computed from.
    pub measures: Vec<Measured>,
    /// Warnings for a person.
    pub notes: Vec<String>,
    /// The percentage that the settings' model has embedded.
    pub embedded: Option<u8>,
}

/// Found blocks, notes for a person, and the percentage that the settings' model has embedded.
type Best = (Vec<FoundBlock>, Vec<String>, Option<u8>);

impl Recall {
    /// Answers a query by words and meaning, in a place of the vault and in scopes of memories (`global`, `project:ID`,
    /// …). Filters and exclusions restrict the candidates of every query and don't change their ranking. A query with
    /// phrases or prefixes is answered by the index alone, because its writer wants exactly these words. In a question
    /// (it ends with `?`) these are words like the others.
    ///
    /// # Errors
    /// The index's; a model that fails is a note in the answer.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        let within = SearchScope::of(query.scope.as_deref());
        let limit = query.limit.min(MOST_HITS);
        let place = Query { scope: within.place.clone(), limit, ..query.clone() };
        let mut syntax = syntax_of(beginning(&query.text, LONGEST_QUERY));
        let text = if syntax.is_filtered() { words_of(&syntax, &query.text) } else { query.text.clone() };
        // Of words that ranking leaves out, the index knows more.
        let is_ranked = limit > 0
            && !has_beginnings(&syntax.items)
            && !syntax.filters.contains(&(Filter::Role(Role::Tool), false))
            && syntax.phrases().all(|phrase| !Question::new(phrase, self.today()).terms.is_empty());
        if query.text.len() > LONGEST_QUERY || text.len() > LONGEST {
            syntax.notes.push(format!(
                "it is very long: only its first {LONGEST} bytes are ranked, and operators in the first {LONGEST_QUERY} hold"
            ));
        }
        let question =
            is_ranked.then(|| Question::new(&text, self.today())).filter(|it| !it.terms.is_empty());
        let mut answer = match &question {
            None => self.index.answer(&|_| true, |snapshot| {
                let (found, notes) = snapshot.find(&place, &within, limit)?;
                answer(snapshot, &place, (found, notes, None))
            })?,
            Some(question) => self.answer(&|_| true, |snapshot, state| {
                let best = self.best(snapshot, state, &place, &syntax, &within, question.clone())?;
                answer(snapshot, &place, best)
            })?,
        };
        if let Some((working, expired)) = self.expired() {
            outdated_facts::demote_expired(&mut answer.hits, working.as_str(), expired, self.zone());
        }
        Ok(answer)
    }

    /// The note of working memory and when it expired, if it has. The index can't know: no file changes by it.
    pub(super) fn expired(&self) -> Option<(NotePath, Timestamp)> {
        expired(self.index.vault(), &self.settings, self.now())
    }

    /// By words and meaning.
    fn best(
        &self,
        snapshot: &Snapshot<'_>,
        state: &CorpusState,
        place: &Query,
        syntax: &Syntax,
        within: &SearchScope,
        question: Question,
    ) -> Result<Best> {
        let zone = &snapshot.options.zone;
        let filters = Filters::new(&snapshot.corpus, zone, &[], &within.scopes, syntax)?;
        let candidates = &*candidates(state, &snapshot.scope(place.scope.as_deref())?);
        if candidates.count == 0 {
            return Ok((Vec::new(), syntax.notes.clone(), None));
        }
        let scope = CorpusScope { corpus: &state.corpus, candidates, occurrences: &Occurrences::default() };
        // A text with a phrase has all its words, however many they are.
        let is_strict = place.exact || syntax.phrases().next().is_some();
        // Words of other projects' memories are not revealed.
        let own = filters.allowed.as_ref().filter(|_| !within.scopes.is_empty());
        let typed = find_typed_words(scope, &question, is_strict, own)?;
        let ranker = Ranker::new(self, state, scope, question, own);
        let most = if filters.needs_text() { usize::MAX } else { place.limit };
        let bounds = Bounds { typed: typed.first(), allowed: filters.allowed.as_ref() };
        let mut notes = Vec::new();
        if candidates.has_notes {
            notes = sharing(candidates.count, || {
                ranker.notes(&expand_words(scope, &ranker.question, false), bounds, most)
            });
        }
        let mut in_notes = list_by_tier(snapshot, &notes, place.limit, &typed, &filters)?;
        let mut turns = Vec::new();
        if candidates.has_turns {
            let scores = in_notes.iter_mut().map(|found| (found.slot, &mut found.score));
            for ranked in ranker.turns(bounds, most.min(MOST_HITS), scores) {
                if turns.len() < place.limit
                    && let Some(found) = find_block(snapshot, ranked, &filters)?
                    && found.block.kind == Kind::Turn
                {
                    turns.push(FoundBlock { is_alike: typed.is_alike(ranked.0), ..found });
                }
            }
        }
        let mut found = merge(turns, in_notes, typed.is_strict, place.limit);
        found.retain(|found| !(place.exact && found.is_alike));
        let mut notes: Vec<String> = syntax.notes.iter().chain(&ranker.vector.warning).cloned().collect();
        notes.extend(missing(&typed, &ranker.question, found.iter().any(|found| found.is_alike)));
        Ok((found, notes, ranker.vector.embedded))
    }

    fn today(&self) -> jiff::civil::Date {
        self.now().to_zoned(self.zone().clone()).date()
    }

    /// The flags, by a note's number, of the notes whose blocks are documents of their own.
    fn lists<'s>(&self, state: &'s CorpusState) -> &'s [bool] {
        state.lists.get_or_init(|| {
            let options = self.index.options();
            (0..)
                .take(state.corpus.note_count())
                .map(|note| options.is_list(&state.corpus.note(note).row.path))
                .collect()
        })
    }

    /// Ranks the `allowed` blocks of a place, given as prefixes of paths; without a place, blocks that may be given
    /// unasked. Sessions of coding agents may not, because their turns could leave no room for others. The words of the
    /// blocks in `own` alone correct the text, if it is given.
    pub(in crate::search) fn rank(
        &self,
        state: &CorpusState,
        text: &str,
        prefixes: &[String],
        allowed: Option<&RoaringBitmap>,
        own: Option<&RoaringBitmap>,
        most: usize,
    ) -> Ranking {
        let candidates = if prefixes.is_empty() {
            let sessions = self.settings.paths.sessions();
            let some = || Arc::new(Candidates::new(&state.corpus, |path| !path.starts_with(&sessions)));
            Arc::clone(state.unasked.get_or_init(some))
        } else {
            candidates(state, prefixes)
        };
        let candidates = &*candidates;
        let question = Question::new(text, self.today());
        if is_phrases_alone(text) || question.words.is_empty() || most == 0 || candidates.count == 0 {
            return Ranking::default();
        }
        let scope = CorpusScope { corpus: &state.corpus, candidates, occurrences: &Occurrences::default() };
        let ranker = Ranker::new(self, state, scope, question, own);
        let (expanded, best) = sharing(candidates.count, || {
            let expanded = expand_words(scope, &ranker.question, candidates.has_turns);
            let best = ranker.best(&expanded, Bounds { typed: None, allowed }, most);
            (expanded, best)
        });
        let slots: Vec<u32> = best.iter().map(|(slot, _)| *slot).collect();
        let Ranker { scope, question, vector, .. } = &ranker;
        let builtin = self.builtin_probe(&question.text, state, candidates);
        let vectors = builtin.as_ref().map(|probe| Vectors { matrix: None, probe });
        let measures = measures(*scope, question, &expanded, vectors, self.lists(state), &slots);
        let notes = vector.warning.iter().cloned().collect();
        Ranking { best, measures, notes, embedded: vector.embedded }
    }
}

/// The answer with found blocks, and the files that it rests on. That nothing was found is said of what was searched.
fn answer(
    snapshot: &Snapshot<'_>,
    query: &Query,
    (found, notes, embedded_percent): Best,
) -> Result<(Answer, Option<Vec<FileRow>>)> {
    let (hits, bases) = snapshot.give(&query.text, found)?;
    let freshness = Freshness { embedded_percent, ..snapshot.freshness.clone() };
    let mut answer = Answer { query: query.text.clone(), hits, notes, freshness, reranked: None };
    if answer.hits.is_empty() && query.limit > 0 {
        let (count, words) = snapshot.not_searched(query.scope.as_deref())?;
        answer.freshness.not_searched = count;
        answer.notes.extend(words);
    }
    Ok((answer, Some(bases)))
}

/// The operators of a query. Polite phrases around a question don't make it less of a question.
pub(in crate::search) fn syntax_of(text: &str) -> Syntax {
    let asks = syntax::is_question(text) || syntax::is_question(&strip_phrases(text));
    if asks { syntax::question(text) } else { syntax::parse(text) }
}

/// Whether a prefix was typed, or nothing but lone characters of a script without spaces, which begin words, too.
fn has_beginnings(items: &[Item]) -> bool {
    let mut analyzer = Analyzer::default();
    let mut begins = |item: &Item| {
        let words = matchers(&mut analyzer, item);
        !words.is_empty() && words.iter().all(|word| matches!(word, WordMatcher::Prefix(_)))
    };
    let is_bound = |item: &&Item| !matches!(item, Item::Words(_));
    items.iter().filter(is_bound).any(&mut begins) || !items.is_empty() && items.iter().all(begins)
}

/// The words of `text` without its filters, which `syntax` has.
pub(in crate::search) fn words_of(syntax: &Syntax, text: &str) -> String {
    let words: Vec<&str> = syntax.items.iter().map(Item::text).collect();
    words.join(" ") + if text.trim_end().ends_with('?') { "?" } else { "" }
}

/// The blocks that may answer: all, or those of paths that begin so.
fn candidates(state: &CorpusState, prefixes: &[String]) -> Arc<Candidates> {
    if prefixes.is_empty() {
        return Arc::clone(state.all.get_or_init(|| Arc::new(Candidates::new(&state.corpus, |_| true))));
    }
    Arc::new(Candidates::new(&state.corpus, |path| is_in(prefixes, path)))
}

/// Whether a path is in a scope: it begins with one of its prefixes, if it has some.
pub(super) fn is_in(prefixes: &[String], path: &str) -> bool {
    prefixes.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()))
}

/// Ranks the blocks that may answer one question.
pub(super) struct Ranker<'a> {
    recall: &'a Recall,
    state: &'a CorpusState,
    pub scope: CorpusScope<'a>,
    /// As it was meant: without typing errors.
    pub question: Question,
    pub vector: QuestionVector,
    /// The blocks nearest to it, once they were searched.
    nearest: OnceLock<Nearest>,
}

impl<'a> Ranker<'a> {
    /// The words of the blocks in `own` alone correct the question, if it is given.
    pub fn new(
        recall: &'a Recall,
        state: &'a CorpusState,
        scope: CorpusScope<'a>,
        question: Question,
        own: Option<&RoaringBitmap>,
    ) -> Self {
        let question = correct_typos(question, scope, own, recall.today());
        let vector = recall.ask(&question.text, state, scope.candidates);
        Self { recall, state, scope, question, vector, nearest: OnceLock::new() }
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
        let (question, table) = (&self.question, self.recall.table());
        NoteRanking { scope, question, vectors, table, nearest, lists, expanded, bounds, most }.rank()
    }

    /// The best blocks of notes and conversations in one order: of notes the best block of each, then further ones.
    pub fn best(&self, expanded: &[ExpandedWord], bounds: Bounds<'_>, most: usize) -> Vec<(u32, f64)> {
        let CorpusScope { corpus, candidates, .. } = self.scope;
        let (mut notes, mut further) = (Vec::new(), Vec::new());
        if candidates.has_notes {
            for note in self.notes(expanded, bounds, most) {
                let mut blocks = note.blocks.into_iter();
                notes.extend(blocks.next().map(|(slot, _)| (slot, f64::from(note.score))));
                further.extend(blocks.map(|(slot, own)| (slot, f64::from(own))));
            }
            if notes.len() < most {
                further.sort_by(|a, b| b.1.total_cmp(&a.1));
                notes.append(&mut further);
            }
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
        &self,
        bounds: Bounds<'_>,
        most: usize,
        others: impl Iterator<Item = (u32, &'o mut f64)>,
    ) -> Vec<(u32, f64)> {
        let corpus = self.scope.corpus;
        let is_builtin = self.vector.is_builtin && self.recall.table().is_builtin();
        let mut others: Vec<(u32, &mut f64)> = others.collect();
        let mut notes: Vec<u32> = others.iter().map(|(slot, _)| corpus.meta(*slot).file).collect();
        notes.sort_unstable();
        let mut scores = Scores::new(weights(&self.question), is_builtin, corpus.len());
        let input = RankingInput {
            scope: self.scope,
            question: &self.question,
            vectors: self.vectors(),
            nearest: self.nearest.get(),
            others: &notes,
            zone: self.recall.zone(),
        };
        input.compute(&mut scores);
        let best = scores.best(self.scope, bounds, most).into_iter();
        let best = best.map(|slot| (slot, f64::from(scores.of(slot)))).collect();
        others.iter_mut().for_each(|(slot, score)| **score = f64::from(scores.of(*slot)));
        best
    }
}
