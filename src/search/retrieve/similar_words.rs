//! Finds words of the vault that look like a word of the question: other forms of it in any language, compounds that
//! contain it, and its correct spelling if it is misspelt.
//!
//! Likeness is the share of a word's pieces of four letters (its two ends count as letters) that another has, to the
//! third power. It needs no dictionary, and it is the same for every vault. A German stemmer for German notes in its
//! place found 30 of `notes-dev`'s 42 German answers among the first ten, not 33. All terms of the corpus are compared
//! by their signatures, a nanosecond each, and the possible matches by their letters. Scripts written without spaces
//! have pairs of characters for terms; each character of the question is looked up on its own among them, too. Pure.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::search::analyze::pieces::{Piece, bit, each_piece};
use crate::search::store::corpus::Corpus;

/// A word with fewer of a question's word's pieces than this share is another word.
const LEAST: f32 = 0.35;
/// So many words are taken beside a question's own; more would be worse ones.
const MOST: usize = 12;
/// Finds the words of a corpus that look like the terms of a question.
#[derive(Debug)]
pub(in crate::search) struct SimilarWordFinder {
    /// Which of the words have a piece, as bits.
    pieces: FxHashMap<Piece, u64>,
    /// How many pieces each word has.
    counts: Vec<f32>,
    /// The signature of each word, and how many of its bits a word that is near has.
    signatures: Vec<(u64, u32)>,
    chars: Vec<char>,
    is_first: [bool; 256],
}

/// The terms that were found, each with its likeness to a word, or to a character: behind the words, in their order.
pub(in crate::search) type SimilarWords = Vec<Vec<(String, f32)>>;

impl SimilarWordFinder {
    /// For these terms of a question, at most 64 of them, and these characters.
    pub fn new<'t>(terms: impl Iterator<Item = &'t str>, chars: &[char]) -> Self {
        let mut this = Self {
            pieces: FxHashMap::default(),
            counts: Vec::new(),
            signatures: Vec::new(),
            chars: chars.to_vec(),
            is_first: [false; 256],
        };
        for (at, term) in terms.take(64).enumerate() {
            let mut own: Vec<Piece> = Vec::new();
            // Pairs of characters are looked for as they are.
            if term.bytes().next().is_some_and(|first| first < 0xE0) {
                each_piece(term.as_bytes(), |piece| own.push(piece));
            }
            own.sort_unstable();
            own.dedup();
            this.counts.push(own.len() as f32);
            let bits = own.iter().fold(0, |bits, piece| bits | bit(*piece));
            // Pieces that share a bit say less.
            let shared = (own.len() as u32).saturating_sub(bits.count_ones());
            let least = (own.len() as f32 * LEAST).ceil() as u32;
            this.signatures.push((bits, least.saturating_sub(shared).max(1)));
            for piece in own {
                *this.pieces.entry(piece).or_default() |= 1 << at;
            }
        }
        for c in chars {
            this.is_first[usize::from(c.encode_utf8(&mut [0; 4]).as_bytes()[0])] = true;
        }
        this
    }

    /// The similar words of one layer of a corpus.
    pub fn look(&self, corpus: &Corpus, layer: usize) -> SimilarWords {
        let mut found: SimilarWords = vec![Vec::new(); self.counts.len() + self.chars.len()];
        let mut tallies = vec![0_u8; self.counts.len()];
        corpus.each_term(layer, &self.signatures, |term| {
            let Some(first) = term.first() else { return };
            if *first >= 0xE0 {
                if self.is_first[usize::from(*first)] {
                    self.by_char(term, &mut found);
                }
                return;
            }
            let mut is_touched = false;
            each_piece(term, |piece| {
                let mut of = self.pieces.get(&piece).copied().unwrap_or(0);
                while of != 0 {
                    tallies[of.trailing_zeros() as usize] += 1;
                    is_touched = true;
                    of &= of - 1;
                }
            });
            if is_touched {
                self.by_pieces(term, &mut tallies, &mut found);
            }
        });
        found
    }

    fn by_pieces(&self, term: &[u8], tallies: &mut [u8], found: &mut SimilarWords) {
        for ((tally, count), found) in tallies.iter_mut().zip(&self.counts).zip(found) {
            let share = (f32::from(std::mem::take(tally)) / count).min(1.0);
            if share >= LEAST
                && let Ok(term) = std::str::from_utf8(term)
            {
                found.push((term.to_owned(), share.powi(3)));
            }
        }
    }

    fn by_char(&self, term: &[u8], found: &mut SimilarWords) {
        let Ok(term) = std::str::from_utf8(term) else { return };
        let first = term.chars().next();
        let at = self.chars.iter().position(|c| Some(*c) == first);
        if let Some(found) = at.and_then(|at| found.get_mut(self.counts.len() + at)) {
            found.push((term.to_owned(), 1.0));
        }
    }

    /// The results of several layers as one: the nearest first, equals in the order of their letters.
    pub fn joined(&self, layers: Vec<SimilarWords>) -> SimilarWords {
        let mut by_term: Vec<HashMap<String, f32>> =
            vec![HashMap::new(); self.counts.len() + self.chars.len()];
        for layer in layers {
            for (to, from) in by_term.iter_mut().zip(layer) {
                to.extend(from);
            }
        }
        let sorted = |terms: HashMap<String, f32>| {
            let mut terms: Vec<(String, f32)> = terms.into_iter().collect();
            terms.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            terms
        };
        by_term.into_iter().map(sorted).collect()
    }

    /// How many terms are taken for the word or character at this place.
    pub fn most(&self, at: usize) -> usize {
        if at < self.counts.len() { MOST } else { usize::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::read::block::{Block, Kind, ParsedNote};

    fn alike(text: &str, terms: &[&str], chars: &[char]) -> SimilarWords {
        let mut corpus = Corpus::default();
        let blocks = vec![Block::new(Kind::Paragraph, 0, 0, text.to_owned())];
        let note = ParsedNote { blocks, ..ParsedNote::default() };
        corpus.put([("a.md".to_owned(), note)]).unwrap();
        let finder = SimilarWordFinder::new(terms.iter().copied(), chars);
        finder.joined(vec![finder.look(&corpus, 0)])
    }

    #[test]
    fn forms_compounds_and_misspelt_words_are_near() {
        let found =
            alike("Hausbatterie Stromtarif Ladekabel kitten", &["hausbateri", "kabel", "kittne"], &[]);
        assert_eq!(found[0][0].0, "hausbatteri");
        assert_eq!(found[1][0].0, "ladekabel");
        assert_eq!(found[2][0].0, "kitten");
        assert!(found.iter().all(|found| found.len() == 1 && found[0].1 > 0.04));
        assert!(alike("apple tree", &["zebra", "ox"], &[]).iter().all(Vec::is_empty));
    }

    #[test]
    fn characters_are_found_where_pairs_begin_with_them() {
        let found = alike("银耳莲子", &["银儿"], &['银', '儿']);
        assert_eq!(found[1], [("银耳".to_owned(), 1.0)]);
        assert!(found[0].is_empty() && found[2].is_empty());
    }
}
