//! Turns text into terms, in the same way for the index and for queries. Pure: no file, no clock.
//!
//! The terms of a word are its folded form (Unicode compatibility forms, case and accents folded) and its English stem,
//! if that differs. The terms of a compound (`camelCase`, `snake_case`, a path, a URL, a date, `rid_…`) are its parts
//! and, up to 56 bytes, the whole. Signs such as emoji are terms of their own. In scripts written without spaces, the
//! terms of a run of characters are its overlapping pairs and its last character: 東京都 has 東京, 京都 and 都.
//!
//! The index has two fields of terms. `rank` has the terms that ranking counts ([`crate::search::analyze::stems`]);
//! `text` has only the terms of this module that can't be looked up in `rank`. So the splitter marks each term that
//! `rank` holds already.
//!
//! A term depends on the text alone. If the terms of a text change, [`crate::search::SCHEMA`] has to change, too.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::embed::cut;
use crate::format::tags::is_sign;
use crate::search::analyze::{SOFT_HYPHEN, Terms, is_unspaced};

/// The first byte of a stem's term; exact forms never hold it.
pub const STEM: char = '\u{1}';
/// Longer words are cut here (in bytes, at a character), in notes and in queries alike.
const MAX_WORD: usize = 64;
/// A compound longer than this (in bytes) is found by its parts alone.
const MAX_WHOLE: usize = 56;

/// No character before this one folds into a sign.
const FIRST_SIGN: char = '\u{2070}';

/// The origin of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A word as written, folded.
    Word,
    /// A compound as a whole, beside its parts.
    Whole,
    /// A pair of characters of a script without spaces, or the last character of a run of them.
    Pair,
    /// A sign ([`is_sign`]), folded. Ranking knows none.
    Sign,
}

/// Splits text into exact terms. It keeps buffers, so use one for many texts.
#[derive(Debug, Default)]
pub struct Splitter {
    folded: String,
    piece: String,
}

/// Turns text into terms and their stems; keeps what it stemmed, so use one for many texts.
#[derive(Debug, Default)]
pub struct Analyzer {
    pub(in crate::search) splitter: Splitter,
    pub(in crate::search) stems: Terms,
}

impl Analyzer {
    /// Calls `emit` with every term of `text` but signs, in order: the form, the exact term and its stem if that
    /// differs (without [`STEM`]).
    pub fn terms(&mut self, text: &str, emit: &mut dyn FnMut(Form, &str, Option<&str>)) {
        let Self { splitter, stems } = self;
        splitter.split(text, &mut |form, term, _| {
            if form == Form::Sign {
                return;
            }
            emit(form, term, if form == Form::Word { other_stem(stems, term) } else { None });
        });
    }
}

/// The terms in the field `text` that match a word, besides those in the field `rank`: the word, its stem, and both
/// with a possessive 's, because `Müller's` also has the word Müller.
pub fn forms(exact: &str, stem: &str) -> [String; 4] {
    [exact.to_owned(), stem.to_owned(), format!("{STEM}{stem}"), format!("{exact}'s")]
}

/// Whether `folded` is no other than `raw` in lower case, up to the form of apostrophes.
fn is_lower_case(raw: &str, folded: &str) -> bool {
    let straight = |c| if c == '\u{2019}' { '\'' } else { c };
    raw.is_ascii() || raw.chars().map(straight).flat_map(char::to_lowercase).eq(folded.chars().map(straight))
}

/// Whether a folded word can have a stem other than itself.
fn is_english(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'')
}

/// The stem of a folded word, where that is another.
pub(in crate::search) fn other_stem<'s>(stems: &'s mut Terms, word: &str) -> Option<&'s str> {
    let stem = if is_english(word) { stems.stem(word) } else { "" };
    (!stem.is_empty() && stem != word).then_some(stem)
}

impl Splitter {
    /// Calls `emit` with every exact term of `text`, in order. The flag is true if the words that ranking counts equal
    /// the term or make it up. A [`Form::Word`] may have a stem.
    pub fn split(&mut self, text: &str, emit: &mut impl FnMut(Form, &str, bool)) {
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            match class(c) {
                Class::Word => at = self.chunk(text, at, emit),
                Class::Spaceless => at = self.run(text, at, emit),
                Class::Connector | Class::Other => {
                    self.signs(c, emit);
                    at += c.len_utf8();
                }
            }
        }
    }

    /// The signs that a character is, folded.
    fn signs(&mut self, c: char, emit: &mut impl FnMut(Form, &str, bool)) {
        if c >= FIRST_SIGN {
            fold_into(c.encode_utf8(&mut [0; 4]), &mut self.folded);
            for sign in self.folded.split("").filter(|sign| sign.contains(is_sign)) {
                emit(Form::Sign, sign, false);
            }
        }
    }

    /// A run of word characters with single connectors inside, from `start`; the position behind it.
    fn chunk(&mut self, text: &str, start: usize, emit: &mut impl FnMut(Form, &str, bool)) -> usize {
        let mut part_start = start;
        let mut parts = 0;
        let mut at = start;
        let mut end = start;
        let mut apostrophe = None;
        loop {
            at += length_of(&text[at..], Class::Word);
            end = at.max(end);
            let Some((is_apostrophe, next)) = joint(text, at) else { break };
            if is_apostrophe && clitic(text, next) {
                // `don't`, `Kyle's`: one word.
                apostrophe = Some(at);
                at = next;
                continue;
            }
            self.part(&text[part_start..at], apostrophe.is_some(), emit);
            apostrophe = None;
            parts += 1;
            part_start = next;
            at = next;
        }
        if parts == 0 {
            self.part(&text[start..end], apostrophe.is_some(), emit);
            return end;
        }
        self.part(&text[part_start..end], apostrophe.is_some(), emit);
        if end - start <= MAX_WHOLE {
            let whole = &text[start..end];
            fold_into(whole, &mut self.folded);
            emit(Form::Whole, &self.folded, is_lower_case(whole, &self.folded));
        }
        end
    }

    /// One part of a chunk: the word itself, and its pieces if it is camel-cased.
    fn part(&mut self, raw: &str, apostrophe: bool, emit: &mut impl FnMut(Form, &str, bool)) {
        let length = raw.len();
        let raw = cut(raw, MAX_WORD);
        fold_into(raw, &mut self.folded);
        if apostrophe && self.folded.contains('\u{2019}') {
            self.folded = self.folded.replace('\u{2019}', "'");
        }
        if !self.folded.is_empty() {
            emit(Form::Word, &self.folded, raw.len() == length && is_lower_case(raw, &self.folded));
        }
        // Most words are not even worth the look.
        let may = raw.len() > 3 && raw.bytes().skip(1).any(|b| b.is_ascii_uppercase() || b >= 0x80);
        if !apostrophe && may {
            for hump in humps(raw).into_iter().filter(|hump| hump.len() < raw.len()) {
                fold_into(hump, &mut self.piece);
                emit(Form::Word, &self.piece, false);
            }
        }
    }

    /// A run of a script without spaces: every two neighbours, and the last character alone.
    fn run(&mut self, text: &str, start: usize, emit: &mut impl FnMut(Form, &str, bool)) -> usize {
        let length = length_of(&text[start..], Class::Spaceless);
        fold_into(&text[start..start + length], &mut self.folded);
        let folded = self.folded.as_str();
        let is_same = *folded == text[start..start + length];
        let bounds: Vec<usize> = folded.char_indices().map(|(i, _)| i).chain([folded.len()]).collect();
        for pair in bounds.windows(3) {
            emit(Form::Pair, &folded[pair[0]..pair[2]], is_same);
        }
        if let [.., last, end] = bounds[..] {
            emit(Form::Pair, &folded[last..end], false);
        }
        start + length
    }
}

#[cfg(test)]
mod tests;

/// `text` with Unicode forms, case and accents folded, as terms are.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
        return;
    }
    for c in text.nfkd().filter(|c| !is_accent(*c) && !is_selector(*c)).nfc().flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            c if is_accent(c) => {}
            c => folded.push(c),
        }
    }
}

/// Marks that fold away: accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs, soft hyphens.
fn is_accent(c: char) -> bool {
    matches!(c, SOFT_HYPHEN | '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

/// Whether `c` says how the sign before it is to be drawn, as in a coloured heart.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Spaceless,
    Connector,
    Other,
}

fn class(c: char) -> Class {
    if c.is_ascii() {
        return match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Word,
            '_' | '-' | '.' | '/' | ':' | '@' | '\'' | '+' | '#' | '&' | '\\' | '~' | '=' | '%' => {
                Class::Connector
            }
            _ => Class::Other,
        };
    }
    match c {
        '\u{2019}' => Class::Connector,
        c if is_selector(c) => Class::Other,
        c if is_unspaced(c) => Class::Spaceless,
        c if c.is_alphanumeric() || is_combining_mark(c) || c == SOFT_HYPHEN => Class::Word,
        _ => Class::Other,
    }
}

/// The length in bytes of the run of one class at the beginning of `text`.
fn length_of(text: &str, of: Class) -> usize {
    text.chars().take_while(|c| class(*c) == of).map(char::len_utf8).sum()
}

/// Whether the connector at `at` is an apostrophe, and what is behind it, if word characters follow it (`://` and `::`
/// count as one).
fn joint(text: &str, at: usize) -> Option<(bool, usize)> {
    let rest = &text[at..];
    let first = rest.chars().next()?;
    if class(first) != Class::Connector {
        return None;
    }
    let length = if rest.starts_with("://") {
        3
    } else if rest.starts_with("::") {
        2
    } else {
        first.len_utf8()
    };
    let next = rest[length..].chars().next()?;
    if class(next) != Class::Word {
        return None;
    }
    Some((matches!(first, '\'' | '\u{2019}'), at + length))
}

/// Whether what follows an apostrophe is an English ending (`s`, `t`, `re`, `ll`, …).
fn clitic(text: &str, at: usize) -> bool {
    let rest: String = text[at..].chars().take_while(|c| c.is_alphanumeric()).take(3).collect();
    matches!(rest.to_ascii_lowercase().as_str(), "s" | "t" | "d" | "m" | "re" | "ll" | "ve")
}

/// The pieces of a camel-cased word: `fooBarHTTPServer` is `foo`, `Bar`, `HTTP`, `Server`.
fn humps(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let begins = |at: &usize| {
        let (before, own, after) = (chars[*at - 1].1, chars[*at].1, chars.get(at + 1));
        let is_before_lower = after.is_some_and(|(_, after)| after.is_lowercase());
        own.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && is_before_lower)
    };
    let ends = (1..chars.len()).filter(begins).map(|at| chars[at].0).chain([word.len()]);
    let mut from = 0;
    ends.map(|end| &word[std::mem::replace(&mut from, end)..end]).collect()
}
