//! What is asked for ([`Recall::search`]): the ranking's finds and the index's, in one order.

use std::collections::{HashMap, HashSet};

use super::cores::both;
use super::engine::{Recall, RecallError, State};
use super::finder::{self, Find};
use super::question::Question;
use super::score::{self, Candidates, Near, Scores, Vectors};
use super::signal::{NEAR, NEAR_SPREADS, weights};
use super::within::Within;
use crate::index::syntax::{self, Item};
use crate::index::{Answer, Found, Hit, IndexError, Kind, Query, Snapshot, scope_prefixes};

/// Nobody needs more hits in one answer.
pub(super) const MOST_HITS: usize = 10_000;
/// Of a corpus with more slots than this, room is kept between questions (16 bytes a slot) by [`Recall::keeping_room`]
/// alone.
const MOST_KEPT: usize = 1 << 20;
/// Of more blocks than this, the ranking's finds and the index's are looked for at the same time.
const ONE_CORE: usize = 1_000_000;
/// So many finds by words stand against the ranking's at least.
const LEAST_BY_WORDS: usize = 50;

/// A block and how it ranks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub slot: u32,
    pub score: f64,
    pub sure: f64,
}

/// A scope's best blocks.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    /// Best first.
    pub best: Vec<Ranked>,
    /// Whether blocks other than turns are among the candidates.
    pub has_notes: bool,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Searches as [`Recall::search`] does.
///
/// # Errors
/// The index's.
pub fn search(recall: &Recall, query: &Query) -> Result<Answer, RecallError> {
    recall.search(query)
}

impl Recall {
    /// Answers a query by words and meaning, in a place of the vault and in scopes of memories (`global`,
    /// `project:ID`, …). A query with operators (phrases, filters, exclusions) is the index's alone: who writes one
    /// wants exactly that. A question (it ends with `?`) has none.
    ///
    /// # Errors
    /// The index's; a model that fails is a note in the answer.
    pub fn search(&self, query: &Query) -> Result<Answer, RecallError> {
        let within = Within::of(query.scope.as_deref());
        let place = Query { scope: within.place.clone(), ..query.clone() };
        let syntax = syntax::parse(crate::embed::cut(&query.text, super::question::LONGEST));
        let operators = syntax::Syntax { items: Vec::new(), notes: Vec::new(), ..syntax.clone() }
            != syntax::Syntax::default()
            || syntax.items.iter().any(|item| !matches!(item, Item::Words(_)));
        // A question in words may quote a title; what looks like an operator in it is none.
        let is_question = query.text.trim_end().ends_with('?') && query.text.split_whitespace().count() > 2;
        let is_exact = syntax.items.is_empty() || query.limit == 0 || (operators && !is_question);
        let limit = query.limit.min(MOST_HITS);
        let ((hits, notes), freshness) = if is_exact {
            self.index.answer(|snapshot| {
                let (found, notes) = finder::by_words(snapshot, &place, &within, limit, within.most(limit))?;
                give(snapshot, &query.text, found, notes)
            })?
        } else {
            let notes = if is_question { Vec::new() } else { syntax.notes };
            self.in_step(|snapshot, state| self.best(snapshot, state, &place, &within, limit, notes.clone()))?
        };
        Ok(Answer { query: query.text.clone(), hits, notes, freshness })
    }

    fn best(
        &self,
        snapshot: &Snapshot<'_>,
        state: &State,
        place: &Query,
        within: &Within,
        limit: usize,
        mut notes: Vec<String>,
    ) -> Result<Given, IndexError> {
        let words = |snapshot: &Snapshot<'_>| {
            finder::by_words(snapshot, place, within, limit.max(LEAST_BY_WORDS), within.most(limit))
        };
        let rank = || self.rank(state, &place.text, place.scope.as_deref(), within.most(limit));
        let beside = if state.corpus.blocks() > ONE_CORE { snapshot.fork()? } else { None };
        let pays = beside.is_some();
        let (by_words, ranking) = both(pays, || beside.map(|beside| words(&beside)), rank);
        notes.extend(ranking.notes);
        let found = finder::of_slots(snapshot, state, ranking.best, limit, |block| within.has(&block.tags))?;
        // What stands in notes is the index's to rank by words; meaning adds what it did not find.
        let found = if ranking.has_notes || !within.scopes.is_empty() {
            let (by_words, _) = by_words.unwrap_or_else(|| words(snapshot))?;
            merge(found, by_words, limit)
        } else {
            found.into_iter().map(|find| find.found).collect()
        };
        give(snapshot, &place.text, found, notes)
    }

    /// Ranks a scope's blocks.
    pub(super) fn rank(&self, state: &State, text: &str, scope: Option<&str>, most: usize) -> Ranking {
        let mut notes = Vec::new();
        let today = self.clock.now().to_zoned(self.zone.clone()).date();
        let question = Question::new(text, today);
        let corpus = &state.corpus;
        if question.words.is_empty() || most == 0 {
            return Ranking { notes, ..Ranking::default() };
        }
        let prefixes = match scope.map(|scope| scope_prefixes(scope, self.index.options())) {
            Some(Ok(prefixes)) => prefixes,
            Some(Err(note)) => {
                notes.push(note);
                Vec::new()
            }
            None => Vec::new(),
        };
        let inside = |path: &str| {
            prefixes.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()))
        };
        let own;
        let candidates = if prefixes.is_empty() {
            state.all.get_or_init(|| Candidates::new(corpus, |_| true))
        } else {
            own = Candidates::new(corpus, inside);
            &own
        };
        if candidates.count == 0 {
            return Ranking { notes, ..Ranking::default() };
        }
        let asked = self.ask(&question.text, state, candidates);
        notes.extend(asked.warning);
        let matrix = state.model.as_ref().filter(|_| !asked.is_builtin).map(|(_, matrix)| matrix);
        let vectors = asked.probe.as_ref().map(|probe| Vectors { matrix, probe });
        let near = if asked.is_builtin { Near::Cosine(NEAR) } else { Near::Spreads(NEAR_SPREADS) };
        let mut work = self.work().take().unwrap_or_default();
        let mut scores = Scores::with(weights(&question), near, corpus.len(), &mut work);
        score::signals(corpus, candidates, &question, vectors, &self.zone, &mut work, &mut scores);
        let best = scores.best(corpus, candidates, most);
        let ranked =
            |slot: u32| Ranked { slot, score: f64::from(scores.of(slot)), sure: scores.sureness(slot) };
        let best = best.into_iter().map(ranked).collect();
        scores.into(&mut work);
        *self.work() = Some(work).filter(|_| self.keeps_room || corpus.len() <= MOST_KEPT);
        Ranking { best, has_notes: candidates.has_notes, notes }
    }
}

/// Hits with notes for a person, and the files that they rest on.
type Given = ((Vec<Hit>, Vec<String>), Option<Vec<crate::index::Basis>>);

fn give(
    snapshot: &Snapshot<'_>,
    text: &str,
    found: Vec<Found>,
    notes: Vec<String>,
) -> Result<Given, IndexError> {
    let (hits, bases) = snapshot.give(text, found)?;
    Ok(((hits, notes), Some(bases)))
}

/// Merges what the ranking found with what the index found by words. Turns keep the ranking's order, other
/// blocks the index's; where both go on, the better score by the ranking's measure is next.
fn merge(ranked: Vec<Find>, by_words: Vec<Found>, limit: usize) -> Vec<Found> {
    let place = |found: &Found| (found.file.path.clone(), found.block.line);
    let known: HashMap<(String, u32), f64> =
        ranked.iter().map(|find| (place(&find.found), find.ranked.score)).collect();
    let lowest = ranked.iter().map(|find| find.ranked.score).reduce(f64::min).unwrap_or(0.0);
    let mut words: Vec<(Found, f64)> = by_words
        .into_iter()
        .filter(|found| found.block.kind != Kind::Turn)
        .map(|found| {
            let score = known.get(&place(&found)).copied().unwrap_or(lowest);
            (found, score)
        })
        .collect();
    // The index's order stands: nothing scores less than what comes after it.
    let mut most = f64::MIN;
    for (_, score) in words.iter_mut().rev() {
        most = most.max(*score);
        *score = most;
    }
    let found: HashSet<(String, u32)> = words.iter().map(|(found, _)| place(found)).collect();
    let mut turns: Vec<(Found, f64)> = Vec::new();
    let mut meant: Vec<(Found, f64)> = Vec::new();
    for find in ranked {
        if find.found.block.kind == Kind::Turn {
            turns.push((find.found, find.ranked.score));
        } else if !found.contains(&place(&find.found)) {
            meant.push((find.found, find.ranked.score));
        }
    }
    // What only meaning found comes after what words found, among the notes.
    let floor = words.last().map_or(f64::MAX, |(_, score)| *score);
    words.extend(meant.into_iter().map(|(found, score)| (found, score.min(floor))));
    let (mut turns, mut words) = (turns.into_iter().peekable(), words.into_iter().peekable());
    let mut out = Vec::with_capacity(limit);
    while out.len() < limit {
        let next = match (turns.peek(), words.peek()) {
            (Some((_, a)), Some((_, b))) if a >= b => turns.next(),
            (Some(_), None) => turns.next(),
            (_, Some(_)) => words.next(),
            (None, None) => break,
        };
        out.extend(next.map(|(found, score)| Found { score, ..found }));
    }
    out
}
