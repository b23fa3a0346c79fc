//! Reads the data that ranking needs of a corpus: each block's record, vector and neighbours, and for each term the
//! blocks that have it.
//!
//! A slot is the number of a block in the corpus ([`Corpus`]).

use crate::search::Role;
use crate::search::analyze::Shape;
use crate::search::store::{Code, Corpus, Hash, Meta, NO_AUTHOR, RANK, Seg, TEXT, role_of};

/// The count of a term in a block's text, and a flag for the title and the headings above it, as stored in a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermCount(pub u32);

impl TermCount {
    /// In the text, once.
    pub const ONCE: Self = Self(2);
    /// Above the text alone.
    pub const ABOVE: Self = Self(1);

    /// In the text.
    #[inline(always)]
    pub fn in_text(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it stands above the text.
    #[inline(always)]
    pub fn is_above(self) -> bool {
        self.0 & 1 == 1
    }

    /// In both.
    #[inline(always)]
    pub fn all(self) -> u32 {
        self.in_text() + u32::from(self.is_above())
    }
}

impl Corpus {
    /// The path of the note that a slot stands in.
    pub fn path_at(&self, slot: u32) -> &str {
        &self.note(self.meta(slot).file).row.path
    }

    /// The record of a block.
    #[inline(always)]
    pub fn meta(&self, slot: u32) -> Meta {
        let (seg, doc) = self.place(slot);
        let meta = seg.rows.meta(doc as usize);
        let author = seg.authors.get(meta.author as usize).copied().unwrap_or(NO_AUTHOR);
        Meta { file: seg.file + meta.file, author, ..meta }
    }

    /// The shape of a block.
    #[inline(always)]
    pub fn shape(&self, slot: u32) -> Shape {
        let (seg, doc) = self.place(slot);
        seg.rows.meta(doc as usize).shape
    }

    /// The role of a block's speaker, if it has one.
    #[inline(always)]
    pub fn role(&self, slot: u32) -> Option<Role> {
        role_of(self.shape(slot))
    }

    /// The content hash of what a model embeds of a block; none where it has no vector.
    pub fn hash(&self, slot: u32) -> Option<Hash> {
        let (seg, doc) = self.place(slot);
        seg.rows.hash(doc as usize)
    }

    /// A block's built-in vector.
    #[inline(always)]
    pub fn code(&self, slot: u32) -> Option<Code> {
        let (seg, doc) = self.place(slot);
        seg.rows.code(doc as usize)
    }

    /// A block's built-in vector; empty where it has none.
    pub fn vector(&self, slot: u32) -> Vec<f32> {
        self.code(slot).map_or_else(Vec::new, |code| code.vector())
    }

    /// The words of an author's name, lower case.
    pub fn author_name(&self, id: u32) -> &str {
        self.authors.names().get(id as usize).map_or("", String::as_str)
    }

    /// The slot `offset` places beside `slot` in the same note, where it exists.
    #[inline(always)]
    pub(in crate::search) fn beside(&self, slot: u32, offset: i32) -> Option<u32> {
        let at = slot.checked_add_signed(offset)?;
        ((at as usize) < self.len() && self.meta(at).file == self.meta(slot).file).then_some(at)
    }

    #[inline(always)]
    pub(in crate::search) fn is_turn(&self, slot: u32) -> bool {
        self.shape(slot).has(Shape::TURN)
    }

    /// Whether a block is an event of a conversation: a turn, or a tool's call or result.
    #[inline(always)]
    pub(in crate::search) fn is_said(&self, slot: u32) -> bool {
        self.shape(slot).has(Shape::TURN | Shape::TOOL)
    }

    /// The turn `offset` places from a turn. It is a candidate if that turn is one, because either all blocks of a note
    /// are candidates or none.
    #[inline(always)]
    pub(in crate::search) fn turn_beside(&self, slot: u32, offset: i32) -> Option<u32> {
        let at = self.beside(slot, offset)?;
        (self.is_turn(slot) && self.is_turn(at)).then_some(at)
    }

    /// The turns of a log at most `reach` beside a turn, itself among them, each with its distance.
    pub(in crate::search) fn turns_around(&self, slot: u32, reach: u32) -> impl Iterator<Item = (u32, i32)> {
        let (seg, _) = self.place(slot);
        let (rows, slots) = (&*seg.rows, seg.slots());
        let meta = move |at: u32| rows.meta((at - slots.start) as usize);
        let note = meta(slot).file;
        let (first, end) = (slot.saturating_sub(reach).max(slots.start), (slot + reach + 1).min(slots.end));
        let around = (first..end).map(move |at| (at, meta(at)));
        let turns = around.filter(move |(_, meta)| meta.file == note && meta.shape.has(Shape::TURN));
        turns.map(move |(at, _)| (at, at.cast_signed() - slot.cast_signed()))
    }

    /// Whether the turn before is a question.
    pub(in crate::search) fn answers(&self, slot: u32) -> bool {
        self.is_turn(slot)
            && self.beside(slot, -1).is_some_and(|before| self.shape(before).has(Shape::QUESTION))
    }

    /// Whether another speaker (the agent or a person) has a turn after this one in its log.
    pub(in crate::search) fn is_answered(&self, slot: u32) -> bool {
        let author = self.meta(slot).author;
        let after = (1..).map_while(|offset| self.beside(slot, offset)).filter(|at| self.is_turn(*at));
        let mut others =
            after.filter(|at| self.role(*at) == Some(Role::Agent) || self.meta(*at).author != author);
        others.next().is_some()
    }

    /// Calls `each` with the slots that have `term`, ascending, and its count in each. Unreadable postings are skipped.
    ///
    /// The terms of the title and the headings have a posting only at the first block of a section. They count for all
    /// blocks of the section; in a log, only for the turn itself.
    ///
    /// A block without `term` that has one of `forms`, which are terms of the field `text`, comes once, with the flag
    /// set.
    pub fn each_posting(&self, term: &str, forms: &[String], mut each: impl FnMut(u32, TermCount, bool)) {
        for seg in &self.segs {
            let mut others = with_forms(seg, term, forms).into_iter().peekable();
            each_in(seg, term, &mut |slot, times| {
                while let Some(before) = others.next_if(|other| *other < slot) {
                    each(before, TermCount::ONCE, true);
                }
                others.next_if_eq(&slot);
                each(slot, times, false);
            });
            others.for_each(|slot| each(slot, TermCount::ONCE, true));
        }
    }
}

/// The slots of a segment's blocks that have one of these terms of the field `text`, ascending. What a term is without
/// its accents, ranking's field has where it was written so.
fn with_forms(seg: &Seg, term: &str, forms: &[String]) -> Vec<u32> {
    let mut slots = Vec::new();
    for form in forms {
        let _ = seg.each(TEXT, form, |doc, _| slots.push(seg.first + doc));
        if !term.is_ascii() && form != term {
            each_in(seg, form, &mut |slot, _| slots.push(slot));
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Calls `each` with the slots of a segment in which `term` stands, with the blocks below each head that has it.
fn each_in<F: FnMut(u32, TermCount)>(seg: &Seg, term: &str, each: &mut F) {
    let count = seg.rows.len() as u32;
    let is = |doc: u32, shape| seg.rows.meta(doc as usize).shape.has(shape);
    // Goes through the open section's blocks before `end`.
    let below = |section: &mut Option<u32>, end: u32, each: &mut F| {
        while let Some(next) = *section {
            if next < count && is(next, Shape::OPENING | Shape::TURN) {
                *section = None;
            } else if next < end {
                each(seg.first + next, TermCount::ABOVE);
                *section = Some(next + 1);
            } else {
                return;
            }
        }
    };
    // The next block of a section whose head has the term.
    let mut section = None;
    let _ = seg.each(RANK, term, |doc, times| {
        below(&mut section, doc, each);
        let times = TermCount(times | u32::from(section.is_some()));
        each(seg.first + doc, times);
        section = (times.is_above() && !is(doc, Shape::TURN)).then_some(doc + 1);
    });
    below(&mut section, count, each);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::read::block::{Block, Kind, ParsedNote};

    const WORDS: [&str; 4] = ["apple", "river", "stone", "violin"];

    fn said(words: &[usize]) -> String {
        words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
    }

    proptest! {
        #[test]
        fn a_term_stands_in_texts_and_above_all_of_its_section(
            notes in proptest::collection::vec(
                proptest::collection::vec(
                    (any::<bool>(), 0..3_usize, 1..50_usize, proptest::collection::vec(0..4_usize, 0..4)), 0..6),
                1..4,
            )
        ) {
            let heads = ["", "apple river", "river stone"];
            let (mut corpus, mut blocks) = (Corpus::default(), Vec::new());
            for (n, runs) in notes.iter().enumerate() {
                let all = runs.iter().flat_map(|(is_turn, head, count, words)| {
                    let head = if *is_turn { "" } else { heads[*head] };
                    (0..*count).map(move |at| (*is_turn, head, said(&words[..words.len().min(at % 5)])))
                });
                let all: Vec<_> = all.collect();
                let as_block = |(is_turn, head, text): &(bool, &str, String)| Block {
                    section: (!head.is_empty()).then(|| (*head).into()),
                    ..Block::new(if *is_turn { Kind::Turn } else { Kind::Paragraph }, 0, 0, text.clone())
                };
                let note = ParsedNote { blocks: all.iter().map(as_block).collect(), ..ParsedNote::default() };
                corpus.put([(format!("{n}.md"), note)]).unwrap();
                blocks.extend(all.iter().map(|(_, head, text)| (*head, text.clone())));
            }
            for word in WORDS {
                let term = crate::search::analyze::stems::Terms::default().term(word).unwrap().to_owned();
                let count = |text: &str| text.split(' ').filter(|other| *other == word).count() as u32;
                let expected: Vec<_> = (0..).zip(&blocks)
                    .map(|(slot, (head, text))| (slot, TermCount(count(text) << 1 | count(head).min(1))))
                    .filter(|(_, times)| times.all() > 0).collect();
                let mut found = Vec::new();
                corpus.each_posting(&term, &[], |slot, times, _| found.push((slot, times)));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
