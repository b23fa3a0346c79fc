//! Splits a phrase into tokens: runs of digits, words, single signs.
//!
//! Words are folded: lower case, without accents (`Février` is `fevrier`, `mañana` is `manana`), so that the tables
//! need one spelling each. Hyphens and apostrophes between letters separate words (`après-demain`, `aujourd'hui`);
//! white space separates tokens and is none itself.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The smallest part of a phrase.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Token {
    /// A run of ASCII digits, as it stands there.
    Digits(String),
    /// A run of letters, folded.
    Word(String),
    /// A full stop with no digit directly behind it, as an abbreviation and a German ordinal have one.
    Stop,
    /// Any other character; also the point in `17.30`.
    Sign(char),
}

/// The tokens of a text, in order.
pub fn tokens(text: &str) -> Vec<Token> {
    let folded: Vec<char> = fold(text).chars().collect();
    let mut out: Vec<Token> = Vec::new();
    let mut parted = true;
    for (at, &c) in folded.iter().enumerate() {
        let beside = |step: isize| at.checked_add_signed(step).and_then(|at| folded.get(at)).copied();
        let between = || [-1, 1].iter().all(|step| beside(*step).is_some_and(char::is_alphabetic));
        if c.is_whitespace() || (matches!(c, '-' | '\'' | '’' | '‐' | '‑') && between()) {
            parted = true;
            continue;
        }
        match (out.last_mut(), c) {
            (Some(Token::Digits(run)), '0'..='9') if !parted => run.push(c),
            (Some(Token::Word(run)), _) if !parted && c.is_alphabetic() => run.push(c),
            (_, '0'..='9') => out.push(Token::Digits(c.into())),
            _ if c.is_alphabetic() => out.push(Token::Word(c.into())),
            (_, '.') if !beside(1).is_some_and(|next| next.is_ascii_digit()) => out.push(Token::Stop),
            _ => out.push(Token::Sign(c)),
        }
        parted = false;
    }
    out
}

/// Lower case without accents; `ß` is `ss`, `œ` is `oe`.
fn fold(text: &str) -> String {
    let plain = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    plain.collect::<String>().replace('ß', "ss").replace('œ', "oe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_parted() {
        let shown = |text: &str| {
            let tokens = tokens(text);
            let parts = tokens.iter().map(|token| match token {
                Token::Digits(text) | Token::Word(text) => text.clone(),
                Token::Stop => "<stop>".to_owned(),
                Token::Sign(sign) => format!("<{sign}>"),
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("Après-demain à 17h30"), "apres demain a 17 h 30");
        assert_eq!(shown("man\u{303}ana 9.30"), "manana 9 <.> 30");
        assert_eq!(shown("5 o’clock, Dreißig"), "5 o clock <,> dreissig");
        assert_eq!(shown("24.12. 1.dez. a.m."), "24 <.> 12 <stop> 1 <stop> dez <stop> a <stop> m <stop>");
        assert_eq!(shown("-3\u{a0}days 1º"), "<-> 3 days 1 o");
    }
}
