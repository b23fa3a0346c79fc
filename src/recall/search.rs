//! What is asked for ([`Recall::search`]): the ranking's finds and the index's, in one order.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::engine::{Recall, RecallError, State};
use super::finder::{self, Find};
use super::question::Question;
use super::score::{self, Candidates, Near, Scores, Vectors};
use super::signal::{NEAR, NEAR_SPREADS, weights};
use super::within::Within;
use crate::index::syntax::{self, Item, Syntax};
use crate::index::{Answer, Block, Found, Hit, IndexError, Kind, Query, Snapshot};

/// Nobody needs more hits in one answer.
pub(super) const MOST_HITS: usize = 10_000;
/// Of a corpus with more slots than this, room is kept between questions (16 bytes a slot) by [`Recall::keeping_room`]
/// alone.
const MOST_KEPT: usize = 1 << 20;
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
        let text = crate::embed::cut(&query.text, super::question::LONGEST);
        // A question in words may quote a title; its filters hold all the same, and it is ranked.
        let is_question = syntax::is_question(text);
        let syntax = if is_question { syntax::question(text) } else { syntax::parse(text) };
        let is_filtered = syntax.is_filtered();
        let is_words = syntax.items.iter().all(|item| matches!(item, Item::Words(_)));
        let is_exact =
            syntax.items.is_empty() || query.limit == 0 || !is_question && (is_filtered || !is_words);
        let limit = query.limit.min(MOST_HITS);
        let ((hits, notes), freshness) = if is_exact {
            self.index.answer(|snapshot| {
                let (found, notes) = finder::by_words(snapshot, &place, &within, limit, within.most(limit))?;
                give(snapshot, &query.text, found, notes)
            })?
        } else {
            self.in_step(
                |snapshot| by_words(snapshot, &place, &within, limit, &syntax.notes),
                |snapshot| {
                    let (found, notes) =
                        finder::by_words(snapshot, &place, &within, limit, within.most(limit))?;
                    give(snapshot, &query.text, found, notes)
                },
                |snapshot, state| {
                    self.best(snapshot, state, Wanted { place: &place, syntax: &syntax }, &within, limit)
                },
            )?
        };
        Ok(Answer { query: query.text.clone(), hits, notes, freshness })
    }

    /// By words and meaning.
    fn best(
        &self,
        snapshot: &Snapshot<'_>,
        state: &State,
        Wanted { place, syntax }: Wanted<'_>,
        within: &Within,
        limit: usize,
    ) -> Result<Given, IndexError> {
        let (corpus, own, mut notes) = (&state.corpus, OnceCell::new(), syntax.notes.clone());
        let is_filtered = syntax.is_filtered();
        let filters = if is_filtered { Some(snapshot.filters(syntax)?) } else { None };
        let prefixes = snapshot.scope(place.scope.as_deref())?;
        let candidates = candidates(state, &prefixes, &own);
        // What stands in notes is the index's to rank by words; meaning adds what it did not find.
        let by_words = if candidates.has_notes || is_filtered || !within.scopes.is_empty() {
            // Where turns or other scopes' memories are found, too, some more leave enough.
            let is_all = !candidates.has_turns && within.scopes.is_empty();
            let most = if is_all { limit } else { limit.max(LEAST_BY_WORDS) };
            let (mut found, _) = finder::by_words(snapshot, place, within, most, within.most(limit))?;
            found.retain(|found| is_filtered || found.block.kind != Kind::Turn);
            Some(found)
        } else {
            None
        };
        let enough = by_words.as_ref().filter(|found| found.len() >= limit && !is_filtered);
        let ids = enough.map(|found| found.iter().filter_map(|found| corpus.id(&found.file.path)));
        let notes_by_words: Option<Vec<u32>> = ids.map(Iterator::collect);
        let found = match by_words {
            // Nothing can come before these: they are the answer, in the index's order.
            Some(mut found) if notes_by_words.is_some() && !candidates.has_turns => {
                found.truncate(limit);
                found
            }
            by_words => {
                let most = if is_filtered { MOST_HITS } else { within.most(limit) };
                let text = if is_filtered { words_of(syntax, &place.text) } else { place.text.clone() };
                let ranking = self.ranked(state, candidates, &text, notes_by_words.as_deref(), most);
                notes.extend(ranking.notes);
                let passes =
                    |at, block: &Block| filters.as_ref().map_or(Ok(true), |filters| filters.pass(at, block));
                let takes = |at, block: &Block| Ok(within.has(&block.tags) && passes(at, block)?);
                let found = finder::of_slots(snapshot, state, ranking.best, limit, takes)?;
                match by_words {
                    Some(mut by_words) => {
                        // Turns that the ranking didn't look at closely; the others keep its order.
                        let ranked: HashSet<_> = found.iter().map(|find| find.found.at).collect();
                        by_words
                            .retain(|found| found.block.kind != Kind::Turn || !ranked.contains(&found.at));
                        merge(found, by_words, limit)
                    }
                    None => found.into_iter().map(|find| find.found).collect(),
                }
            }
        };
        give(snapshot, &place.text, found, notes)
    }

    /// Ranks the blocks of a place, given as prefixes of paths; without a place, those that may be given unasked. What
    /// was said in coding agents' sessions is none of that, and there may be so much of it that it would leave no room.
    pub(super) fn rank(&self, state: &State, text: &str, prefixes: &[String], most: usize) -> Ranking {
        let own = OnceCell::new();
        let sessions = self.settings.paths.sessions();
        let is_one = |path: &str| path.starts_with(&sessions);
        let has_any = || state.corpus.files().iter().any(|file| file.alive && is_one(&file.path));
        let candidates = if prefixes.is_empty() && (state.told.get().is_some() || has_any()) {
            state.told.get_or_init(|| Candidates::new(&state.corpus, |path| !is_one(path)))
        } else {
            candidates(state, prefixes, &own)
        };
        self.ranked(state, candidates, text, None, most)
    }

    /// The `most` best blocks; of notes without turns, where these are given, those alone.
    fn ranked(
        &self,
        state: &State,
        candidates: &Candidates,
        text: &str,
        notes: Option<&[u32]>,
        most: usize,
    ) -> Ranking {
        let corpus = &state.corpus;
        let today = self.clock.now().to_zoned(self.zone.clone()).date();
        let question = &Question::new(text, today);
        if question.words.is_empty() || most == 0 || candidates.count == 0 {
            return Ranking::default();
        }
        let asked = self.ask(&question.text, state, candidates);
        let matrix = state.model.as_ref().filter(|_| !asked.is_builtin).map(|(_, matrix)| matrix);
        let vectors = asked.probe.as_ref().map(|probe| Vectors { matrix, probe });
        let near = if asked.is_builtin { Near::Cosine(NEAR) } else { Near::Spreads(NEAR_SPREADS) };
        let mut work = self.work().take().unwrap_or_default();
        let mut scores = Scores::with(weights(question), near, corpus.len(), &mut work);
        let prompt = score::Prompt { corpus, candidates, question, vectors, zone: &self.zone, notes };
        score::signals(prompt, &mut work, &mut scores);
        let best = scores.best(corpus, candidates, most);
        let ranked =
            |slot: u32| Ranked { slot, score: f64::from(scores.of(slot)), sure: scores.sureness(slot) };
        let best = best.into_iter().map(ranked).collect();
        scores.into(&mut work);
        *self.work() = Some(work).filter(|_| self.keeps_room || corpus.len() <= MOST_KEPT);
        Ranking { best, notes: asked.warning.into_iter().collect() }
    }
}

/// What is asked, and how it is understood.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    place: &'a Query,
    syntax: &'a Syntax,
}

/// The words of `text` without its filters, which `syntax` has.
pub(super) fn words_of(syntax: &Syntax, text: &str) -> String {
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
type Given = ((Vec<Hit>, Vec<String>), Option<Vec<crate::index::Basis>>);

/// The answer by words alone where there is none better: a vault without turns has so many blocks with the words, and
/// what only meaning finds comes after them.
fn by_words(
    snapshot: &Snapshot<'_>,
    query: &Query,
    within: &Within,
    limit: usize,
    notes: &[String],
) -> Result<Option<Given>, IndexError> {
    if query.scope.is_some() || !within.scopes.is_empty() || snapshot.has(Kind::Turn)? {
        return Ok(None);
    }
    let (found, _) = finder::by_words(snapshot, query, within, limit, within.most(limit))?;
    if found.len() < limit { Ok(None) } else { give(snapshot, &query.text, found, notes.to_vec()).map(Some) }
}

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
        if find.found.block.kind == Kind::Turn && !found.contains(&place(&find.found)) {
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
