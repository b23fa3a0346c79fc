//! Tokenizes by Unigram: text to the most probable pieces of a vocabulary whose pieces carry their log probabilities.
//!
//! The best way through a word is found from the left (Viterbi; Kudo 2018). A character that no piece covers costs more
//! than any piece, and a run of such characters is one unknown token. Pure.

use crate::embed::fast::FastMap;

/// How much less probable an unknown character is than the least probable piece.
const UNKNOWN_COST: f32 = 10.0;

/// A vocabulary of pieces.
#[derive(Debug)]
pub struct Unigram {
    pieces: FastMap<Box<str>, (u32, f32)>,
    /// The longest piece, in bytes.
    longest: usize,
    /// The score of an unknown character.
    unknown: f32,
}

impl Unigram {
    /// Of pieces with their log probabilities, in the order of their numbers.
    pub fn new(pieces: Vec<(String, f32)>) -> Self {
        let least = pieces.iter().map(|(_, score)| *score).fold(0.0_f32, f32::min);
        let longest = pieces.iter().map(|(piece, _)| piece.len()).max().unwrap_or(0);
        let pieces = (0..).zip(pieces).map(|(at, (piece, score))| (piece.into_boxed_str(), (at, score)));
        Self { pieces: pieces.collect(), longest, unknown: least - UNKNOWN_COST }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The number of a piece.
    pub fn piece(&self, piece: &str) -> Option<u32> {
        self.pieces.get(piece).map(|(number, _)| *number)
    }

    /// The pieces of one word; none for a run of characters that no piece covers.
    pub fn split(&self, word: &str, mut emit: impl FnMut(Option<u32>)) {
        // For each byte: the best score of a way to it, where its last step began, and that step's piece.
        let mut best: Vec<(f32, usize, Option<u32>)> = vec![(f32::NEG_INFINITY, 0, None); word.len() + 1];
        best[0].0 = 0.0;
        for (from, c) in word.char_indices() {
            let reached = best[from].0;
            let one = from + c.len_utf8();
            let mut covered = false;
            let most = word.len().min(from.saturating_add(self.longest));
            for to in (one..=most).filter(|to| word.is_char_boundary(*to)) {
                let Some((number, score)) = self.pieces.get(&word[from..to]) else { continue };
                covered |= to == one;
                if reached + score > best[to].0 {
                    best[to] = (reached + score, from, Some(*number));
                }
            }
            if !covered && reached + self.unknown > best[one].0 {
                best[one] = (reached + self.unknown, from, None);
            }
        }
        let (mut steps, mut at) = (Vec::new(), word.len());
        while at > 0 {
            let (_, from, piece) = best[at];
            if piece.is_some() || steps.last() != Some(&None) {
                steps.push(piece);
            }
            at = from;
        }
        steps.into_iter().rev().for_each(&mut emit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_probable_way_is_taken() {
        let pieces = [
            ("▁", -2.0),
            ("▁hug", -3.0),
            ("s", -2.5),
            ("▁hugs", -6.0),
            ("h", -4.0),
            ("u", -4.0),
            ("é", -4.0),
        ];
        let unigram = Unigram::new(pieces.map(|(piece, score)| (piece.to_owned(), score)).to_vec());
        let split = |word: &str| {
            let mut found = Vec::new();
            unigram.split(word, |piece| found.push(piece));
            found
        };
        assert_eq!(split("▁hugs"), [Some(1), Some(2)], "-5.5 is more than -6");
        assert_eq!(split("▁hu"), [Some(0), Some(4), Some(5)]);
        assert_eq!(split("▁xyzé"), [Some(0), None, Some(6)], "a run of unknown ones is one");
        assert_eq!(split(""), []);
        assert_eq!(unigram.piece("▁hugs"), Some(3));
    }
}
