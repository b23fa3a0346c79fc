//! Computes the data that ranking needs about a note's blocks, while a segment (an unchangeable part of the index) is
//! written.
//!
//! A note's blocks come in. A row for the note and one for each block go out, and postings (the blocks that each term
//! occurs in). A block's row has its shape (bits for its kinds of content, such as a time or a place), its speaker, and
//! its vector.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use crate::embed::{Embedder, StaticModel};
use crate::search::Role;
use crate::search::analyze::{About, Shape, Terms, embedded, fold, names_of, without_references, words};
use crate::search::read::{Block, Kind};
use crate::search::store::segment::block_meta::{ROLE_BITS, role_code};
use crate::search::store::segment::rows::count;
use crate::search::store::{Code, Meta, NEVER, NO_AUTHOR, NewRows, NoteRow, Postings, hash};

/// Of a longer section so many blocks count as one, for ranking.
const LONGEST_SECTION: usize = 32;

/// The inputs of the rows beside the blocks.
#[derive(Debug, Clone)]
pub struct RowInputs {
    /// The table that makes the blocks' vectors.
    pub table: StaticModel,
    /// The zone of the days that turns are about.
    pub zone: TimeZone,
}

impl Default for RowInputs {
    fn default() -> Self {
        Self { table: StaticModel::Builtin, zone: TimeZone::UTC }
    }
}

/// The rows and postings of a segment that is being written.
#[derive(Debug)]
pub struct Gathered {
    basis: RowInputs,
    /// The rows.
    pub rows: NewRows,
    /// The postings of their terms.
    pub postings: Postings,
    words: WordCache,
}

impl Gathered {
    /// None yet.
    pub fn new(basis: RowInputs) -> Self {
        Self { basis, rows: NewRows::default(), postings: Postings::default(), words: WordCache::default() }
    }

    /// Takes in the blocks of the note at `path` with this title, and the same packed.
    pub fn note(&mut self, path: &str, title: &str, blocks: &[Block], packed: &[u8]) {
        let names = names_of(blocks.iter().filter_map(|block| block.author.as_deref()));
        let start = self.rows.metas.len();
        // The headings of the open section, and how many blocks it has.
        let mut section = (String::new(), 0);
        for (at, block) in blocks.iter().enumerate() {
            let head = match (block.kind, &block.section) {
                (Kind::Turn, _) => String::new(),
                (_, Some(section)) => format!("{title} {section}"),
                (_, None) => title.to_owned(),
            };
            if head != section.0 || section.1 == LONGEST_SECTION {
                section = (head, 0);
            }
            let opens = if is_turn(block) { at == 0 } else { section.1 == 0 };
            section.1 += 1;
            self.block(block, &section.0, opens, &names);
        }
        self.rows.packed.extend_from_slice(packed);
        let metas = &self.rows.metas[start..];
        let is_said = |meta: &Meta| meta.shape.has(Shape::TURN | Shape::TOOL);
        let authors: BTreeSet<u32> = metas.iter().map(|meta| meta.author).collect();
        self.rows.notes.push(NoteRow {
            path: path.into(),
            start: count(start),
            count: count(metas.len()),
            has_notes: !metas.iter().all(is_said),
            has_turns: metas.iter().any(is_said),
            terms: metas.iter().map(|meta| u32::from(meta.length)).sum(),
            authors: authors.into_iter().filter(|author| *author != NO_AUTHOR).collect(),
            packed: count(self.rows.packed.len()),
        });
    }

    fn block(&mut self, block: &Block, head: &str, opens: bool, names: &[String]) {
        let Self { basis, rows, postings, words } = self;
        // The speaker's name belongs to what a turn says, the headings to what a paragraph says.
        let (said, author) = (without_references(&block.text), block.author.as_deref());
        let is_turn = is_turn(block);
        // The head of a section stands for all blocks of it ([`crate::search::store::blocks`]).
        let head = if opens || is_turn { head } else { "" };
        let (terms, length) = words.find(head, [author.unwrap_or(""), &said], postings);
        postings.add(count(rows.metas.len()), terms);
        let mut shape = Shape::of(&said, |word| names.iter().any(|name| name == word));
        let is_tool = block.role == Some(Role::Tool);
        for (is, bit) in [(is_turn, Shape::TURN), (opens, Shape::OPENING), (is_tool, Shape::TOOL)] {
            shape.0 |= if is { bit } else { 0 };
        }
        shape.0 |= role_code(block.role) << ROLE_BITS;
        // A turn may be about another day than that on which it was said.
        let said_at = block.time.filter(|_| block.kind == Kind::Turn);
        let said_at = said_at.and_then(|time| Timestamp::from_second(time).ok());
        let about = said_at.map(|at| About::of(&block.text, at.to_zoned(basis.zone.clone()).date()));
        let embedded = embedded(&block.text, names);
        let meta = Meta {
            file: count(rows.notes.len()),
            line: block.line,
            author: author.map_or(NO_AUTHOR, |name| rows.authors.of(name)),
            time: block.time.unwrap_or(NEVER),
            about: about.unwrap_or_default(),
            length: u16::try_from(length).unwrap_or(u16::MAX),
            shape,
        };
        let has_none = matches!(basis.table, StaticModel::Off) || is_tool;
        rows.push(meta, (!has_none).then(|| hash(&embedded)), || {
            Code::of(&words.embedder.embed_with(&basis.table, &embedded))
        });
    }
}

/// Whether a block is a turn of a speaker: one event of a log, and no tool's.
fn is_turn(block: &Block) -> bool {
    block.kind == Kind::Turn && block.role != Some(Role::Tool)
}

/// The terms of words that were met before, their numbers in the postings, and their tokens: a vault's words repeat.
#[derive(Debug, Default)]
struct WordCache {
    terms: Terms,
    /// The number of each word's term in the postings; none for a function word.
    ids: FxHashMap<Box<str>, Option<u32>>,
    embedder: Embedder,
    /// The terms of one block.
    found: Vec<u32>,
}

impl WordCache {
    /// The numbers of a block's terms by the postings, as [`TermCount`](crate::search::store::blocks::TermCount) counts
    /// them: its head's once, its texts' twice for each time. And how many terms its texts have.
    fn find(&mut self, head: &str, texts: [&str; 2], postings: &mut Postings) -> (&mut Vec<u32>, usize) {
        self.found.clear();
        texts.into_iter().for_each(|text| self.add(text, postings));
        let length = self.found.len();
        self.found.extend_from_within(..);
        if head.is_ascii() {
            self.add(head, postings);
        } else {
            // Its words count with and without their accents.
            self.add(&head.nfc().collect::<String>(), postings);
            self.add(&fold(head), postings);
        }
        let mut above = self.found.split_off(2 * length);
        above.sort_unstable();
        above.dedup();
        self.found.append(&mut above);
        (&mut self.found, length)
    }

    fn add(&mut self, text: &str, postings: &mut Postings) {
        words(text, |word| {
            let id = match self.ids.get(word) {
                Some(id) => *id,
                None => {
                    let id = self.terms.term(word).map(|term| postings.id(term));
                    self.ids.insert(word.into(), id);
                    id
                }
            };
            self.found.extend(id);
        });
    }
}
