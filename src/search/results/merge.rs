//! Merges ranked notes and turns of conversations into one list of hits. Blocks that have a word of the query as it was
//! typed come first ([`TypedWords`], [`Tiers`]). Within a tier the score decides, and each note's best block stands
//! before its other blocks.
//!
//! A scope and a query's terms come in, then ranked notes and turns. Blocks go out, tier after tier: blocks with the
//! word, blocks below a heading with the word, and look-alikes, which only have similar words or are near in meaning.
//! No block has a higher score than the one before it.

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

use crate::search::analyze::{function_words, is_unspaced};
use crate::search::parallel::share;
use crate::search::query::{Item, QueryTerm, Question, Syntax};
use crate::search::rank::RankedNote;
use crate::search::results::{Tier, find_block};
use crate::search::retrieve::{CorpusScope, DocumentSets, Filters, WordMatcher};
use crate::search::store::Corpus;
use crate::search::weights::COMMENT;
use crate::search::{FoundBlock, IndexError, Kind, Snapshot};

/// The blocks of notes that pass the filters, at most `limit`, tier by tier. In a tier the best one of each note comes
/// first, in the order of the notes, and behind them further ones, the best first. Comments are never a note's best
/// block.
pub(super) fn list_by_tier(
    snapshot: &Snapshot<'_>,
    notes: Vec<RankedNote>,
    limit: usize,
    tiers: &Tiers<'_>,
    filters: &Filters<'_>,
) -> Result<Vec<FoundBlock>, IndexError> {
    let find = |slot: u32, score: f64| {
        let Some(found) = find_block(snapshot, (slot, score), filters)? else {
            return Ok(None);
        };
        Ok::<_, IndexError>(Some(FoundBlock { tier: tiers.of(slot, &found)?, ..found }))
    };
    let (mut typed, mut alike) = (Vec::new(), Vec::new());
    for note in notes {
        let is_first = |(slot, _): &(u32, f32)| tiers.typed.first().is_none_or(|first| first.contains(*slot));
        let (of_words, others) = note.blocks.into_iter().partition::<Vec<_>, _>(is_first);
        for (blocks, of) in [(of_words, &mut typed), (others, &mut alike)] {
            if !blocks.is_empty() {
                of.push(RankedNote { score: note.score, blocks });
            }
        }
    }
    let mut spread =
        Spread { corpus: &snapshot.corpus, find, limit, shown: FxHashSet::default(), out: Vec::new() };
    let first = if tiers.typed.is_strict { Tier::Word } else { Tier::Alike };
    let headings = spread.round(typed, first)?;
    spread.round(headings, Tier::Heading)?;
    spread.round(alike, Tier::Alike)?;
    let mut placed = spread.out;
    placed.truncate(limit);
    // Nothing scores more than what comes before it.
    let mut least = f64::MAX;
    for found in &mut placed {
        least = least.min(found.score);
        found.score = least;
    }
    Ok(placed)
}

/// Lists blocks of notes, a tier at a time.
struct Spread<'a, F> {
    corpus: &'a Corpus,
    /// Reads the block in a slot, with this score.
    find: F,
    limit: usize,
    /// The notes of which a block is listed.
    shown: FxHashSet<u32>,
    out: Vec<FoundBlock>,
}

impl<F: Fn(u32, f64) -> Result<Option<FoundBlock>, IndexError>> Spread<'_, F> {
    /// Lists the blocks of a tier, and returns those of later ones that were come upon.
    fn round(&mut self, notes: Vec<RankedNote>, tier: Tier) -> Result<Vec<RankedNote>, IndexError> {
        let (mut further, mut comments, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for note in notes {
            if self.out.len() >= self.limit {
                return Ok(Vec::new());
            }
            let Some((first, _)) = note.blocks.first() else { continue };
            let number = self.corpus.meta(*first).file;
            let mut of_later = Vec::new();
            let mut blocks = note.blocks.into_iter();
            while !self.shown.contains(&number)
                && let Some((slot, own)) = blocks.next()
            {
                match (self.find)(slot, f64::from(note.score))? {
                    Some(found) if found.tier > tier => of_later.push((slot, own)),
                    Some(found) if found.block.kind == Kind::Comment => {
                        comments.push(FoundBlock { score: f64::from(own * COMMENT), ..found });
                    }
                    Some(best) => {
                        self.shown.insert(number);
                        self.out.push(best);
                    }
                    None => {}
                }
            }
            further.extend(blocks.map(|(slot, own)| (slot, own, note.score)));
            if !of_later.is_empty() {
                later.push(RankedNote { score: note.score, blocks: of_later });
            }
        }
        further.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (slot, own, score) in further {
            if self.out.len() >= self.limit {
                break;
            }
            match (self.find)(slot, f64::from(own))? {
                Some(found) if found.tier > tier => {
                    later.push(RankedNote { score, blocks: vec![(slot, own)] });
                }
                Some(found) if found.block.kind == Kind::Comment => {
                    comments.push(FoundBlock { score: f64::from(own * COMMENT), ..found });
                }
                found => self.out.extend(found),
            }
        }
        comments.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.out.extend(comments);
        Ok(later)
    }
}

/// Merges turns and blocks of notes. If the query `is_strict`, blocks with a typed word come first. Both lists keep
/// their order; the block with the better score by the ranking's measure is next.
pub(super) fn merge(
    turns: Vec<FoundBlock>,
    notes: Vec<FoundBlock>,
    is_strict: bool,
    limit: usize,
) -> Vec<FoundBlock> {
    let is_first = |found: &FoundBlock| !is_strict || !found.is_alike();
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

/// So many words that stand nowhere are named.
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
    /// The only word, where the query has but one.
    pub only: Option<String>,
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
}

/// A word as it was typed: of a script without spaces the whole run of characters that a pair is of.
fn as_typed<'t>(text: &'t str, word: &'t str) -> &'t str {
    if !word.starts_with(is_unspaced) {
        return word;
    }
    text.split(|c| !is_unspaced(c)).find(|run| run.contains(word)).unwrap_or(word)
}

/// The blocks of a scope that have a word of the `question` as typed, before typing errors are corrected. Function
/// words count only if there are no other words. The order `is_strict` if there are few words, or if `is_asked`.
///
/// # Errors
/// tantivy's.
pub(super) fn find_typed_words(
    scope: CorpusScope<'_>,
    question: &Question,
    is_asked: bool,
) -> Result<TypedWords, IndexError> {
    let skipped = function_words::of(&question.words);
    let is_content = |term: &&QueryTerm| !skipped.contains(&term.word.as_str());
    let mut words: Vec<&QueryTerm> = question.terms.iter().filter(is_content).collect();
    if words.is_empty() {
        words = question.terms.iter().collect();
    }
    let blocks = share(scope.candidates.count, words.len(), |at| scope.of_question(words[at]));
    let mut found = TypedWords::default();
    for (term, of_word) in words.iter().zip(blocks) {
        let slots = of_word.blocks.iter().map(|block| block.slot);
        let mut slots: RoaringBitmap =
            RoaringBitmap::from_sorted_iter(slots).expect("a term's blocks come in their order");
        // A lone character begins pairs.
        if term.word.starts_with(is_unspaced) && term.word.chars().nth(1).is_none() {
            let begun = DocumentSets::new(scope.corpus).with(&WordMatcher::Prefix(term.word.clone()))?;
            slots.extend(begun.into_iter().filter(|slot| scope.candidates.has(*slot)));
        }
        let typed = as_typed(&question.text, &term.word);
        if slots.is_empty() && !found.missing.iter().any(|known| known == typed) {
            found.missing.push(typed.to_owned());
        }
        found.slots |= slots;
    }
    found.is_strict = is_asked || words.len() <= FEW && !question.text.trim_end().ends_with('?');
    found.only = Some(words).filter(|words| words.len() == 1).map(|words| words[0].word.clone());
    Ok(found)
}

/// Says the tier of blocks.
pub(super) struct Tiers<'a> {
    pub typed: &'a TypedWords,
    /// Lets the blocks through whose text has not the only word of the query.
    pub without: Option<Filters<'a>>,
}

/// A query that excludes the only word of another query; none where that has several.
pub(super) fn without_only_word(typed: &TypedWords) -> Option<Syntax> {
    let not = vec![Item::Words(typed.only.clone()?)];
    typed.is_strict.then(|| Syntax { not, ..Syntax::default() })
}

impl Tiers<'_> {
    /// The tier of the found block of a slot.
    ///
    /// # Errors
    /// tantivy's.
    pub fn of(&self, slot: u32, found: &FoundBlock) -> Result<Tier, IndexError> {
        Ok(match &self.without {
            Some(without) if self.typed.slots.contains(slot) && without.pass(found.slot, &found.block)? => {
                Tier::Heading
            }
            _ => self.of_turn(slot),
        })
    }

    /// The tier of a turn. The speaker's name stands in a turn's line, so it counts as text.
    pub fn of_turn(&self, slot: u32) -> Tier {
        if self.typed.slots.contains(slot) { Tier::Word } else { Tier::Alike }
    }
}

/// A note that names the typed words which stand nowhere, for a query that is no question.
pub(super) fn missing(typed: &TypedWords, question: &Question, has_alike: bool) -> Option<String> {
    if typed.missing.is_empty() || !has_alike || question.text.trim_end().ends_with('?') {
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
