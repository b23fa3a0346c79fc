//! Merges ranked notes and turns of conversations into one list of hits.
//!
//! For three kinds of queries the list has tiers, one after the other: a short query that is no question, a query with
//! phrases, and an exact search. The tiers are:
//! 1. blocks that contain a word of the query, or another form of such a word ([`TypedWords`]);
//! 2. only for a query of one word: blocks that have it only in their title or headings;
//! 3. blocks without a word of the query, which were found by similar words or by meaning.
//!
//! For any other query all blocks are in one tier. Within a tier no block has a higher score than the block before it,
//! and the best block of each note precedes its other blocks.

use roaring::{MultiOps, RoaringBitmap};
use rustc_hash::FxHashSet;

use crate::search::analyze::{Analyzer, is_unspaced};
use crate::search::parallel::share;
use crate::search::query::{Item, QueryTerm, Question};
use crate::search::rank::RankedNote;
use crate::search::results::find_block;
use crate::search::retrieve::{CorpusScope, DocumentSets, Filters, WordMatcher, matchers};
use crate::search::weights::COMMENT;
use crate::search::{FoundBlock, Kind, Result, Snapshot};

/// The blocks of notes that pass the filters, at most `limit`, tier by tier. In a tier the best one of each note comes
/// first, in the order of the notes, and behind them further ones, the best first. Comments are never a note's best
/// block.
pub(super) fn list_by_tier(
    snapshot: &Snapshot<'_>,
    notes: &[RankedNote],
    limit: usize,
    typed: &TypedWords,
    filters: &Filters<'_>,
) -> Result<Vec<FoundBlock>> {
    let find = |slot: u32, score: f32| -> Result<_> {
        let found = find_block(snapshot, (slot, f64::from(score)), filters)?;
        Ok(found.map(|found| FoundBlock { is_alike: typed.is_alike(slot), ..found }))
    };
    // The notes of which a block is listed.
    let mut shown: FxHashSet<u32> = FxHashSet::default();
    let mut listed: Vec<FoundBlock> = Vec::new();
    'tiers: for tier in [Tier::Word, Tier::Heading, Tier::Alike] {
        let (mut further, mut comments) = (Vec::new(), Vec::new());
        for note in notes {
            if listed.len() >= limit {
                break 'tiers;
            }
            let blocks = note.blocks.iter().copied();
            let mut blocks = blocks.filter(|(slot, _)| typed.tier(*slot) == tier).peekable();
            let Some((first, _)) = blocks.peek() else { continue };
            let number = snapshot.corpus.meta(*first).file;
            while !shown.contains(&number)
                && let Some((slot, own)) = blocks.next()
            {
                match find(slot, note.score)? {
                    Some(found) if found.block.kind == Kind::Comment => comments.push((found, own)),
                    Some(best) => {
                        shown.insert(number);
                        listed.push(best);
                    }
                    None => {}
                }
            }
            further.extend(blocks);
        }
        further.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (slot, own) in further {
            if listed.len() >= limit {
                break;
            }
            match find(slot, own)? {
                Some(found) if found.block.kind == Kind::Comment => comments.push((found, own)),
                found => listed.extend(found),
            }
        }
        comments.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let comments = comments.into_iter();
        listed.extend(comments.map(|(found, own)| FoundBlock { score: f64::from(own * COMMENT), ..found }));
    }
    listed.truncate(limit);
    // Nothing scores more than what comes before it.
    let mut least = f64::MAX;
    for found in &mut listed {
        least = least.min(found.score);
        found.score = least;
    }
    Ok(listed)
}

/// Merges turns and blocks of notes. If the query `is_strict`, blocks with a typed word come first. Both lists keep
/// their order; the block with the better score by the ranking's measure is next.
pub(super) fn merge(
    turns: Vec<FoundBlock>,
    notes: Vec<FoundBlock>,
    is_strict: bool,
    limit: usize,
) -> Vec<FoundBlock> {
    let is_first = |found: &FoundBlock| !is_strict || !found.is_alike;
    let (turns, alike_turns) = turns.into_iter().partition::<Vec<_>, _>(is_first);
    let (notes, alike_notes) = notes.into_iter().partition::<Vec<_>, _>(is_first);
    let mut found = in_one(turns, notes, |found| &mut found.score, limit);
    found.extend(in_one(alike_turns, alike_notes, |found| &mut found.score, limit - found.len()));
    found
}

/// The same for any items with a `score`.
pub(super) fn in_one<T>(
    turns: Vec<T>,
    mut notes: Vec<T>,
    score: impl Fn(&mut T) -> &mut f64,
    limit: usize,
) -> Vec<T> {
    // The notes' order stands: nothing scores less than what comes after it.
    let mut most = f64::MIN;
    for note in notes.iter_mut().rev() {
        most = most.max(*score(note));
        *score(note) = most;
    }
    let (mut turns, mut notes) = (turns.into_iter().peekable(), notes.into_iter().peekable());
    let mut out = Vec::with_capacity(limit.min(64));
    while out.len() < limit {
        let turn = turns.peek_mut().map(|turn| *score(turn));
        let note = notes.peek_mut().map(|note| *score(note));
        let next = match (turn, note) {
            (None, None) => break,
            (Some(turn), note) if note.is_none_or(|note| turn >= note) => turns.next(),
            _ => notes.next(),
        };
        out.extend(next);
    }
    out
}

/// The most words without an occurrence that are named.
const NAMED: usize = 3;
/// A query of more words is a description.
const FEW: usize = 3;

/// The blocks that have a word of the query.
#[derive(Debug, Default)]
pub(super) struct TypedWords {
    /// Their slots.
    pub slots: RoaringBitmap,
    /// The words that no block has, as typed, lower case; a run of a script without spaces where no block has it whole.
    pub missing: Vec<String>,
    /// Of the only word of a query: the slots of the blocks that have it in their title or headings alone.
    above: RoaringBitmap,
    /// Whether the blocks that have none of the words stand below all that have one: so it is where few words were
    /// typed. A question, and a description in many words, is about what it means; blocks with one of its words may
    /// have less of that.
    pub is_strict: bool,
}

impl TypedWords {
    /// The slots that come before all others.
    pub fn first(&self) -> Option<&RoaringBitmap> {
        self.is_strict.then_some(&self.slots)
    }

    /// Whether the block in a slot has none of the words.
    pub fn is_alike(&self, slot: u32) -> bool {
        !self.slots.contains(slot)
    }

    fn tier(&self, slot: u32) -> Tier {
        match (self.is_alike(slot), self.above.contains(slot)) {
            _ if !self.is_strict => Tier::Word,
            (true, _) => Tier::Alike,
            (_, true) => Tier::Heading,
            _ => Tier::Word,
        }
    }
}

/// The way in which a block has the typed words, in the order of the list; all are of the first where there are many
/// words.
#[derive(Clone, Copy, PartialEq)]
enum Tier {
    /// Its text has a word, or a form of it. Of a query of several words a title or heading does as well.
    Word,
    /// The only word of the query stands in its title or headings alone.
    Heading,
    /// It has none: it was found by similar words or by meaning.
    Alike,
}

/// The words as they were typed, each with the places of its terms in `words`. A run of characters of a script without
/// spaces is one word, and its terms are its pairs of characters.
fn as_typed<'t>(text: &'t str, words: &[&'t QueryTerm]) -> Vec<(&'t str, Vec<usize>)> {
    let mut typed: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, word) in words.iter().map(|term| term.word.as_str()).enumerate() {
        if !word.starts_with(is_unspaced) {
            typed.push((word, vec![at]));
            continue;
        }
        let is_of = |run: &&str| *run == word || word.chars().nth(1).is_some() && run.contains(word);
        for run in text.split(|c| !is_unspaced(c)).filter(is_of) {
            match typed.iter_mut().find(|(known, _)| *known == run) {
                Some((_, terms)) => terms.push(at),
                None => typed.push((run, vec![at])),
            }
        }
    }
    typed
}

/// The blocks of a scope, and of these slots of it, that have a word of the `question` as typed, before typing errors are
/// corrected. Function words count only if there are no other words. The order `is_strict` if there are few words, or if
/// `is_asked`.
///
/// # Errors
/// tantivy's.
pub(super) fn find_typed_words(
    scope: CorpusScope<'_>,
    question: &Question,
    is_asked: bool,
    own: Option<&RoaringBitmap>,
) -> Result<TypedWords> {
    let words = question.content();
    let typed = as_typed(&question.text, &words);
    let blocks = share(scope.candidates.count, words.len(), |at| scope.of_question(words[at]));
    let slots_of = |at: &usize| {
        let slots = blocks[*at].iter().map(|block| block.slot);
        RoaringBitmap::from_sorted_iter(slots).expect("a term's blocks come in their order")
    };
    let mut found = TypedWords::default();
    for (word, terms) in &typed {
        let mut slots = terms.iter().map(slots_of).intersection();
        // A lone character begins pairs.
        if word.starts_with(is_unspaced) && word.chars().nth(1).is_none() {
            let begun = DocumentSets::new(scope.corpus).with(&WordMatcher::Prefix((*word).to_owned()))?;
            slots.extend(begun.into_iter().filter(|slot| scope.candidates.has(*slot)));
        }
        if let Some(own) = own {
            slots &= own;
        }
        if slots.is_empty() {
            found.missing.push((*word).to_owned());
        }
        found.slots |= slots;
    }
    // A run of characters counts by its length: a long one is a sentence.
    let count: usize = typed.iter().map(|(_, terms)| terms.len().div_ceil(2)).sum();
    found.is_strict = is_asked || count <= FEW && !asks(&question.text);
    if let [(only, _)] = typed[..] {
        let mut sets = DocumentSets::new(scope.corpus);
        let wanted = matchers(&mut Analyzer::default(), &Item::Words(only.to_owned()));
        let inside: Vec<_> = wanted.iter().map(|wanted| sets.with(wanted)).collect::<Result<_, _>>()?;
        let is_run = only.starts_with(is_unspaced);
        found.above = &found.slots - if is_run { inside.intersection() } else { inside.union() };
    }
    Ok(found)
}

/// Whether a text ends as a question.
fn asks(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

/// A note that names the typed words which stand nowhere, for a query that is no question.
pub(super) fn missing(typed: &TypedWords, question: &Question, has_alike: bool) -> Option<String> {
    if typed.missing.is_empty() || !has_alike || asks(&question.text) {
        return None;
    }
    let named: Vec<String> = typed.missing.iter().take(NAMED).map(|word| format!("`{word}`")).collect();
    let further = if typed.missing.len() > NAMED { " and others" } else { "" };
    let stands = if typed.missing.len() == 1 { "stands" } else { "stand" };
    Some(format!(
        "{}{further} {stands} nowhere here; hits marked ≈ have similar words or a similar meaning",
        named.join(", ")
    ))
}
