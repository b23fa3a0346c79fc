//! Stores in one file what ranking needs to know about the blocks of a segment.
//!
//! The file holds the blocks' records and vectors, the terms, the packed blocks, the notes and the speakers. The file
//! is written once with the segment and mapped into memory. All of it is read in place, except the notes and speakers,
//! which are decoded when the segment is opened.
//!
//! A block's record has a fixed size. A vector is stored as a code ([`crate::search::store::vector_code`]), which has
//! one sign bit for each dimension. The first 64 sign bits are stored for each block. The other bits, with the text's
//! hash, are stored once for each different text. The terms of the segment's index field `rank` are repeated in the
//! order of that field. Each term has a signature: 64 bits, one for each short piece of the word
//! ([`crate::search::analyze::signature`]). The packed blocks of each note follow, then the notes with their speakers.

use std::io::{self, Write};

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;
use tantivy::directory::OwnedBytes;
use vector_loops::SignRows;

use crate::search::analyze::{Authors, signature};
use crate::search::store::segment::block_meta::META;
use crate::search::store::{Code, Hash, Meta, NO_AUTHOR, NO_ROW, Rest, Signs};

/// The length of each part.
const HEAD: usize = PARTS * 4;
const WORD: usize = 8;
const REST: usize = size_of::<Rest>();
const LARGE: usize = size_of::<Signs>();

/// A note of a segment.
#[derive(Debug, Clone, Encode, Decode)]
pub struct NoteRow {
    /// Its path in the vault.
    pub path: Box<str>,
    /// The document of its first block.
    pub start: u32,
    /// How many blocks it has.
    pub count: u32,
    /// Whether it has other blocks than a log's events.
    pub has_notes: bool,
    /// Whether a log's events are among its blocks, a tool's among them.
    pub has_turns: bool,
    /// The terms of all its blocks.
    pub terms: u32,
    /// Its speakers, by number among those of the segment.
    pub authors: Box<[u32]>,
    /// The end of its packed blocks, which follow those of the note before it.
    pub packed: u32,
}

/// The notes and speakers, which follow the rows.
#[derive(Debug, Default, Encode, Decode)]
struct Notes {
    notes: Vec<NoteRow>,
    authors: Vec<String>,
}

/// The rows of a segment.
#[derive(Debug)]
pub struct Rows {
    bytes: OwnedBytes,
    /// The start of each part, and the end of the last.
    at: [usize; PARTS + 1],
    notes: Notes,
}

const PARTS: usize = 11;
/// The parts in their order.
const METAS: usize = 0;
const ROWS: usize = 1;
const FIRST_SIGNS: usize = 2;
const HASHES: usize = 3;
const OTHER_SIGNS: usize = 4;
const LARGE_ONES: usize = 5;
const SIGNATURES: usize = 6;
const TERM_ENDS: usize = 7;
const TERM_TEXT: usize = 8;
const PACKED: usize = 9;
const NOTES: usize = 10;

impl Rows {
    /// From the bytes of [`NewRows::write`]; none where they aren't.
    pub fn new(bytes: OwnedBytes) -> Option<Self> {
        let (lengths, _) = bytes.get(..HEAD)?.as_chunks::<4>();
        let mut at = [HEAD; PARTS + 1];
        for (part, length) in lengths.iter().enumerate() {
            at[part + 1] = at[part] + u32::from_le_bytes(*length) as usize;
        }
        let notes: Notes = bitcode::decode(bytes.get(at[NOTES]..at[PARTS])?).ok()?;
        let is_whole = at[PARTS] == bytes.len();
        is_whole.then_some(Self { bytes, at, notes })
    }

    #[inline(always)]
    fn part(&self, part: usize) -> &[u8] {
        &self.bytes[self.at[part]..self.at[part + 1]]
    }

    /// A part whose entries have `N` bytes each.
    #[inline(always)]
    fn entries<const N: usize>(&self, part: usize) -> &[[u8; N]] {
        self.part(part).as_chunks().0
    }

    /// How many blocks it has.
    pub(in crate::search) fn len(&self) -> usize {
        self.part(METAS).len() / META
    }

    /// The notes, in the order of their blocks, dead ones among them.
    pub fn notes(&self) -> &[NoteRow] {
        &self.notes.notes
    }

    /// The place among the notes of the one that a document belongs to.
    pub fn note_of(&self, doc: u32) -> Option<usize> {
        let at = self.notes().partition_point(|note| note.start <= doc).checked_sub(1)?;
        (doc - self.notes()[at].start < self.notes()[at].count).then_some(at)
    }

    /// A note's blocks without their texts, as [`crate::search::store::segment::pack`] packs them.
    pub fn packed(&self, note: usize) -> &[u8] {
        let start = note.checked_sub(1).map_or(0, |before| self.notes()[before].packed);
        self.part(PACKED).get(start as usize..self.notes()[note].packed as usize).unwrap_or(&[])
    }

    /// The words of the speakers' names, lower case, by number.
    pub fn authors(&self) -> &[String] {
        &self.notes.authors
    }

    /// The record of a block: its note and its author by their numbers here.
    #[inline(always)]
    pub fn meta(&self, doc: usize) -> Meta {
        Meta::from_bytes(&self.entries(METAS)[doc])
    }

    /// The row of a block's vector, or [`NO_ROW`]; none where there is no such block.
    #[inline(always)]
    pub fn row_of(&self, doc: usize) -> Option<u32> {
        self.entries(ROWS).get(doc).map(|row| u32::from_le_bytes(*row))
    }

    /// The content hash of what a model embeds of a block; none where it has no vector.
    pub fn hash(&self, doc: usize) -> Option<Hash> {
        self.entries(HASHES).get(self.row_of(doc)? as usize).copied()
    }

    /// The first words of some blocks' signs, in their order, zero without a vector; none where there are no such
    /// blocks.
    #[inline(always)]
    pub fn first_signs(&self, docs: std::ops::Range<usize>) -> impl ExactSizeIterator<Item = u64> {
        self.entries(FIRST_SIGNS).get(docs).unwrap_or(&[]).iter().map(|word| u64::from_le_bytes(*word))
    }

    /// The signs of some blocks; none where there are no such blocks.
    pub fn signs(&self, docs: std::ops::Range<usize>) -> SignRows<'_> {
        SignRows {
            first: self.entries(FIRST_SIGNS).get(docs.clone()).unwrap_or(&[]),
            rows: self.entries(ROWS).get(docs).unwrap_or(&[]),
            others: self.entries(OTHER_SIGNS),
        }
    }

    /// The vector of a block; none where it has none.
    #[inline(always)]
    pub fn code(&self, doc: usize) -> Option<Code> {
        let row = self.row_of(doc).filter(|row| *row != NO_ROW)?;
        let first = self.first_signs(doc..doc + 1).next()?;
        let rest = self.entries::<REST>(OTHER_SIGNS).get(row as usize)?;
        let large = self.entries::<LARGE>(LARGE_ONES).get(row as usize)?;
        let [second, third, fourth] = words(rest);
        Some(Code { signs: [first, second, third, fourth], large: words(large) })
    }

    /// The signature of each term, in their order ([`crate::search::analyze::stems::signature`]).
    pub fn signatures(&self) -> &[[u8; WORD]] {
        self.entries(SIGNATURES)
    }

    /// The term at a place in their order; empty where there is none.
    pub fn term(&self, at: usize) -> &[u8] {
        let end =
            |at: usize| self.entries(TERM_ENDS).get(at).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        self.part(TERM_TEXT).get(at.checked_sub(1).map_or(0, end)..end(at)).unwrap_or(&[])
    }
}

/// The terms of a segment that is being written, in their order. They are stored here because tantivy's dictionary has
/// to be walked to find a term by its position, and a question needs some ten thousand terms.
#[derive(Debug, Default)]
pub struct NewTerms {
    signatures: Vec<u8>,
    ends: Vec<u8>,
    text: Vec<u8>,
}

impl NewTerms {
    /// Adds the next one.
    pub fn push(&mut self, term: &[u8]) {
        self.signatures.extend(signature(term).to_le_bytes());
        self.text.extend_from_slice(term);
        self.ends.extend(count(self.text.len()).to_le_bytes());
    }
}

/// The rows of a segment that is being written.
#[derive(Debug, Default)]
pub struct NewRows {
    /// The record of each block.
    pub metas: Vec<Meta>,
    rows: Vec<u32>,
    /// The different texts that have vectors.
    texts: Vec<(Hash, Code)>,
    row_of: FxHashMap<Hash, u32>,
    /// The notes.
    pub notes: Vec<NoteRow>,
    /// Their blocks, packed.
    pub packed: Vec<u8>,
    /// The speakers.
    pub authors: Authors,
}

impl NewRows {
    /// Adds a block and the vector of its text. `code` computes the vector unless another block has a text with the
    /// same `hash`.
    pub fn push(&mut self, meta: Meta, hash: Option<Hash>, code: impl FnOnce() -> Option<Code>) {
        let row = hash.map_or(NO_ROW, |hash| {
            *self.row_of.entry(hash).or_insert_with(|| {
                let Some(code) = code() else { return NO_ROW };
                self.texts.push((hash, code));
                u32::try_from(self.texts.len() - 1).unwrap_or(NO_ROW)
            })
        });
        self.metas.push(meta);
        self.rows.push(row);
    }

    /// Adds the notes of another segment that live, in their order.
    pub fn copy(&mut self, from: &Rows, lives: impl Fn(u32) -> bool) {
        let authors: Vec<u32> = from.authors().iter().map(|name| self.authors.of_key(name)).collect();
        let author = |id: u32| authors.get(id as usize).copied().unwrap_or(NO_AUTHOR);
        for (at, note) in from.notes().iter().enumerate().filter(|(_, note)| lives(note.start)) {
            let (file, start) = (count(self.notes.len()), count(self.metas.len()));
            for doc in note.start as usize..(note.start + note.count) as usize {
                let meta = from.meta(doc);
                self.push(Meta { file, author: author(meta.author), ..meta }, from.hash(doc), || {
                    from.code(doc)
                });
            }
            let authors = note.authors.iter().map(|id| author(*id)).collect();
            self.packed.extend_from_slice(from.packed(at));
            self.notes.push(NoteRow { start, authors, packed: count(self.packed.len()), ..note.clone() });
        }
    }

    /// Writes it, with the segment's terms.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, terms: &NewTerms, out: &mut impl Write) -> io::Result<()> {
        let (rows, texts, authors) = (&self.rows, &self.texts, self.authors.names().to_vec());
        let first = |row: &u32| texts.get(*row as usize).map_or(0, |(_, code)| code.signs[0]);
        let rest = texts.iter().flat_map(|(_, code)| &code.signs[1..]);
        let large = texts.iter().flat_map(|(_, code)| &code.large);
        let parts: [&[u8]; PARTS] = [
            &joined(self.metas.iter().map(|meta| meta.to_bytes())),
            &joined(rows.iter().map(|row| row.to_le_bytes())),
            &joined(rows.iter().map(|row| first(row).to_le_bytes())),
            &joined(texts.iter().map(|(hash, _)| *hash)),
            &joined(rest.map(|word| word.to_le_bytes())),
            &joined(large.map(|word| word.to_le_bytes())),
            &terms.signatures,
            &terms.ends,
            &terms.text,
            &self.packed,
            &bitcode::encode(&Notes { notes: self.notes.clone(), authors }),
        ];
        parts.iter().try_for_each(|part| out.write_all(&count(part.len()).to_le_bytes()))?;
        parts.iter().try_for_each(|part| out.write_all(part))
    }
}

/// Numbers of one size as one part.
fn joined<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut part = Vec::new();
    numbers.for_each(|number| part.extend_from_slice(&number));
    part
}

/// `N` words from their bytes.
#[inline(always)]
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (chunks, _) = bytes.as_chunks::<WORD>();
    std::array::from_fn(|at| u64::from_le_bytes(chunks[at]))
}

/// A number of blocks, rows or bytes as a row keeps it.
pub(super) fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
