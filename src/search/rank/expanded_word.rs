//! Expands each word of a question into the terms that match it, for the ranking of notes. In scripts written without
//! spaces, single characters are expanded, too.
//!
//! A word is matched by itself, by words that look like it ([`crate::search::retrieve::similar_words`]) and, with less
//! weight, by words that mean nearly the same. A word that stands in no block in scope is matched by its translations,
//! too. Function words of the question's language are left out. In a large scope, common terms other than the word
//! itself are left out.
//!
//! [`WordDocuments`] counts the matches in each document, [`Section`] the matches in each section of a note. Title and
//! headings count once for a document or a section, not with each block below them.

use std::ops::Range;

use crate::search::analyze::Shape;
use crate::search::parallel::share;
use crate::search::query::Question;
use crate::search::query::translations::translations;
use crate::search::retrieve::{
    COMMON, CorpusScope, NoteSlots, Occurrence, SimilarWordFinder, SimilarWords, count,
};
use crate::search::store::Corpus;
use crate::search::weights::notes as weights;

/// The most characters that are searched one by one.
const MOST_CHARS: usize = 32;

/// A word or a character of a question, with the blocks in which terms stand that stand for it.
#[derive(Debug, Default)]
pub(in crate::search) struct ExpandedWord {
    /// The terms.
    members: Vec<String>,
    /// The word as asked; empty for a character.
    pub word: String,
    pub weight: f32,
    /// A block without a likeness of so much has not the word.
    pub least: f32,
    /// The blocks in their order, each once.
    pub blocks: Vec<(u32, WordMatch)>,
    /// The likenesses of all terms in all blocks, so exact that their order doesn't show.
    pub sum: f64,
}

/// How often a word occurs in a text, and in the title or headings above it, each occurrence weighted by the likeness
/// of the matching term; and the likeness of its best match.
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
    /// Those of its blocks that have these slots.
    pub fn within(&self, slots: Range<u32>) -> &[(u32, WordMatch)] {
        let place = |slot: u32| self.blocks.partition_point(|(own, _)| *own < slot);
        &self.blocks[place(slots.start)..place(slots.end)]
    }

    /// Adds a term that stands in these blocks. If the word has it among those that look `alike`, the higher likeness
    /// counts.
    fn add<'b>(
        &mut self,
        term: &str,
        likeness: f32,
        alike: &[(String, f32)],
        blocks: impl Iterator<Item = &'b Occurrence>,
    ) {
        let is_known = self.members.iter().any(|known| known == term);
        let other = alike.iter().find(|(other, _)| other == term && !is_known);
        let best = other.map_or(likeness, |(_, other)| likeness.max(*other));
        self.members.push(term.to_owned());
        for block in blocks {
            let text = best * count(block.times().in_text() as usize);
            let above = if block.times().is_above() { best } else { 0.0 };
            self.blocks.push((block.slot, WordMatch { text, above, best }));
            self.sum += f64::from(best);
        }
    }
}

/// Expands the words of a question, for the notes of a scope alone or for its conversations, too.
pub(in crate::search) fn expand_words(
    scope: CorpusScope<'_>,
    question: &Question,
    in_turns: bool,
) -> Vec<ExpandedWord> {
    let (corpus, terms) = (scope.corpus, question.content());
    let mut chars: Vec<char> = Vec::new();
    for c in question.text.chars().filter(|c| matches!(u32::from(*c), 0x3040..=0x30ff | 0x3400..=0x9fff)) {
        if !chars.contains(&c) && chars.len() < MOST_CHARS {
            chars.push(c);
        }
    }
    let finder = SimilarWordFinder::new(terms.iter().map(|term| term.stem.as_str()), &chars);
    let layers = share(scope.candidates.count, corpus.segs.len(), |layer| finder.look(corpus, layer));
    let alike: SimilarWords = finder.joined(&layers);
    let is_in = |block: &&Occurrence| in_turns || !block.is_said;
    share(scope.candidates.count, alike.len(), |at| {
        let alike = &alike[at];
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
            let found = scope.of_question(term);
            let own = || found.iter().filter(|block| is_in(block) && !block.is_form);
            expanded.add(&term.stem, 1.0, alike, own());
            let of_forms = found.iter().filter(|block| is_in(block) && block.is_form);
            expanded.add(&term.word, weights::FORM, alike, of_forms);
            // A word that stands in some note is of a language of the notes, or one that they have taken over.
            let is_foreign = own().next().is_none();
            let foreign = if is_foreign { translations(&term.stem) } else { Vec::new() };
            let near = term.near.iter().map(|(term, how)| (term.as_str(), how * weights::NEAR_WORD));
            for (term, likeness) in foreign.into_iter().map(|term| (term, weights::TRANSLATION)).chain(near) {
                let found = scope.of(term);
                let blocks = found.iter().filter(is_in);
                if !scope.is_common(blocks.clone().count(), COMMON) {
                    expanded.add(term, likeness, alike, blocks);
                }
            }
        }
        let mut left = finder.most(at);
        for (term, likeness) in alike {
            if left > 0 && !expanded.members.contains(term) {
                // Terms of blocks that are dead must not push out others. Nothing else asks for these, so they are not kept.
                let found = scope.read(term, &[]);
                let blocks = found.iter().filter(is_in);
                let count = blocks.clone().count();
                left -= usize::from(count > 0);
                if count > 0 && !scope.is_common(count, COMMON) {
                    expanded.add(term, *likeness, &[], blocks);
                }
            }
        }
        expanded.blocks = joined(expanded.blocks, WordMatch::and);
        expanded
    })
}

/// The values in the order of their numbers, each number once; `join` makes one of two.
pub(super) fn joined<T: Copy>(mut values: Vec<(u32, T)>, join: fn(T, T) -> T) -> Vec<(u32, T)> {
    // Values come in runs that are in order, and keep the order of the terms.
    values.sort_by_key(|(of, _)| *of);
    values.dedup_by(|(next, value), (of, all)| {
        let is_same = next == of;
        if is_same {
            *all = join(*all, *value);
        }
        is_same
    });
    values
}

/// The length that a section's headings add.
const HEADINGS: f32 = 2.0;
/// Stands for the whole note in the place of a slot.
pub(in crate::search) const WHOLE: u32 = u32::MAX;

/// A document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::search) struct RankedDocument {
    pub note: u32,
    /// The slot of a block that is a document of its own, or [`WHOLE`].
    pub slot: u32,
}

/// The documents in which a word stands.
pub(in crate::search) struct WordDocuments {
    /// Document, weighted count, in the order of their slots.
    pub units: Vec<(RankedDocument, f32)>,
    /// The sums of likenesses, so exact that their order doesn't show.
    pub in_blocks: f64,
    pub in_units: f64,
}

/// A stretch of a note's blocks below the same headings.
#[derive(Default)]
pub(in crate::search) struct Section {
    pub slots: Range<u32>,
    pub length: f32,
    pub score: f32,
    pub blocks: Vec<BlockMatch>,
}

/// BM25 of a block, and whether it has a word.
#[derive(Clone, Copy, Default)]
pub(in crate::search) struct BlockMatch {
    pub score: f32,
    pub has_word: bool,
}

impl WordDocuments {
    /// The documents of a scope's notes that have a word: whole notes, and blocks that are documents of their own (all
    /// blocks of a note for which `lists` is true).
    pub fn new(scope: CorpusScope<'_>, lists: &[bool], expanded: &ExpandedWord) -> Self {
        let CorpusScope { corpus, candidates, .. } = scope;
        let (mut units, mut in_blocks) = (Vec::<(RankedDocument, WordMatch)>::new(), 0.0);
        let mut own: Option<&NoteSlots> = None;
        for &(slot, found) in &expanded.blocks {
            if own.is_none_or(|own| own.slots.end <= slot) {
                own = candidates.reaching(slot);
            }
            let Some(own) = own else { break };
            if own.has_turns && corpus.is_said(slot) {
                continue;
            }
            in_blocks += f64::from(found.best);
            let is_own = own.has_turns || lists[own.note as usize];
            let unit = RankedDocument { note: own.note, slot: if is_own { slot } else { WHOLE } };
            match units.last_mut() {
                Some((last, sum)) if *last == unit => *sum = sum.and(found),
                _ => units.push((unit, found)),
            }
        }
        let in_units = units.iter().map(|(_, found)| f64::from(found.best)).sum();
        let units = units.into_iter().map(|(unit, found)| (unit, found.all())).collect();
        Self { units, in_blocks, in_units }
    }
}

/// The sections of documents with these slots, in their order.
pub(in crate::search) fn sections(
    corpus: &Corpus,
    documents: impl Iterator<Item = Range<u32>>,
) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for slots in documents {
        for slot in slots.clone() {
            let meta = corpus.meta(slot);
            if slot == slots.start || meta.shape.has(Shape::OPENING) {
                sections.push(Section { slots: slot..slot, length: HEADINGS, ..Section::default() });
            }
            if let Some(section) = sections.last_mut() {
                section.slots.end = slot + 1;
                section.length += f32::from(meta.length);
                section.blocks.push(BlockMatch::default());
            }
        }
    }
    sections
}
