//! Turns text into the words that ranking counts: lower-cased runs of letters and digits, stemmed, without English
//! function words and question words. Also computes the [`Shape`] of a sentence: the kinds of content in it. Also cuts
//! words into 4-grams, of which related or misspelt words share many.
//!
//! Pure. Text in scripts without spaces is split into overlapping pairs of characters.

use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::embed::cut;

/// English function words, question words and auxiliaries. They show the form of a question, not its subject.
pub(in crate::search) const STOP: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then \
    there these they this to was will with what when where which who whom whose why how did do does done has \
    have had having were been being would could should may might can i me my you your we our us he him his she \
    her its them from about any some than so s t d m ll re ve don didn";

pub(in crate::search) static STOP_WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| STOP.split_ascii_whitespace().collect());

/// Says where a word may be cut at a line's end, and is seen there alone.
pub(in crate::search) const SOFT_HYPHEN: char = '\u{ad}';

/// The most bytes of a word; longer ones, such as base64, are cut.
const LONGEST: usize = 64;
/// The most words whose stems are kept.
const MOST_STEMS: usize = 20_000;

/// Turns text into terms; keeps each word's stem, so that a vault's words are stemmed once.
#[derive(Debug, Default)]
pub struct Terms {
    stems: FxHashMap<Box<str>, Box<str>>,
}

impl Terms {
    /// The term of one lower-case word, or `None` for a function word.
    pub fn term(&mut self, word: &str) -> Option<&str> {
        (!STOP_WORDS.contains(word)).then(|| self.stem(word))
    }

    /// The English stem of one lower-case word.
    pub(super) fn stem(&mut self, word: &str) -> &str {
        if !self.stems.contains_key(word) {
            if self.stems.len() > MOST_STEMS {
                self.stems.clear();
            }
            let stem = Box::from(&*Stemmer::new(Algorithm::English).stem(word));
            self.stems.insert(word.into(), stem);
        }
        &self.stems[word]
    }

    /// Calls `emit` with each term of `text`, in order.
    pub fn each(&mut self, text: &str, mut emit: impl FnMut(&str)) {
        words(text, |word| {
            if let Some(term) = self.term(word) {
                emit(term);
            }
        });
    }
}

/// Whether one of the lower-case words of `term` is a function word.
pub(in crate::search) fn has_function_word(term: &str) -> bool {
    if term.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return STOP_WORDS.contains(term);
    }
    let mut has = false;
    words(term, |word| has |= STOP_WORDS.contains(word));
    has
}

/// Calls `emit` with each lower-case word of `text`.
pub fn words(text: &str, mut emit: impl FnMut(&str)) {
    let mut word = String::new();
    let mut run: Vec<char> = Vec::new();
    for c in text.chars().filter(|c| *c != SOFT_HYPHEN).chain(std::iter::once(' ')) {
        if c >= '\u{e00}' && is_unspaced(c) {
            flush(&mut word, &mut emit);
            run.push(c);
            continue;
        }
        if !run.is_empty() {
            pairs(&run, &mut emit);
            run.clear();
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() || !word.is_empty() && is_mark(c) {
            word.extend(c.to_lowercase());
        } else {
            flush(&mut word, &mut emit);
        }
    }
}

/// The lower-case words of `text`.
pub fn word_list(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    words(text, |word| all.push(word.to_owned()));
    all
}

fn flush(word: &mut String, emit: &mut impl FnMut(&str)) {
    if word.is_empty() {
        return;
    }
    if !word.is_ascii() && word.contains(is_mark) {
        // A letter and its accent are one character, as they mostly are in notes.
        *word = word.nfc().collect();
    }
    emit(cut(word, LONGEST));
    word.clear();
}

fn pairs(run: &[char], emit: &mut impl FnMut(&str)) {
    let mut text = String::new();
    for pair in run.windows(run.len().min(2)) {
        text.clear();
        text.extend(pair);
        emit(&text);
    }
}

/// Whether `c` belongs to the letter before it: an accent, a vowel sign, a virama.
pub(in crate::search) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c) && !matches!(c, '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether `c` is of a script whose words have no spaces between them, or particles at their ends (Korean): Thai to
/// Khmer, kana, ideographs, hangul.
pub(in crate::search) fn is_unspaced(c: char) -> bool {
    let is_of_script = matches!(c, '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3105}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}');
    is_of_script && (c.is_alphanumeric() || is_combining_mark(c) || c == '\u{30fc}')
}

/// The kinds of content in a turn, as bits, such as a time, a number or a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape(pub u16);

impl Shape {
    /// One event of a log.
    pub const TURN: u16 = 1;
    /// Its first line ends with a question mark.
    pub const QUESTION: u16 = 1 << 1;
    /// It names a time.
    pub const TIME: u16 = 1 << 3;
    /// Its speaker speaks of themselves.
    pub const FIRST_PERSON: u16 = 1 << 4;
    /// It has a number.
    pub const NUMBER: u16 = 1 << 5;
    /// It has a capitalised word inside a sentence.
    pub const PROPER: u16 = 1 << 6;
    /// It has a verb in the past tense (once, or more often).
    pub const PAST: u16 = 1 << 8;
    /// It has more than one.
    pub const PAST_MORE: u16 = 1 << 9;
    /// It names a place (a preposition before a capitalised word).
    pub const PLACE: u16 = 1 << 11;
    /// It is the first turn of its conversation window; of a note's blocks, the first below its headings.
    pub const OPENING: u16 = 1 << 12;
    /// It is a tool's call or result, which has no vector.
    pub const TOOL: u16 = 1 << 13;

    /// Whether any of `bits` is set.
    #[inline(always)]
    pub fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }

    /// 1 where any of `bits` is set, else 0.
    pub fn flag(self, bits: u16) -> f32 {
        f32::from(u8::from(self.has(bits)))
    }

    /// The shape of a turn's `text`; `is_name` knows the speakers, whose names aren't proper nouns here.
    pub fn of(text: &str, is_name: impl Fn(&str) -> bool) -> Self {
        let mut bits = 0;
        let first_line = text.trim_end().lines().next().unwrap_or("");
        if first_line.trim_end().ends_with('?') {
            bits |= Self::QUESTION;
        }
        let (mut past, mut before) = (0, Before::Start);
        let mut lower = String::new();
        for word in text.split_whitespace() {
            let core = word.trim_matches(|c: char| !c.is_alphanumeric());
            lower.clear();
            if core.is_ascii() {
                lower.push_str(core);
                lower.make_ascii_lowercase();
            } else {
                lower.extend(core.chars().flat_map(char::to_lowercase));
            }
            let plain = lower.split(['\'', '’']).next().unwrap_or("");
            let class = CLASSES.get(plain).copied().unwrap_or_default();
            bits |= class & (Self::TIME | Self::FIRST_PERSON | Self::NUMBER);
            if is_year(plain) {
                bits |= Self::TIME;
            }
            if !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_digit()) {
                bits |= Self::NUMBER;
            }
            if class & Self::PAST != 0 || (plain.len() > 3 && plain.ends_with("ed")) {
                past += 1;
            }
            let capital = core.chars().next().is_some_and(char::is_uppercase)
                && core.chars().nth(1).is_some_and(char::is_lowercase);
            if capital && !is_name(plain) {
                match before {
                    Before::Start => {}
                    Before::Word => bits |= Self::PROPER,
                    // "In September" is no place.
                    Before::Preposition if class & Self::TIME != 0 => bits |= Self::PROPER,
                    Before::Preposition => bits |= Self::PROPER | Self::PLACE,
                }
            }
            before = match word.chars().last() {
                Some('.' | '!' | '?' | ':') | None => Before::Start,
                _ if class & Self::PLACE != 0 => Before::Preposition,
                _ if plain == "the" && before == Before::Preposition => Before::Preposition,
                Some(last) if last.is_lowercase() || last == ',' => Before::Word,
                _ => Before::Start,
            };
        }
        bits |= [0, Self::PAST, Self::PAST | Self::PAST_MORE][past.min(2)];
        Self(bits)
    }
}

/// The text before a word, to distinguish a name from a sentence's first word.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Start,
    Word,
    Preposition,
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit())
}

/// The words that tell the shape of a sentence, with the bit of each: prepositions of places have that of places.
static CLASSES: LazyLock<FxHashMap<&'static str, u16>> = LazyLock::new(|| {
    let lists = [
        (
            Shape::TIME,
            "ago april august days december february friday january july june last march may monday month months next \
             november october recently saturday september since sunday thursday today tomorrow tonight tuesday wednesday \
             week weekend weeks year years yesterday",
        ),
        (Shape::FIRST_PERSON, "i me mine my our we"),
        (
            Shape::NUMBER,
            "couple dozen eight eleven few first five four nine once one second seven several six ten third three twelve \
             twice two",
        ),
        (Shape::PAST, "bought did found gave got had lost made met saw started took was went were won"),
        (Shape::PLACE, "at from in near to"),
    ];
    lists.into_iter().flat_map(|(bit, words)| words.split(' ').map(move |word| (word, bit))).collect()
});

/// The two ends of a word, as letters.
const ENDS: [u8; 2] = [2, 3];
/// A piece of a word: a 4-gram of its bytes.
pub(in crate::search) type Piece = u32;

/// Calls `each` with the pieces of a word between its ends.
#[inline]
pub(in crate::search) fn each_piece(word: &[u8], mut each: impl FnMut(Piece)) {
    let mut piece = Piece::from(ENDS[0]);
    let mut length = 1;
    for byte in word.iter().chain(&ENDS[1..]) {
        piece = piece << 8 | Piece::from(*byte);
        length += 1;
        if length >= 4 {
            each(piece);
        }
    }
    if length < 4 {
        each(piece);
    }
}

/// The signature of a word: one bit for each of its pieces. A word of a script without spaces has all bits.
pub(in crate::search) fn signature(word: &[u8]) -> u64 {
    if word.first().is_none_or(|first| *first >= 0xE0) {
        return u64::MAX;
    }
    let mut bits = 0;
    each_piece(word, |piece| bits |= bit(piece));
    bits
}

/// The bit of a piece in a signature.
pub(in crate::search) fn bit(piece: Piece) -> u64 {
    1 << (piece.wrapping_mul(0x9E37_79B1) >> 26)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        Terms::default().each(text, |term| out.push(term.to_owned()));
        out
    }

    #[test]
    fn questions_keep_what_they_are_about() {
        assert_eq!(
            terms("When did Caroline go to the support groups?"),
            ["carolin", "go", "support", "group"]
        );
        assert_eq!(terms("Grüße, naïve_name 42"), ["grüße", "naïv", "name", "42"]);
        assert_eq!(terms("東京都 に"), ["東京", "京都", "に"]);
        assert_eq!(
            terms("हिन्दी में cafe\u{301} 1\u{fe0f}\u{20e3} 2\u{20e3}"),
            ["हिन्दी", "में", "café", "1", "2"]
        );
        assert!(terms("🎉🎉 !?").is_empty());
    }

    #[test]
    fn shapes_tell_questions_from_answers() {
        let shape = |text| Shape::of(text, |word| word == "mel");
        assert!(shape("What's up, Mel?").has(Shape::QUESTION));
        assert!(!shape("Hey Mel! How? I went home.").has(Shape::QUESTION | Shape::PROPER));
        let answer = shape("I moved to Lisbon two years ago and \"Dune\" was great");
        for bit in [Shape::FIRST_PERSON, Shape::PLACE, Shape::PROPER, Shape::NUMBER, Shape::TIME] {
            assert!(answer.has(bit), "{bit:b}");
        }
        assert!(answer.has(Shape::PAST_MORE));
        assert!(!shape("It was done in September").has(Shape::PLACE));
        assert_eq!(shape(""), Shape::default());
    }
}
