//! The terms of a segment that is being written, in memory: for each term its documents and how often it
//! stands in them.
//!
//! A segment is written from exactly what the analyzer says: no document is made for an indexing library
//! to take apart again. Each word is looked up once; its stem is remembered with it. Postings are
//! differences in variable length, in chains of chunks that grow with the list, so most cost a byte or two.

use std::borrow::Cow;
use std::io;

use tantivy::postings::FieldSerializer;

use crate::search::analyze::text::STEM;

/// No term.
const NONE: u32 = u32::MAX;
/// The stem is not known yet.
const UNKNOWN: u32 = u32::MAX - 1;
/// Bytes of the first chunk of a list, and of the largest.
const FIRST: u32 = 12;
const LARGEST: u32 = 1536;
/// Bytes that name the next chunk.
const LINK: u32 = 4;

/// A term's list: as long as a line of a processor's cache, and one of them.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct List {
    /// The term's first bytes.
    front: Front,
    /// Where its bytes begin, and how many they are.
    term: u32,
    length: u32,
    /// The term of its stem.
    stem: u32,
    /// Documents, the open one among them.
    docs: u32,
    /// The open document, not written yet, and how often the term stood in it so far.
    doc: u32,
    times: u32,
    /// The last document that is written.
    written: u32,
    /// The first chunk; where the next byte goes; where the chunk ends.
    first: u32,
    at: u32,
    end: u32,
    /// How large the chunk is.
    size: u32,
}

/// A term's first sixteen bytes, as numbers that order as they do; nearly all words are no longer.
type Front = [u64; 2];
/// So many bytes.
const FRONT: usize = size_of::<Front>();

/// What a term is looked up by.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    front: Front,
    hash: u32,
    /// The term's length.
    pub length: u32,
    /// The term's number, once it was looked up.
    pub number: u32,
}

impl Key {
    /// That of a term which is not looked up yet.
    pub fn of(term: &[u8]) -> Self {
        Self { front: front(term), hash: hash(term), length: term.len() as u32, number: NONE }
    }

    fn is_of(&self, list: &List) -> bool {
        list.front == self.front && list.length == self.length
    }
}

/// Terms and their postings.
#[derive(Debug, Default)]
pub struct Postings {
    /// Open addressing: a term's hash, and its number plus one.
    slots: Vec<(u32, u32)>,
    lists: Vec<List>,
    terms: Vec<u8>,
    chunks: Vec<u8>,
    total: u64,
}

impl Postings {
    /// Occurrences so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.slots.len() * 8 + self.lists.len() * size_of::<List>() + self.terms.len() + self.chunks.len()
    }

    /// The number of a term.
    pub fn term(&mut self, term: &[u8]) -> u32 {
        self.place(term, &Key::of(term))
    }

    /// The numbers of many terms, put into their keys; the terms stand one after the other in `bytes`. A
    /// lookup alone waits for memory twice; here the waits of all of them go on at once.
    pub fn terms(&mut self, keys: &mut [Key], bytes: &[u8]) {
        while (self.lists.len() + keys.len()) * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        for key in &mut *keys {
            let (hash, number) = self.slots[key.hash as usize & mask];
            key.number = if hash == key.hash { number.wrapping_sub(1) } else { NONE };
        }
        for key in &mut *keys {
            let list = self.lists.get(key.number as usize);
            if key.length as usize > FRONT || !list.is_some_and(|list| key.is_of(list)) {
                key.number = NONE;
            }
        }
        let mut rest = bytes;
        for key in keys {
            let (term, after) = rest.split_at(key.length as usize);
            rest = after;
            if key.number == NONE {
                key.number = self.place(term, key);
            }
        }
    }

    fn place(&mut self, term: &[u8], key: &Key) -> u32 {
        if self.lists.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let Key { hash, front, length, .. } = *key;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let (of, Some(known)) = (self.slots[slot].0, self.slots[slot].1.checked_sub(1)) {
            // The list is touched only where the hash agrees; of a short term its front is all of it.
            let is_it = |list| {
                key.is_of(list) && (term.len() <= FRONT || self.bytes(known)[FRONT..] == term[FRONT..])
            };
            if of == hash && is_it(&self.lists[known as usize]) {
                return known;
            }
            slot = (slot + 1) & mask;
        }
        let new = self.lists.len() as u32;
        self.slots[slot] = (hash, new + 1);
        self.lists.push(List {
            front,
            term: self.terms.len() as u32,
            length,
            stem: UNKNOWN,
            docs: 0,
            doc: NONE,
            times: 0,
            written: 0,
            first: NONE,
            at: 0,
            end: 0,
            size: 0,
        });
        self.terms.extend_from_slice(term);
        new
    }

    /// The term of the stem of `term`, none where the word is its own; `stem` is asked once a term. A marked
    /// stem is another term than the word that looks like it.
    pub fn stem<'a>(
        &mut self,
        term: u32,
        is_marked: bool,
        stem: impl FnOnce() -> Option<Cow<'a, str>>,
    ) -> Option<u32> {
        let known = self.lists[term as usize].stem;
        if known != UNKNOWN {
            return (known != NONE).then_some(known);
        }
        let found = stem().map(|stem| {
            if is_marked {
                let mut marked = Vec::with_capacity(stem.len() + 1);
                marked.push(STEM as u8);
                marked.extend_from_slice(stem.as_bytes());
                self.term(&marked)
            } else {
                self.term(stem.as_bytes())
            }
        });
        self.lists[term as usize].stem = found.unwrap_or(NONE);
        found
    }

    /// `term` stands in `doc`, `times` more. Documents come in order.
    pub fn add(&mut self, term: u32, doc: u32, times: u32) {
        self.total += u64::from(times);
        let list = &mut self.lists[term as usize];
        if list.doc == doc {
            list.times += times;
            return;
        }
        if list.doc != NONE {
            let more = u32::from(list.times > 1);
            let step = list.doc - list.written;
            number(&mut self.chunks, list, u64::from(step) << 1 | u64::from(more));
            if more == 1 {
                let times = u64::from(list.times);
                number(&mut self.chunks, list, times);
            }
            list.written = list.doc;
        }
        list.doc = doc;
        list.times = times;
        list.docs += 1;
    }

    /// Writes all terms in order, with how often they stand where the field keeps it.
    pub fn write(&self, field: &mut FieldSerializer<'_>, keeps_times: bool) -> io::Result<()> {
        let mut order: Vec<(Front, u32)> = (0..self.lists.len() as u32)
            .filter(|term| self.lists[*term as usize].docs > 0)
            .map(|term| (self.lists[term as usize].front, term))
            .collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.bytes(a.1).cmp(self.bytes(b.1))));
        for (_, term) in order {
            let list = &self.lists[term as usize];
            field.new_term(self.bytes(term), list.docs, keeps_times)?;
            self.each(list, |doc, times| field.write_doc(doc, times, &[]));
            field.close_term()?;
        }
        Ok(())
    }

    fn bytes(&self, term: u32) -> &[u8] {
        let list = &self.lists[term as usize];
        &self.terms[list.term as usize..(list.term + list.length) as usize]
    }

    fn each(&self, list: &List, mut emit: impl FnMut(u32, u32)) {
        let end = list.first.wrapping_add(FIRST);
        let mut read = Chain { chunks: &self.chunks, at: list.first, end, size: FIRST };
        let mut doc = 0;
        for _ in 1..list.docs {
            let head = read.number();
            doc += (head >> 1) as u32;
            let times = if head & 1 == 1 { read.number() as u32 } else { 1 };
            emit(doc, times);
        }
        emit(list.doc, list.times);
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1024);
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (hash, term) in old.into_iter().filter(|(_, term)| *term != 0) {
            let mut slot = hash as usize & (size - 1);
            while self.slots[slot].1 != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = (hash, term);
        }
    }
}

fn number(chunks: &mut Vec<u8>, list: &mut List, mut value: u64) {
    while value >= 0x80 {
        byte(chunks, list, value as u8 | 0x80);
        value >>= 7;
    }
    byte(chunks, list, value as u8);
}

fn byte(chunks: &mut Vec<u8>, list: &mut List, byte: u8) {
    if list.at == list.end {
        let new = chunks.len() as u32;
        if list.first == NONE {
            (list.first, list.size) = (new, FIRST);
        } else {
            chunks[list.end as usize..][..LINK as usize].copy_from_slice(&new.to_le_bytes());
            list.size = (list.size * 2).min(LARGEST);
        }
        chunks.resize((new + list.size + LINK) as usize, 0);
        (list.at, list.end) = (new, new + list.size);
    }
    chunks[list.at as usize] = byte;
    list.at += 1;
}

/// A list's bytes, chunk by chunk.
struct Chain<'a> {
    chunks: &'a [u8],
    at: u32,
    end: u32,
    size: u32,
}

impl Chain<'_> {
    fn byte(&mut self) -> u8 {
        if self.at == self.end {
            let mut next = [0; LINK as usize];
            next.copy_from_slice(&self.chunks[self.end as usize..][..LINK as usize]);
            self.size = (self.size * 2).min(LARGEST);
            self.at = u32::from_le_bytes(next);
            self.end = self.at + self.size;
        }
        let byte = self.chunks[self.at as usize];
        self.at += 1;
        byte
    }

    fn number(&mut self) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
}

/// See [`Front`].
fn front(term: &[u8]) -> Front {
    match term.split_first_chunk::<8>() {
        Some((first, rest)) => [u64::from_be_bytes(*first), eight(rest)],
        None => [eight(term), 0],
    }
}

/// At most eight bytes as a number that orders as they do.
fn eight(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    bytes.iter().fold(0, |front, byte| front << 8 | u64::from(*byte)) << (8 * (8 - bytes.len())).min(63)
}

/// A multiplicative hash of short keys, eight bytes at a time.
fn hash(term: &[u8]) -> u32 {
    let mut hash = term.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut mix = |word: u64| {
        let wide = u128::from(hash ^ word) * 0xa076_1d64_78bd_642f;
        hash = (wide as u64) ^ ((wide >> 64) as u64);
    };
    let mut chunks = term.chunks_exact(8);
    for chunk in &mut chunks {
        mix(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    let rest = chunks.remainder();
    match rest.len() {
        0 => {}
        1..4 => mix(u64::from(rest[0])
            | u64::from(rest[rest.len() / 2]) << 8
            | u64::from(rest[rest.len() - 1]) << 16),
        length => {
            let low = u32::from_le_bytes(rest[..4].try_into().unwrap_or_default());
            let high = u32::from_le_bytes(rest[length - 4..].try_into().unwrap_or_default());
            mix(u64::from(low) | u64::from(high) << 32);
        }
    }
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests;
