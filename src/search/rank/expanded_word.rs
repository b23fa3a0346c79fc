//! Expands a question's words for the ranking of notes: each word with the terms that stand for it, and the characters
//! of scripts written without spaces.
//!
//! A word stands for itself, for words that look like it ([`crate::search::retrieve::similar_words`]) and, less, for words that
//! mean nearly the same. A word that stands in no note stands for its translations, too. Function words of the
//! question's language are left out. So are look-alikes that are common, if there are many blocks.

use crate::search::analyze::function_words;
use crate::search::parallel::share;
use crate::search::query::question::Question;
use crate::search::query::translations::translations;
use crate::search::retrieve::candidates::COMMON;
use crate::search::retrieve::similar_words::{SimilarWordFinder, SimilarWords};
use crate::search::retrieve::term_blocks::{CorpusScope, Occurrence, Occurrences, TermBlocks, count};
use crate::search::store::blocks::TermCount;
use crate::search::weights::notes as weights;

/// So many characters are looked for by themselves.
const MOST_CHARS: usize = 32;

/// A word or a character of a question, with the terms that stand for it and their postings.
#[derive(Debug, Default)]
pub(in crate::search) struct ExpandedWord {
    /// The terms, each with its likeness.
    pub members: Vec<(String, f32)>,
    /// The word as asked; empty for a character.
    pub word: String,
    pub weight: f32,
    /// A block without a likeness of so much has not the word.
    pub least: f32,
    /// Their postings: a slot (32 bits), the place among the members (16), and [`TermCount`] (16), in the order of the slots.
    postings: Vec<u64>,
}

/// How often a word stands in a text, and in the title or headings above it, by the likeness of what stands for it; and the
/// likeness of its best match.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct WordMatch {
    text: f32,
    above: f32,
    pub best: f32,
}

impl WordMatch {
    /// How often it stands in both.
    #[inline(always)]
    pub fn all(self) -> f32 {
        self.text + self.above
    }

    /// Of two terms that stand for one word, or of two blocks below one heading.
    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Self {
            text: self.text + other.text,
            above: self.above.max(other.above),
            best: self.best.max(other.best),
        }
    }
}

impl ExpandedWord {
    /// The blocks in which it stands, in their order, each with its matches.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = WordMatch>)> {
        let blocks = self.postings.chunk_by(|a, b| a >> 32 == b >> 32);
        blocks.map(|same| ((same[0] >> 32) as u32, same.iter().map(|posting| self.matched(*posting))))
    }

    #[inline(always)]
    fn matched(&self, posting: u64) -> WordMatch {
        let times = TermCount((posting & 0xffff) as u32);
        let (_, likeness) = self.members[(posting >> 16 & 0xffff) as usize];
        let text = likeness * count(times.in_text() as usize);
        let above = if times.is_above() { likeness } else { 0.0 };
        WordMatch { text, above, best: likeness }
    }

    /// Adds a term that stands in these blocks.
    fn add<'b>(&mut self, term: &str, likeness: f32, blocks: impl Iterator<Item = &'b Occurrence>) {
        let Ok(member) = u16::try_from(self.members.len()) else { return };
        let packed = |block: &Occurrence| {
            let times = block.times().0.min(u32::from(u16::MAX));
            u64::from(block.slot) << 32 | u64::from(member) << 16 | u64::from(times)
        };
        self.postings.extend(blocks.map(packed));
        self.members.push((term.to_owned(), likeness));
    }
}

/// Expands the words of a question, for the notes of a scope alone or for its conversations, too.
pub(in crate::search) fn expand_words(
    scope: CorpusScope<'_>,
    occurrences: &Occurrences,
    question: &Question,
    in_turns: bool,
) -> Vec<ExpandedWord> {
    let Question { words, terms, text, .. } = question;
    let corpus = scope.corpus;
    let skipped = function_words::of(words);
    let mut content: Vec<_> = terms.iter().filter(|term| !skipped.contains(&term.word.as_str())).collect();
    if content.is_empty() {
        content.extend(terms);
    }
    let terms = content;
    let mut chars: Vec<char> = Vec::new();
    for c in text.chars().filter(|c| matches!(u32::from(*c), 0x3040..=0x30ff | 0x3400..=0x9fff)) {
        if !chars.contains(&c) && chars.len() < MOST_CHARS {
            chars.push(c);
        }
    }
    let finder = SimilarWordFinder::new(terms.iter().map(|term| term.stem.as_str()), &chars);
    let layers = share(scope.candidates.count, corpus.segs.len(), |layer| finder.look(corpus, layer));
    let alike: SimilarWords = finder.joined(layers);
    let is_in = |block: &&Occurrence| in_turns || !block.is_said;
    share(scope.candidates.count, alike.len(), |at| {
        let mut expanded = ExpandedWord {
            weight: weights::CHARACTER,
            least: weights::LEAST_WORD,
            ..ExpandedWord::default()
        };
        if let Some(term) = terms.get(at) {
            expanded.weight = 1.0;
            expanded.word.clone_from(&term.word);
            if term.stem.len() >= weights::LONG {
                expanded.least = weights::LEAST_LONG_WORD;
            }
            let found = occurrences.of_question(scope, term);
            let is_form = |block: &&Occurrence| found.forms.binary_search(&block.slot).is_ok();
            let own = || found.blocks.iter().filter(|block| is_in(block) && !is_form(block));
            expanded.add(&term.stem, 1.0, own());
            let of_forms = found.blocks.iter().filter(|block| is_in(block) && is_form(block));
            expanded.add(&term.word, weights::FORM, of_forms);
            // A word that stands in some note is of a language of the notes, or one that they have taken over.
            let is_foreign = own().next().is_none();
            let foreign = if is_foreign { translations(&term.stem) } else { Vec::new() };
            let near = term.near.iter().map(|(term, how)| (term.as_str(), how * weights::NEAR_WORD));
            for (term, likeness) in foreign.into_iter().map(|term| (term, weights::TRANSLATION)).chain(near) {
                let found = occurrences.of(scope, term);
                let blocks = found.blocks.iter().filter(is_in);
                if !scope.is_common(blocks.clone().count(), COMMON) {
                    expanded.add(term, likeness, blocks);
                }
            }
        }
        let mut left = finder.most(at);
        for (term, likeness) in &alike[at] {
            if let Some(known) = expanded.members.iter_mut().find(|(known, _)| known == term) {
                known.1 = known.1.max(*likeness);
            } else if left > 0 {
                // Terms of blocks that are dead must not push out others. Nothing else asks for these, so they are not kept.
                let found = TermBlocks::new(scope, term, &[]);
                let blocks = found.blocks.iter().filter(is_in);
                let count = blocks.clone().count();
                left -= usize::from(count > 0);
                if count > 0 && !scope.is_common(count, COMMON) {
                    expanded.add(term, *likeness, blocks);
                }
            }
        }
        // A run in order for each member.
        expanded.postings.sort();
        expanded
    })
}
