//! Answers a query ([`Recall::search`]) with one list of hits, from notes and from turns of conversations.
//!
//! `tiers` puts blocks with a typed word before those without it; `merge` merges the ranked blocks of notes and turns.

mod merge;
mod tiers;

use std::cell::{Cell, OnceCell};

use jiff::Timestamp;
use roaring::RoaringBitmap;

use crate::memory::working::expired;
use crate::search::give::ranked::{Ranked, Ranking};
use crate::search::give::{finder, past};
use crate::search::query::dressed::{is_dress_alone, undressed};
use crate::search::query::question::Question;
use crate::search::query::syntax;
use crate::search::query::syntax::{Item, Syntax};
use crate::search::query::within::{MOST_HITS, Within};
use crate::search::rank::notes::{Answering, Notes};
use crate::search::rank::signal::weights;
use crate::search::rank::signals::{Candidates, Near, Scores, Vectors};
use crate::search::rank::sought::{Sought, sought};
use crate::search::rank::{gate, signals, sure};
use crate::search::recall::{QuestionVector, Recall, RecallError, State};
use crate::search::retrieve::candidates::MANY;
use crate::search::retrieve::mended::mended;
use crate::search::retrieve::nearest;
use crate::search::retrieve::scope::Scope;
use crate::search::retrieve::typed::typed;
use crate::search::store::corpus::neighbours::is_said;
use crate::search::weights::{NEAR, NEAR_SPREADS};
use crate::search::{Answer, Block, Found, Hit, IndexError, Kind, Query, Snapshot};
use crate::vault::NotePath;
use merge::{in_one, merge, spread};
use tiers::{Tiers, missing};

/// Of a corpus with more slots than this, room is kept between questions (16 bytes a slot) by a [resident](Recall::resident) one
/// alone.
const MOST_KEPT: usize = 1 << 20;

/// Searches as [`Recall::search`] does.
///
/// # Errors
/// The index's.
pub fn search(recall: &Recall, query: &Query) -> Result<Answer, RecallError> {
    recall.search(query)
}

impl Recall {
    /// Answers a query by words and meaning, in a place of the vault and in scopes of memories (`global`,
    /// `project:ID`, …). Filters and exclusions narrow what may answer, whatever the query's form, and change nothing in
    /// how it is ranked. A query with phrases or prefixes is the index's alone: who writes one wants exactly
    /// that. In a question (it ends with `?`) these are words like the others.
    ///
    /// # Errors
    /// The index's; a model that fails is a note in the answer.
    pub fn search(&self, query: &Query) -> Result<Answer, RecallError> {
        let within = Within::of(query.scope.as_deref());
        let place = Query { scope: within.place.clone(), ..query.clone() };
        let text = crate::embed::cut(&query.text, crate::search::query::question::LONGEST);
        let syntax = syntax_of(text);
        let is_words = syntax.items.iter().all(|item| matches!(item, Item::Words(_)));
        let limit = query.limit.min(MOST_HITS);
        let (embedded, unread) = (Cell::new(None), Cell::new(0));
        // That nothing was found is said of what was searched.
        let whole = |snapshot: &Snapshot<'_>, mut given: Given| {
            if given.0.0.is_empty() && limit > 0 {
                let (count, words) = snapshot.not_searched(place.scope.as_deref())?;
                unread.set(count);
                given.0.1.extend(words);
            }
            Ok(given)
        };
        let by_words = |snapshot: &Snapshot<'_>| {
            let (found, notes) = finder::by_words(snapshot, &place, &within, limit, within.most(limit))?;
            whole(snapshot, give(snapshot, &query.text, found, notes)?)
        };
        let ((mut hits, notes), mut freshness) = if syntax.items.is_empty() || !is_words || query.limit == 0 {
            self.index.answer(by_words)?
        } else {
            self.answer(|snapshot, state| {
                let wanted = Wanted { place: &place, syntax: &syntax, embedded: &embedded };
                whole(snapshot, self.best(snapshot, state, wanted, &within, limit)?)
            })?
        };
        (freshness.embedded_percent, freshness.not_searched) = (embedded.get(), unread.get());
        if let Some((working, expired)) = self.expired() {
            past::weigh_expired(&mut hits, working.as_str(), expired, &self.zone);
        }
        Ok(Answer { query: query.text.clone(), hits, notes, freshness, reranked: None })
    }

    /// The note of working memory and when it expired, if it has. The index can't know: no file changes by it.
    pub(super) fn expired(&self) -> Option<(NotePath, Timestamp)> {
        expired(self.index.vault(), &self.settings, self.clock.now())
    }

    /// By words and meaning.
    fn best(
        &self,
        snapshot: &Snapshot<'_>,
        state: &State,
        Wanted { place, syntax, embedded }: Wanted<'_>,
        within: &Within,
        limit: usize,
    ) -> Result<Given, IndexError> {
        let own = OnceCell::new();
        let is_filtered = syntax.is_filtered();
        let filters = if is_filtered { Some(snapshot.filters(syntax)?) } else { None };
        let prefixes = snapshot.scope(place.scope.as_deref())?;
        let candidates = candidates(state, &prefixes, &own);
        let text = if is_filtered { words_of(syntax, &place.text) } else { place.text.clone() };
        let scope = Scope { corpus: &state.corpus, candidates };
        let today = self.today();
        let question = Question::new(&text, today);
        if question.words.is_empty() || limit == 0 || candidates.count == 0 {
            return give(snapshot, &place.text, Vec::new(), syntax.notes.clone());
        }
        let typed = typed(scope, &question, place.exact);
        let question = mended(question, scope, today);
        let asked = self.ask(&question.text, state, candidates);
        embedded.set(asked.embedded);
        let most = if is_filtered { usize::MAX } else { within.most(limit) };
        let notes = if candidates.has_notes {
            let sought = sought(scope, &question, false);
            self.notes(state, candidates, &question, &asked, &sought, typed.first(), most)
        } else {
            Vec::new()
        };
        let passes = |at, block: &Block| filters.as_ref().map_or(Ok(true), |filters| filters.pass(at, block));
        let takes = |at, block: &Block| Ok(within.has(&block.tags) && passes(at, block)?);
        let only_word = tiers::without_only_word(&typed);
        let without = only_word.as_ref().map(|syntax| snapshot.filters(syntax)).transpose()?;
        let tiers = Tiers { typed: &typed, without };
        let mut in_notes = spread(snapshot, state, notes, limit, &tiers, takes)?;
        let mut turns = Vec::new();
        if candidates.has_turns {
            let most = most.min(MOST_HITS);
            let scores = in_notes.iter_mut().map(|found| (found.slot, &mut found.found.score));
            let ranking = self.ranked(state, candidates, &question, &asked, typed.first(), most, scores);
            let is_turn = |at, block: &Block| Ok(block.kind == Kind::Turn && takes(at, block)?);
            turns = tiers.of_turns(finder::of_slots(snapshot, state, ranking, limit, is_turn)?);
        }
        let mut found = merge(turns, in_notes, typed.is_strict, limit);
        found.retain(|found| !(place.exact && found.is_alike));
        let mut warnings: Vec<String> = syntax.notes.iter().cloned().chain(asked.warning).collect();
        warnings.extend(missing(&typed, &question, found.iter().any(|found| found.is_alike)));
        give(snapshot, &place.text, found, warnings)
    }

    fn today(&self) -> jiff::civil::Date {
        self.clock.now().to_zoned(self.zone.clone()).date()
    }

    /// Which notes' blocks are documents of their own, by number.
    fn lists<'s>(&self, state: &'s State) -> &'s [bool] {
        state.lists.get_or_init(|| {
            let options = self.index.options();
            state.corpus.files().iter().map(|file| options.is_list(&file.path)).collect()
        })
    }

    /// The notes that answer, best first.
    #[expect(clippy::too_many_arguments, reason = "a question with all that is known of it")]
    fn notes(
        &self,
        state: &State,
        candidates: &Candidates,
        question: &Question,
        asked: &QuestionVector,
        sought: &[Sought],
        typed: Option<&RoaringBitmap>,
        most: usize,
    ) -> Vec<Answering> {
        let corpus = &state.corpus;
        let lists = self.lists(state);
        let scope = Scope { corpus, candidates };
        let vectors = vectors(state, asked);
        let nearest = vectors.filter(|_| candidates.count > MANY);
        let nearest = nearest.map(|vectors| asked.nearest.get_or_init(|| nearest::nearest(scope, vectors)));
        Notes { scope, question, vectors, nearest, lists, sought, typed, most }.rank()
    }

    /// Ranks the blocks of a place, given as prefixes of paths; without a place, those that may be given unasked. What
    /// was said in coding agents' sessions is none of that, and there may be so much of it that it would leave no room.
    pub(in crate::search) fn rank(
        &self,
        state: &State,
        text: &str,
        prefixes: &[String],
        most: usize,
    ) -> Ranking {
        let own = OnceCell::new();
        let sessions = self.settings.paths.sessions();
        let is_one = |path: &str| path.starts_with(&sessions);
        let has_any = || state.corpus.files().iter().any(|file| file.alive && is_one(&file.path));
        let candidates = if prefixes.is_empty() && (state.told.get().is_some() || has_any()) {
            state.told.get_or_init(|| Candidates::new(&state.corpus, |path| !is_one(path)))
        } else {
            candidates(state, prefixes, &own)
        };
        let scope = Scope { corpus: &state.corpus, candidates };
        let today = self.today();
        let question = mended(Question::new(text, today), scope, today);
        if is_dress_alone(text) || question.words.is_empty() || most == 0 || candidates.count == 0 {
            return Ranking::default();
        }
        let asked = self.ask(&question.text, state, candidates);
        let sought = sought(scope, &question, candidates.has_turns);
        let mut best = self.told(state, candidates, &question, &asked, &sought, most);
        let slots: Vec<u32> = best.iter().map(|ranked| ranked.slot).collect();
        let made;
        let builtin = if asked.is_builtin {
            asked.probe.as_ref().filter(|_| self.table.is_builtin())
        } else {
            made = self.builtin_probe(&question.text, state, candidates);
            made.as_ref()
        };
        let vectors = builtin.map(|probe| Vectors { matrix: None, probe });
        let measures = sure::measures(scope, &question, &sought, vectors, self.lists(state), &slots);
        for (ranked, measures) in best.iter_mut().zip(&measures) {
            ranked.sure = gate::as_built(measures);
        }
        Ranking { best, measures, notes: asked.warning.into_iter().collect(), embedded: asked.embedded }
    }

    /// The best blocks of notes and conversations in one order: of notes the best block of each, then further ones.
    fn told(
        &self,
        state: &State,
        candidates: &Candidates,
        question: &Question,
        asked: &QuestionVector,
        sought: &[Sought],
        most: usize,
    ) -> Vec<Ranked> {
        let corpus = &state.corpus;
        let (mut notes, mut further) = (Vec::new(), Vec::new());
        if candidates.has_notes {
            for note in self.notes(state, candidates, question, asked, sought, None, most) {
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
            let scores = notes.iter_mut().map(|(slot, score)| (*slot, score));
            turns = self.ranked(state, candidates, question, asked, None, most, scores);
            turns.retain(|ranked| is_said(corpus, ranked.slot));
        }
        let ranked = |(slot, score)| Ranked { slot, score, sure: 0.0 };
        in_one(turns, notes.into_iter().map(ranked).collect(), |ranked| &mut ranked.score, most)
    }

    /// The `most` best turns, those of `first` before all others, and the scores of `others`.
    #[expect(clippy::too_many_arguments, reason = "a question with all that is known of it")]
    fn ranked<'o>(
        &self,
        state: &State,
        candidates: &Candidates,
        question: &Question,
        asked: &QuestionVector,
        first: Option<&RoaringBitmap>,
        most: usize,
        others: impl Iterator<Item = (u32, &'o mut f64)>,
    ) -> Vec<Ranked> {
        let corpus = &state.corpus;
        let vectors = vectors(state, asked);
        let near = if asked.is_builtin && state.corpus.table.is_builtin() {
            Near::Cosine(NEAR)
        } else {
            Near::Spreads(NEAR_SPREADS)
        };
        let mut others: Vec<(u32, &mut f64)> = others.collect();
        let mut notes: Vec<u32> = others.iter().map(|(slot, _)| corpus.meta(*slot).file).collect();
        notes.sort_unstable();
        let mut work = self.work().take().unwrap_or_default();
        let mut scores = Scores::with(weights(question), near, corpus.len(), &mut work);
        let nearest = asked.nearest.get();
        let prompt = signals::Prompt {
            corpus,
            candidates,
            question,
            vectors,
            nearest,
            others: &notes,
            zone: &self.zone,
        };
        signals::signals(prompt, &mut work, &mut scores);
        let best = scores.best(corpus, candidates, first, most);
        let ranked = |slot: u32| Ranked { slot, score: f64::from(scores.of(slot)), sure: 0.0 };
        let best = best.into_iter().map(ranked).collect();
        others.iter_mut().for_each(|(slot, score)| **score = f64::from(scores.of(*slot)));
        scores.into(&mut work);
        *self.work() = Some(work).filter(|_| self.is_resident || corpus.len() <= MOST_KEPT);
        best
    }
}

/// The query, and its parsed form.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    place: &'a Query,
    syntax: &'a Syntax,
    /// The share that the settings' model has embedded, for the caller.
    embedded: &'a Cell<Option<u8>>,
}

/// The question's vector and those that go with it.
fn vectors<'a>(state: &'a State, asked: &'a QuestionVector) -> Option<Vectors<'a>> {
    let matrix = state.model.as_ref().filter(|_| !asked.is_builtin).map(|(_, matrix)| matrix);
    asked.probe.as_ref().map(|probe| Vectors { matrix, probe })
}

/// What a query says, to be found by words and meaning. What a question is dressed in makes it no less of one.
pub(in crate::search) fn syntax_of(text: &str) -> Syntax {
    let asks = syntax::is_question(text) || syntax::is_question(&undressed(text));
    if asks { syntax::question(text) } else { syntax::parse(text) }
}

/// The words of `text` without its filters, which `syntax` has.
pub(in crate::search) fn words_of(syntax: &Syntax, text: &str) -> String {
    let words: Vec<&str> = syntax.items.iter().map(Item::text).collect();
    words.join(" ") + if text.trim_end().ends_with('?') { "?" } else { "" }
}

/// The blocks that may answer: all, or those of paths that begin so, which are put into `own`.
fn candidates<'s>(state: &'s State, prefixes: &[String], own: &'s OnceCell<Candidates>) -> &'s Candidates {
    let corpus = &state.corpus;
    if prefixes.is_empty() {
        return state.all.get_or_init(|| Candidates::new(corpus, |_| true));
    }
    let inside = |path: &str| prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()));
    own.get_or_init(|| Candidates::new(corpus, inside))
}

/// Hits with notes for a person, and the files that they rest on.
type Given = ((Vec<Hit>, Vec<String>), Option<Vec<crate::search::Basis>>);

fn give(
    snapshot: &Snapshot<'_>,
    text: &str,
    found: Vec<Found>,
    notes: Vec<String>,
) -> Result<Given, IndexError> {
    let (hits, bases) = snapshot.give(text, found)?;
    Ok(((hits, notes), Some(bases)))
}
