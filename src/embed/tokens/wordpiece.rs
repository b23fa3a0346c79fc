//! Tokenizes as BERT (uncased): text to the WordPiece tokens of a vocabulary.
//!
//! Exactly what the sentence model was trained with: control characters go, CJK characters stand alone,
//! accents and case are folded, words and punctuation are split, and each word is cut into the longest
//! pieces that the vocabulary knows, from the left (Wu et al. 2016). Tested against the reference
//! implementation's output. Pure; allocates only its own buffers.

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use unicode_normalization::UnicodeNormalization;

/// Words longer than this are one unknown token, as in the reference.
const LONGEST_WORD: usize = 100;

/// The numbers of tokens: the vocabulary of the built-in table or of a model's directory.
pub trait TokenVocabulary {
    /// The number of a piece; `inner` for one that continues a word (written `##piece` in vocabularies).
    fn piece(&self, piece: &str, inner: bool) -> Option<u32>;
    /// The number of the unknown token.
    fn unknown(&self) -> u32;
}

/// Calls `emit` with each word of `text` as the model reads it: folded, split from its punctuation.
pub fn words(text: &str, mut emit: impl FnMut(&str)) {
    let mut word = String::new();
    let mut flush = |word: &mut String| {
        if !word.is_empty() {
            emit(word);
            word.clear();
        }
    };
    for c in text.chars() {
        if c.is_ascii() {
            match c {
                'a'..='z' | '0'..='9' => word.push(c),
                'A'..='Z' => word.push(c.to_ascii_lowercase()),
                ' ' | '\t' | '\n' | '\r' => flush(&mut word),
                // Other ASCII controls vanish, also inside a word.
                '\0'..='\x1f' | '\x7f' => {}
                _ => {
                    flush(&mut word);
                    word.push(c);
                    flush(&mut word);
                }
            }
            continue;
        }
        if c == '\u{fffd}' || is_control(c) {
            continue;
        }
        if c.is_whitespace() {
            flush(&mut word);
        } else if is_cjk(c) {
            flush(&mut word);
            word.push(c);
            flush(&mut word);
        } else {
            for part in c.nfd() {
                if is_nonspacing(part) {
                    continue;
                }
                for lower in part.to_lowercase() {
                    if is_punctuation(lower) {
                        flush(&mut word);
                        word.push(lower);
                        flush(&mut word);
                    } else {
                        // Lower-casing can make a combining mark (`İ`), which the reference keeps.
                        word.push(lower);
                    }
                }
            }
        }
    }
    flush(&mut word);
}

/// Calls `emit` with the number of each token of `text`, without special tokens, at most `limit`.
pub fn tokens(vocabulary: &impl TokenVocabulary, text: &str, limit: usize, mut emit: impl FnMut(u32)) {
    let mut left = limit;
    let mut pieces = Vec::new();
    words(text, |word| {
        if left == 0 {
            return;
        }
        pieces.clear();
        split(vocabulary, word, &mut pieces);
        for piece in pieces.iter().take(left) {
            emit(*piece);
        }
        left -= pieces.len().min(left);
    });
}

/// The pieces of one word, or the unknown token for one that can't be cut into known pieces.
pub fn split(vocabulary: &impl TokenVocabulary, word: &str, pieces: &mut Vec<u32>) {
    if let Some(whole) = vocabulary.piece(word, false) {
        pieces.push(whole);
        return;
    }
    let first = pieces.len();
    if word.chars().count() > LONGEST_WORD {
        pieces.push(vocabulary.unknown());
        return;
    }
    let mut start = 0;
    while start < word.len() {
        let mut end = word.len();
        let found = loop {
            if end == start {
                break None;
            }
            if let Some(piece) = vocabulary.piece(&word[start..end], start > 0) {
                break Some(piece);
            }
            end -= 1;
            while !word.is_char_boundary(end) {
                end -= 1;
            }
        };
        let Some(piece) = found else {
            pieces.truncate(first);
            pieces.push(vocabulary.unknown());
            return;
        };
        pieces.push(piece);
        start = end;
    }
}

/// The CJK ideograph blocks that BERT sets apart (its own list, without kana and hangul).
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

/// Whether BERT sets a character apart as a punctuation mark.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        GeneralCategoryGroup::Punctuation.contains(category(c))
    }
}

/// Whether a character is a mark above or below another one, such as an accent.
fn is_nonspacing(c: char) -> bool {
    !c.is_ascii() && category(c) == GeneralCategory::NonspacingMark
}

/// Whether a character is a control, a mark of format, or of private use, which BERT takes out.
fn is_control(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    matches!(category(c), Control | Format | PrivateUse)
}
