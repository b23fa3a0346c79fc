//! A stretch of the corpus that no longer changes, as bytes: written once, mapped into memory, read where it
//! lies.
//!
//! What is known of a block is a row of fixed size; vectors are codes ([`crate::search::store::corpus::code`]), the first word of each block's
//! signs in the order of the blocks, the rest once for each different text; terms are sorted text
//! with their postings as variable-length numbers. A value that can't be (a torn file) is passed over, never trusted.

use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use crate::search::analyze::days::About;
use crate::search::analyze::pieces::signature;
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::code::{Code, Signs};
use crate::search::store::corpus::meta::{Meta, NEVER, NO_ROW, Rest};
use crate::search::store::corpus::tail::Tail;
use crate::search::store::corpus::vectors::Hash;
use crate::search::store::postings;

/// A layer numbers its blocks with so many bits.
pub const BITS: u32 = 16;
/// The most blocks of a layer.
pub const MOST: usize = 1 << BITS;

const MAGIC: &[u8; 8] = b"VARECL06";
const HEAD: usize = 8 + 5 * 4;
const META: usize = 28;
const WORD: usize = 8;
/// What is stored in place of [`NEVER`].
const NO_TIME: i64 = -1 << 47;
const REST: usize = size_of::<Rest>();
const LARGE: usize = size_of::<Signs>();

impl Meta {
    fn to_bytes(self) -> [u8; META] {
        let mut out = [0; META];
        // A year is 2^25 seconds: six bytes are enough, and the least number of them stands for no time.
        let time = match self.time {
            NEVER => NO_TIME,
            time => time.clamp(NO_TIME + 1, -(NO_TIME + 1)),
        };
        let time = time.to_le_bytes();
        let parts: [&[u8]; 8] = [
            &self.file.to_le_bytes(),
            &self.line.to_le_bytes(),
            &self.author.to_le_bytes(),
            &self.window.to_le_bytes(),
            &time[..6],
            &self.about.to_bytes(),
            &self.length.to_le_bytes(),
            &self.shape.0.to_le_bytes(),
        ];
        let mut at = 0;
        for part in parts {
            out[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        out
    }

    #[inline]
    fn from_bytes(bytes: &[u8; META]) -> Self {
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let [.., a, b, c, d] = *bytes;
        let [.., e, f, g, h, _, _, _, _] = *bytes;
        let (low, high) = (i64::from(u32::from_le_bytes(four(16))), i64::from(i16::from_le_bytes([e, f])));
        let time = high << 32 | low;
        Self {
            file: u32::from_le_bytes(four(0)),
            line: u32::from_le_bytes(four(4)),
            author: u32::from_le_bytes(four(8)),
            window: f32::from_le_bytes(four(12)),
            time: if time == NO_TIME { NEVER } else { time },
            about: About::from_bytes([g, h]),
            length: u16::from_le_bytes([a, b]),
            shape: Shape(u16::from_le_bytes([c, d])),
        }
    }
}

/// A layer.
#[derive(Debug, Clone)]
pub struct Layer {
    bytes: OwnedBytes,
    len: usize,
    rows: usize,
    /// Where each part begins, and where the last ends.
    at: [usize; PARTS + 1],
}

const PARTS: usize = 11;
/// The parts in their order.
const METAS: usize = 0;
const HASHES: usize = 1;
const ROWS: usize = 2;
const FIRST_SIGNS: usize = 3;
const OTHER_SIGNS: usize = 4;
const LARGE_ONES: usize = 5;
const TERM_ENDS: usize = 6;
const POSTING_ENDS: usize = 7;
const SIGNATURES: usize = 8;
const TEXT: usize = 9;
const POSTINGS: usize = 10;

impl Layer {
    /// The layer in the file `name` of `dir`; none where that is none, or a torn one.
    pub fn map(dir: &Path, name: &str) -> Option<Self> {
        let files = MmapDirectory::open(dir).ok()?;
        Self::new(files.open_read(Path::new(name)).ok()?.read_bytes().ok()?)
    }

    /// From the bytes of [`bytes`].
    pub fn new(bytes: OwnedBytes) -> Option<Self> {
        let head = bytes.get(..HEAD)?.strip_prefix(MAGIC)?;
        let number = |at: usize| read_u32(head, at) as usize;
        let (len, rows, terms) = (number(0), number(1), number(2));
        let sizes = [
            META * len,
            size_of::<Hash>() * len,
            4 * len,
            WORD * len,
            REST * rows,
            LARGE * rows,
            4 * terms,
            4 * terms,
            WORD * terms,
            number(3),
            number(4),
        ];
        let mut at = [HEAD; PARTS + 1];
        for (part, size) in sizes.into_iter().enumerate() {
            at[part + 1] = at[part] + size;
        }
        (at[PARTS] == bytes.len() && len <= MOST).then_some(Self { bytes, len, rows, at })
    }

    #[inline]
    fn part(&self, part: usize) -> &[u8] {
        &self.bytes[self.at[part]..self.at[part + 1]]
    }

    /// The bytes as they stand on disk.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many blocks it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many vectors it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What is known of a block.
    #[inline]
    pub fn meta(&self, slot: usize) -> Meta {
        let (rows, _) = self.part(METAS).as_chunks::<META>();
        Meta::from_bytes(&rows[slot])
    }

    /// The row of a block's vector, or [`NO_ROW`]; none where there is no such block.
    #[inline]
    pub fn row_of(&self, slot: usize) -> Option<u32> {
        let (rows, _) = self.part(ROWS).as_chunks::<4>();
        rows.get(slot).map(|row| u32::from_le_bytes(*row))
    }

    /// The content hash of what a model embeds of a block.
    pub fn hash(&self, slot: usize) -> Hash {
        let (rows, _) = self.part(HASHES).as_chunks::<{ size_of::<Hash>() }>();
        rows[slot]
    }

    /// The first words of some blocks' signs, in their order, zero without a vector; none where there are no such blocks.
    #[inline]
    pub fn first_signs(&self, slots: std::ops::Range<usize>) -> impl ExactSizeIterator<Item = u64> {
        let (words, _) = self.part(FIRST_SIGNS).as_chunks::<WORD>();
        words.get(slots).unwrap_or(&[]).iter().map(|word| u64::from_le_bytes(*word))
    }

    /// The signs of a vector behind the first word; none where there is no such row.
    #[inline]
    pub fn other_signs(&self, row: u32) -> Option<Rest> {
        let (rows, _) = self.part(OTHER_SIGNS).as_chunks::<REST>();
        Some(words(rows.get(row as usize)?))
    }

    /// The vector of a block; none where it has none.
    #[inline]
    pub fn code(&self, slot: usize) -> Option<Code> {
        let row = self.row_of(slot).filter(|row| *row != NO_ROW)?;
        let first = self.first_signs(slot..slot + 1).next()?;
        let [second, third, fourth] = self.other_signs(row)?;
        let (rows, _) = self.part(LARGE_ONES).as_chunks::<LARGE>();
        Some(Code { signs: [first, second, third, fourth], large: words(rows.get(row as usize)?) })
    }

    /// Calls `each` with the blocks in which `term` stands, ascending, and its count in each.
    pub fn each(&self, term: &str, mut each: impl FnMut(u32, u32)) {
        if let Some(at) = self.find(term) {
            postings::decode(self.postings(at), |slot, count| {
                if (slot as usize) < self.len {
                    each(slot, count);
                }
            });
        }
    }

    /// The signature of each term, in their order ([`crate::search::analyze::pieces::signature`]).
    pub fn signatures(&self) -> impl ExactSizeIterator<Item = u64> {
        let (words, _) = self.part(SIGNATURES).as_chunks::<WORD>();
        words.iter().map(|word| u64::from_le_bytes(*word))
    }

    fn postings(&self, at: usize) -> &[u8] {
        stretch(self.part(POSTING_ENDS), at).and_then(|range| self.part(POSTINGS).get(range)).unwrap_or(&[])
    }

    /// The term at a place; empty where there is none.
    pub fn term(&self, at: usize) -> &[u8] {
        stretch(self.part(TERM_ENDS), at).and_then(|range| self.part(TEXT).get(range)).unwrap_or(&[])
    }

    fn terms(&self) -> usize {
        self.part(TERM_ENDS).len() / 4
    }

    fn find(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.terms());
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).cmp(term.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All of it, to be added to.
    pub fn thaw(&self) -> Tail {
        let mut tail = Tail {
            metas: (0..self.len).map(|slot| self.meta(slot)).collect(),
            hashes: (0..self.len).map(|slot| self.hash(slot)).collect(),
            ..Tail::default()
        };
        for slot in 0..self.len {
            let row = tail.row(&self.hash(slot), || self.code(slot));
            tail.rows.push(row);
        }
        for at in 0..self.terms() {
            let Ok(term) = std::str::from_utf8(self.term(at)) else { continue };
            let id = tail.postings.id(term);
            postings::decode(self.postings(at), |slot, count| {
                if (slot as usize) < self.len {
                    tail.postings.push(id, slot, count);
                }
            });
        }
        tail
    }
}

/// A tail as the bytes of a layer.
pub fn bytes(tail: &Tail) -> Vec<u8> {
    let terms = tail.postings.sorted();
    let (mut text, mut ends, mut packed) = (Vec::new(), Vec::new(), Vec::new());
    let mut signatures = Vec::new();
    let mut stretches = Vec::new();
    for (term, list) in terms {
        text.extend_from_slice(term.as_bytes());
        ends.extend_from_slice(&number(text.len()));
        signatures.extend_from_slice(&signature(term.as_bytes()).to_le_bytes());
        packed.extend_from_slice(&list.packed);
        stretches.extend_from_slice(&number(packed.len()));
    }
    let mut out = Vec::with_capacity(
        HEAD + tail.len() * (META + size_of::<Hash>() + 4 + WORD)
            + tail.codes.len() * (REST + LARGE)
            + ends.len() * 4
            + text.len()
            + packed.len(),
    );
    out.extend_from_slice(MAGIC);
    for count in [tail.len(), tail.codes.len(), ends.len() / 4, text.len(), packed.len()] {
        out.extend_from_slice(&number(count));
    }
    tail.metas.iter().for_each(|meta| out.extend_from_slice(&meta.to_bytes()));
    tail.hashes.iter().for_each(|hash| out.extend_from_slice(hash));
    tail.rows.iter().for_each(|row| out.extend_from_slice(&row.to_le_bytes()));
    (0..tail.len()).for_each(|slot| out.extend_from_slice(&tail.first_signs(slot).to_le_bytes()));
    let rest = tail.codes.iter().flat_map(|code| &code.signs[1..]);
    let large = tail.codes.iter().flat_map(|code| &code.large);
    rest.chain(large).for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    for part in [&ends, &stretches, &signatures, &text, &packed] {
        out.extend_from_slice(part);
    }
    out
}

/// `N` words from their bytes. A loop, not an adapter: builds that a person waits for don't inline those everywhere.
#[inline(always)]
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (chunks, _) = bytes.as_chunks::<WORD>();
    let mut words = [0; N];
    for at in 0..N.min(chunks.len()) {
        words[at] = u64::from_le_bytes(chunks[at]);
    }
    words
}

fn number(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes()
}

#[inline]
fn read_u32(bytes: &[u8], at: usize) -> u32 {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.get(at).map_or(0, |number| u32::from_le_bytes(*number))
}

/// The range that ends at the `at`th of `ends` and begins where the one before it ends.
fn stretch(ends: &[u8], at: usize) -> Option<std::ops::Range<usize>> {
    let start = if at == 0 { 0 } else { read_u32(ends, at - 1) as usize };
    let end = read_u32(ends, at) as usize;
    (start <= end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_block_comes_back() {
        let meta = Meta {
            file: 7,
            line: 1 << 30,
            author: 3,
            window: 1.25,
            time: NEVER,
            about: About::default(),
            length: 65_535,
            shape: Shape(0x8001),
        };
        assert_eq!(Meta::from_bytes(&meta.to_bytes()), meta);
        let said = jiff::civil::date(2026, 11, 21);
        for (time, about) in [
            (-5, About::default()),
            (1 << 40, About::of("yesterday", said)),
            (0, About::of("next week", said)),
        ] {
            let other = Meta { time, about, ..meta };
            assert_eq!(Meta::from_bytes(&other.to_bytes()), other);
        }
    }
}
