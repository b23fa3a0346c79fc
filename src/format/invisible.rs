//! Finds and strips characters that a model reads but a person doesn't see, such as direction marks, tag characters,
//! fillers, and runs of variation selectors.
//!
//! Such characters can hide an instruction, or display a text in another order than it is stored. Characters that
//! writing needs are kept:
//!
//! - a joiner between letters or in an emoji;
//! - one variation selector after its character;
//! - the flags of England, Scotland and Wales, which are written with tag characters.

use std::borrow::Cow;

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// England, Scotland and Wales: a black flag and tags behind it.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// The first invisible character, and its place in characters from 0.
pub fn first(text: &str) -> Option<(usize, char)> {
    let hidden = hidden(text).next();
    hidden.and_then(|(at, c)| Some((text.get(..at)?.chars().count(), c)))
}

/// The text without invisible characters.
pub fn strip(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    for (at, c) in hidden(text) {
        out.push_str(&text[from..at]);
        from = at + c.len_utf8();
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// The invisible characters with their places in bytes.
fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut before = None;
    let mut flag_end = 0;
    let is_ascii = text.is_ascii();
    text.char_indices().filter(move |(at, c)| {
        if is_ascii || *at < flag_end {
            return false;
        }
        if let Some(flag) = FLAGS.iter().find(|flag| text[*at..].starts_with(**flag)) {
            flag_end = at + flag.len();
            before = None;
            return false;
        }
        let after = text[at + c.len_utf8()..].chars().next();
        let is_hidden = is_hidden(before, *c, after);
        if !is_hidden {
            before = Some(*c);
        }
        is_hidden
    })
}

fn is_hidden(before: Option<char>, c: char, after: Option<char>) -> bool {
    if !shows_nothing(c) {
        return false;
    }
    let after_base = before.is_some_and(is_base);
    match c {
        // Joins letters of Arabic, Indic and other scripts, and the parts of an emoji.
        '\u{200c}' | '\u{200d}' => {
            !((after_base || before == Some('\u{fe0f}')) && after.is_some_and(is_base))
        }
        // `1️⃣`, `©️`, `❤️`.
        '\u{fe0e}' | '\u{fe0f}' => {
            !(after_base || before.is_some_and(|c| c.is_ascii_digit() || matches!(c, '#' | '*')))
        }
        '\u{fe00}'..='\u{fe0d}' => !after_base,
        '\u{180b}'..='\u{180d}' | '\u{180f}' => !before.is_some_and(|c| matches!(c, '\u{1820}'..='\u{18aa}')),
        '\u{e0100}'..='\u{e01ef}' => !before.is_some_and(is_ideograph),
        _ => true,
    }
}

/// A character that stands by itself and is no ASCII.
fn is_base(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace() && !c.is_control() && !shows_nothing(c)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character of its own shows nothing: Unicode lets programs ignore it where they don't know it, or it marks
/// an annotation between lines.
pub fn shows_nothing(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c) || matches!(c, '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_nobody_sees_is_found_and_taken_out() {
        for (text, shown) in [
            ("pay \u{202e}tneg\u{202c} now", "pay tneg now"),
            ("a\u{2066}b\u{2069}c\u{200e}\u{200f}\u{61c}", "abc"),
            ("tea\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}", "tea"),
            ("\u{feff}x\u{200b}y\u{2060}z\u{ad}", "xyz"),
            ("👍\u{fe01}\u{e0101}\u{e0102}", "👍\u{fe01}"),
            ("a\u{200d}\u{200c}b", "ab"),
            ("é\u{200d}\u{200d}é", "é\u{200d}é"),
            ("ㅤ\u{3164}\u{115f}", ""),
            ("🏴\u{e0069}\u{e0067}\u{e006e}\u{e007f}", "🏴"),
        ] {
            assert_eq!(strip(text), shown, "{text:?}");
            assert!(first(text).is_some() && first(shown).is_none(), "{text:?}");
        }
        assert_eq!(first("né\u{202e}x"), Some((2, '\u{202e}')));
    }

    #[test]
    fn what_writing_needs_stays() {
        for text in [
            "plain, Ünïcödé, 漢字, עברית, العربية",
            "👩‍👩‍👧‍👦 ❤️‍🔥 1️⃣ #️⃣ ©️ 👍🏽 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇬🇧",
            "می‌خواهم क्‍ष",
            "葛\u{e0100}城",
            "Cafe\u{301}",
        ] {
            assert_eq!(first(text), None, "{text}");
            assert!(matches!(strip(text), Cow::Borrowed(_)));
        }
    }

    proptest! {
        #[test]
        fn what_was_stripped_has_none(text in "([a-zé👍]|[\u{200b}-\u{200f}]|[\u{fe00}-\u{fe0f}]|[\u{e0060}-\u{e007f}]|🏴|[\u{e0100}-\u{e0110}]){0,20}") {
            let stripped = strip(&text).into_owned();
            prop_assert_eq!(first(&stripped), None, "{:?}", stripped);
        }
    }
}
