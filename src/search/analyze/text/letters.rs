//! Classifies characters for the splitter: their class, their folded form, and whether they join two words.
//!
//! Text comes in; classes, folded text and the pieces of a word go out. No state is kept between calls.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::MAX_WORD;

/// `text` with Unicode forms, case and accents folded, as terms are.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

pub(super) fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
        return;
    }
    for c in text.nfkd().filter(|c| !is_accent(*c)).nfc().flat_map(char::to_lowercase) {
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

/// Marks that fold away: accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Word,
    Spaceless,
    Connector,
    Other,
}

pub(super) fn class(c: char) -> Class {
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
        // Thai to Khmer, then kana, the unified ideographs, hangul, and the planes of rarer ideographs.
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3105}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}'
        | '\u{20000}'..='\u{3ffff}' => {
            if c.is_alphanumeric() || is_combining_mark(c) || c == '\u{30fc}' {
                Class::Spaceless
            } else {
                Class::Other
            }
        }
        c if c.is_alphanumeric() || is_combining_mark(c) => Class::Word,
        _ => Class::Other,
    }
}

/// Whether the connector at `at` is an apostrophe, and what is behind it, if word characters follow it (`://` and `::` count as
/// one).
pub(super) fn joint(text: &str, at: usize) -> Option<(bool, usize)> {
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
pub(super) fn clitic(text: &str, at: usize) -> bool {
    let rest: String = text[at..].chars().take_while(|c| c.is_alphanumeric()).take(3).collect();
    matches!(rest.to_ascii_lowercase().as_str(), "s" | "t" | "d" | "m" | "re" | "ll" | "ve")
}

/// The pieces of a camel-cased word: `fooBarHTTPServer` is `foo`, `Bar`, `HTTP`, `Server`.
pub(super) fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut cut = rest.len();
        let mut before: Option<char> = None;
        let mut chars = rest.char_indices().peekable();
        while let Some((i, c)) = chars.next() {
            if let Some(previous) = before {
                let next_lower = chars.peek().is_some_and(|(_, n)| n.is_lowercase());
                if c.is_uppercase() && (previous.is_lowercase() || (previous.is_uppercase() && next_lower)) {
                    cut = i;
                    break;
                }
            }
            before = Some(c);
        }
        let (hump, tail) = rest.split_at(cut);
        rest = tail;
        Some(hump)
    })
}

/// At most [`MAX_WORD`] bytes of `word`.
pub(super) fn clip(word: &str) -> &str {
    if word.len() <= MAX_WORD {
        return word;
    }
    let mut end = MAX_WORD;
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    &word[..end]
}
