//! Matches phrases in a text of any language: brings its words into a plain form, and tells whether a phrase stands
//! among them.

/// Lower-case words with one space between them; signs and emoji are gone.
pub fn normalize_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '’' => out.push('\''),
            // Marks belong to the letter before them (Devanagari, Thai, Hebrew points).
            c if c.is_alphanumeric() || is_mark(c) => out.push(c),
            _ if !out.is_empty() && !out.ends_with(' ') => out.push(' '),
            _ => {}
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}' | '\u{e00}'..='\u{e7f}' | '\u{64b}'..='\u{65f}')
}

/// Whether a script writes its words without spaces.
pub fn is_dense(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Whether `phrase` occurs in `words`, at word boundaries if the script has any. A phrase that ends
/// in `*` may go on.
pub fn holds(words: &str, phrase: &str) -> bool {
    let (phrase, open) = phrase.strip_suffix('*').map_or((phrase, false), |stem| (stem, true));
    let dense = phrase.chars().any(is_dense);
    words.match_indices(phrase).any(|(at, found)| {
        let before = words[..at].chars().next_back();
        let after = words[at + found.len()..].chars().next();
        let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !is_mark(c));
        dense || (is_border(before) && (open || is_border(after)))
    })
}

/// Whether the parts of a phrase stand in `words`, one after the other.
pub fn in_order(words: &str, phrase: &str) -> bool {
    let mut rest = words;
    for part in phrase.split(" … ") {
        if !holds(rest, part) {
            return false;
        }
        let part = part.trim_end_matches('*');
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_borders() {
        assert_eq!(normalize_words("  hi,   there!! 👋 "), "hi there");
        assert!(holds("do you remember me", "remember") && !holds("misremembered", "remember"));
        assert!(holds("erinnerst du dich", "erinner*") && holds("我上次说", "上次"));
    }

    #[test]
    fn the_parts_of_a_phrase_stand_in_their_order() {
        assert!(in_order("wir haben uns heute entschieden", "wir haben … entschieden"));
        assert!(!in_order("entschieden wir haben", "wir haben … entschieden"));
    }
}
