//! Splits a text into the WordPiece tokens of the built-in table, as BERT (uncased) does.
//!
//! The rules are those that the sentence model was trained with (Wu et al. 2016):
//! - Control characters are removed; accents and case are folded.
//! - Words and punctuation are split; each CJK character is a word.
//! - Each word is cut from the left into the longest pieces that the table has.
//!
//! Tests compare the tokens with those of the reference implementation. Pure.

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use unicode_normalization::UnicodeNormalization;

use super::table::BuiltinTable;

/// Words longer than this are one unknown token, as in the reference.
const LONGEST_WORD: usize = 100;

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

/// The pieces of one word, or the unknown token for one that can't be cut into known pieces.
pub fn split(table: &BuiltinTable, word: &str, pieces: &mut Vec<u32>) {
    let is_short = word.chars().count() <= LONGEST_WORD;
    let (first, mut start) = (pieces.len(), 0);
    while start < word.len() {
        let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
        let piece = |end: usize| Some((table.piece(&word[start..end], start > 0)?, end));
        let longest = if is_short { ends.rev().find_map(piece) } else { None };
        let Some((piece, end)) = longest else {
            pieces.truncate(first);
            pieces.push(table.unknown());
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
