//! Holds the ranking's data of all blocks of a vault: postings, shapes, speakers, times and built-in vectors.
//!
//! Blocks are numbered by *slots*: the documents of all segments, one segment after the other. A note owns a contiguous
//! run of them in the order of its blocks, so the neighbours of a turn are the adjacent slots. Dead notes keep their
//! slots until their segment is merged; scores depend on living slots alone.

use std::ops::Range;
use std::sync::Arc;

use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, TERMINATED, Term, postings::Postings};

use crate::embed::StaticModel;
use crate::search::Role;
use crate::search::analyze::authors::Authors;
pub use crate::search::analyze::authors::{names_of, without_names};
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::block_meta::{Meta, NO_ROW, role_of};
pub use crate::search::store::corpus::block_meta::{NEVER, NOBODY};
use crate::search::store::corpus::rows::{NoteRow, Rows};
use crate::search::store::corpus::term_count::TermCount;
use crate::search::store::corpus::vector_code::{Code, Sums};
use crate::search::store::corpus::vectors::Hash;

/// One note of the corpus.
#[derive(Debug, Clone)]
pub struct CorpusNote<'a> {
    /// Its number.
    pub number: u32,
    /// Its row in its segment.
    pub row: &'a NoteRow,
    /// Its slots.
    pub slots: Range<u32>,
}

/// One segment's blocks.
struct Part {
    rows: Arc<Rows>,
    terms: TermFields,
    /// The number of its first note.
    file: u32,
    /// The number of each of its speakers.
    authors: Vec<u32>,
}

/// The fields of a segment that a term is looked up in.
pub(in crate::search) struct TermFields {
    /// The stems that ranking counts.
    pub rank: (Arc<InvertedIndexReader>, Field),
    /// The forms of words that ranking hasn't.
    pub text: (Arc<InvertedIndexReader>, Field),
}

/// All blocks of a vault, as the ranking sees them.
#[derive(Default)]
pub struct Corpus {
    /// Whether the slots of each note still count, by number.
    is_alive: Vec<bool>,
    parts: Vec<Part>,
    /// The first slot of each part, and the one behind the last.
    firsts: Vec<u32>,
    authors: Authors,
    /// The table that made the blocks' vectors.
    pub(in crate::search) table: StaticModel,
}

impl std::fmt::Debug for Corpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus").field("blocks", &self.len()).finish_non_exhaustive()
    }
}

impl Corpus {
    /// An empty corpus.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty corpus whose blocks have vectors of `table`.
    pub(in crate::search) fn with(table: StaticModel) -> Self {
        Self { table, ..Self::default() }
    }

    /// Adds a segment's blocks: its rows, its terms, and which of its documents live.
    pub(in crate::search) fn add(&mut self, rows: Arc<Rows>, terms: TermFields, lives: impl Fn(u32) -> bool) {
        let first = self.first(self.parts.len());
        let authors: Vec<u32> = rows.authors().iter().map(|name| self.authors.of_key(name)).collect();
        let file = u32::try_from(self.is_alive.len()).unwrap_or(u32::MAX);
        self.is_alive.extend(rows.notes().iter().map(|note| lives(note.start)));
        if self.firsts.is_empty() {
            self.firsts.push(0);
        }
        self.firsts.push(first + u32::try_from(rows.len()).unwrap_or(u32::MAX));
        self.parts.push(Part { rows, terms, file, authors });
    }

    /// Forgets a note.
    pub(in crate::search) fn forget(&mut self, path: &str) {
        let paths = self.parts.iter().flat_map(|part| part.rows.notes());
        let notes = self.is_alive.iter_mut().zip(paths);
        notes.filter(|(_, note)| *note.path == *path).for_each(|(is_alive, _)| *is_alive = false);
    }

    /// How many blocks, dead ones included; one more than the largest slot.
    pub fn len(&self) -> usize {
        self.first(self.parts.len()) as usize
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many notes, dead versions included; one more than the largest number of a note.
    pub(in crate::search) fn note_count(&self) -> usize {
        self.is_alive.len()
    }

    /// The note with this number.
    pub(in crate::search) fn note(&self, number: u32) -> CorpusNote<'_> {
        let (at, row) = self.row_of(number);
        let start = self.first(at) + row.start;
        CorpusNote { number, row, slots: start..start + row.count }
    }

    /// The part that a note is in, and its row there.
    fn row_of(&self, note: u32) -> (usize, &NoteRow) {
        let at = self.parts.partition_point(|part| part.file <= note).saturating_sub(1);
        (at, &self.parts[at].rows.notes()[(note - self.parts[at].file) as usize])
    }

    /// The living notes.
    pub fn notes(&self) -> impl Iterator<Item = CorpusNote<'_>> {
        let living = (0..).zip(&self.is_alive).filter(|(_, is_alive)| **is_alive);
        living.map(|(number, _)| self.note(number))
    }

    /// The path of the note that a slot stands in.
    pub fn path_at(&self, slot: u32) -> &str {
        &self.note(self.meta(slot).file).row.path
    }

    /// The speakers of a note, by number.
    pub(in crate::search) fn speakers(&self, note: u32) -> impl Iterator<Item = u32> {
        let (at, row) = self.row_of(note);
        row.authors.iter().filter_map(move |id| self.parts[at].authors.get(*id as usize).copied())
    }

    /// How many parts there are, a segment each.
    pub(in crate::search) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The first slot of a part.
    #[inline(always)]
    pub(in crate::search) fn first(&self, part: usize) -> u32 {
        self.firsts.get(part).copied().unwrap_or(0)
    }

    /// The most blocks of a part.
    pub(in crate::search) fn largest(&self) -> usize {
        self.parts.iter().map(|part| part.rows.len()).max().unwrap_or(0)
    }

    /// A slot's part, and its document there.
    #[inline(always)]
    pub(in crate::search) fn place(&self, slot: u32) -> (usize, usize) {
        let part = self.firsts.partition_point(|first| *first <= slot).saturating_sub(1);
        (part, (slot - self.first(part)) as usize)
    }

    /// The rows of a slot's part, and the part's slots.
    pub(in crate::search) fn part_of(&self, slot: u32) -> (&Rows, Range<u32>) {
        let (part, _) = self.place(slot);
        (self.rows(part), self.first(part)..self.first(part + 1))
    }

    /// A part's rows.
    pub(in crate::search) fn rows(&self, part: usize) -> &Rows {
        &self.parts[part].rows
    }

    /// Whether `slot` is of a block.
    #[inline(always)]
    pub fn has(&self, slot: u32) -> bool {
        (slot as usize) < self.len()
    }

    /// The record of a block.
    #[inline(always)]
    pub fn meta(&self, slot: u32) -> Meta {
        let (part, doc) = self.place(slot);
        let part = &self.parts[part];
        let meta = part.rows.meta(doc);
        let author = part.authors.get(meta.author as usize).copied().unwrap_or(NOBODY);
        Meta { file: part.file + meta.file, author, ..meta }
    }

    /// The shape of a block.
    #[inline(always)]
    pub fn shape(&self, slot: u32) -> Shape {
        let (part, doc) = self.place(slot);
        self.parts[part].rows.meta(doc).shape
    }

    /// The role of a block's speaker, if it has one.
    #[inline(always)]
    pub fn role(&self, slot: u32) -> Option<Role> {
        role_of(self.shape(slot))
    }

    /// The content hash of what a model embeds of a block; none where it has no vector.
    pub fn hash(&self, slot: u32) -> Option<Hash> {
        let (part, doc) = self.place(slot);
        self.parts[part].rows.hash(doc)
    }

    /// Whether a block has a built-in vector.
    pub fn has_vector(&self, slot: u32) -> bool {
        let (part, doc) = self.place(slot);
        self.parts[part].rows.row_of(doc).is_some_and(|row| row != NO_ROW)
    }

    /// A block's built-in vector.
    #[inline(always)]
    pub fn code(&self, slot: u32) -> Option<Code> {
        let (part, doc) = self.place(slot);
        self.parts[part].rows.code(doc)
    }

    /// A block's built-in vector; empty where it has none.
    pub fn vector(&self, slot: u32) -> Vec<f32> {
        self.code(slot).map_or_else(Vec::new, |code| code.vector())
    }

    /// The cosine of a question's vector and a block's built-in one; none where it has none.
    #[inline(always)]
    pub fn cosine(&self, sums: &Sums, slot: u32) -> Option<f32> {
        self.code(slot).map(|code| sums.cosine(&code))
    }

    /// Calls `each` with the slots in which `term` stands, ascending, and its count in each. What can't be read is passed
    /// over.
    ///
    /// The terms of the title and the headings are posted at the block that opens a section alone; they stand above all
    /// blocks up to the next one that opens another, and above no turn but their own.
    ///
    /// A block that has none of that, but one of `forms`, terms of the field `text`, comes once, and marked.
    pub(in crate::search) fn each_posting(
        &self,
        term: &str,
        forms: &[String],
        mut each: impl FnMut(u32, TermCount, bool),
    ) {
        for at in 0..self.parts() {
            let mut others = self.with_forms(at, forms).into_iter().peekable();
            self.each_in(at, term, &mut |slot, times| {
                while let Some(before) = others.next_if(|other| *other < slot) {
                    each(before, TermCount::ONCE, true);
                }
                others.next_if_eq(&slot);
                each(slot, times, false);
            });
            others.for_each(|slot| each(slot, TermCount::ONCE, true));
        }
    }

    /// The slots of a part's blocks that have one of these terms of the field `text`, ascending.
    fn with_forms(&self, at: usize, forms: &[String]) -> Vec<u32> {
        let ((terms, field), first) = (&self.parts[at].terms.text, self.first(at));
        let mut slots = Vec::new();
        for form in forms {
            let found = terms.read_postings(&Term::from_field_text(*field, form), IndexRecordOption::Basic);
            let Ok(Some(mut postings)) = found else { continue };
            while postings.doc() != TERMINATED {
                slots.push(first + postings.doc());
                postings.advance();
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn each_in(&self, at: usize, term: &str, each: &mut impl FnMut(u32, TermCount)) {
        let (part, first) = (&self.parts[at], self.first(at));
        let (terms, field) = &part.terms.rank;
        let found = terms.read_postings(&Term::from_field_text(*field, term), IndexRecordOption::WithFreqs);
        let Ok(Some(mut postings)) = found else { return };
        let is = |doc: u32, shape| part.rows.meta(doc as usize).shape.has(shape);
        // The next block of a section whose head has the term.
        let mut section = None;
        loop {
            let doc = postings.doc();
            let end = if doc == TERMINATED { part.rows.len() as u32 } else { doc };
            while let Some(below) = section {
                if below < part.rows.len() as u32 && is(below, Shape::OPENING | Shape::TURN) {
                    section = None;
                } else if below < end {
                    each(first + below, TermCount::ABOVE);
                    section = Some(below + 1);
                } else {
                    break;
                }
            }
            if doc == TERMINATED {
                return;
            }
            let times = TermCount(postings.term_freq() | u32::from(section.is_some()));
            each(first + doc, times);
            section = (times.is_above() && !is(doc, Shape::TURN)).then_some(doc + 1);
            postings.advance();
        }
    }

    /// Calls `each` with the terms of one part whose signature shares enough bits with one of `wanted`, those of dead blocks
    /// among them.
    pub(in crate::search) fn each_term(&self, at: usize, wanted: &[(u64, u32)], mut each: impl FnMut(&[u8])) {
        let rows = &self.parts[at].rows;
        let found = vector_loops::sharing(rows.signatures(), wanted);
        found.into_iter().for_each(|at| each(rows.term(at)));
    }

    /// The different authors' names, by number.
    pub fn authors(&self) -> &[String] {
        self.authors.names()
    }

    /// The words of an author's name, lower case.
    pub fn author_name(&self, id: u32) -> &str {
        self.authors.names().get(id as usize).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::analyze::days::About;
    use crate::search::store::corpus::note_rows::Passage;

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
            let (mut corpus, mut blocks) = (Corpus::new(), Vec::new());
            for (n, runs) in notes.iter().enumerate() {
                let all = runs.iter().flat_map(|(is_turn, head, count, words)| {
                    let head = if *is_turn { "" } else { heads[*head] };
                    (0..*count).map(move |at| (*is_turn, head, said(&words[..words.len().min(at % 5)])))
                });
                let all: Vec<_> = all.collect();
                let passages = all.iter().zip(1..).map(|((is_turn, head, text), line)| Passage {
                    line, is_turn: *is_turn, role: None, author: None, time: None, about: About::default(), head, text,
                });
                corpus.put([(format!("{n}.md"), passages.collect())]).unwrap();
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
