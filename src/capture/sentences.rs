//! Splits a text of any language into sentences (without code and quotations) and into content words. Matches phrases
//! among those words. Pure.
//!
//! Also checks that a candidate's quote occurs in the block of the log that the candidate names; a candidate that fails
//! the check is never put to a person.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::format;
use crate::format::lines::{FencedCode, LineKind};
use crate::words::{WordLists, word_lists};

/// The words by which facts are found.
pub(super) static WORDS: LazyLock<WordLists> = LazyLock::new(|| word_lists(include_str!("data/words.txt")));

/// Sentences of a speaker in their own words: fenced code, quoted lines, and what stands in
/// backticks or quotation marks are another's words. The names of the agent's own notes stay.
pub fn sentences(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in own_lines(text) {
        let line = line.trim().trim_start_matches(['-', '*', '#', '+', ' ']).replace("**", "");
        split(&without_quotes(&line), &mut out);
    }
    out
}

/// The lines that are neither fenced code nor quoted.
pub(super) fn own_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut code = FencedCode::default();
    text.lines().filter(move |line| {
        code.line(line.as_bytes()) == LineKind::Text && !line.trim_start().starts_with('>')
    })
}

/// The original text of this sentence of [`sentences`], including the parts that were removed.
pub fn original_text(text: &str, sentence: &str) -> Option<String> {
    if text.contains(sentence) {
        return Some(sentence.to_owned());
    }
    let mut said = Vec::new();
    for line in text.lines() {
        split(line.trim().trim_start_matches(['-', '*', '#', '+', ' ']), &mut said);
    }
    said.into_iter().find(|said| without_quotes(&said.replace("**", "")) == sentence)
}

/// Splits at the ends of sentences, which stay with them.
fn split(line: &str, out: &mut Vec<String>) {
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '。' | '！' | '？' | '।' | '؟' => true,
            '.' if next == Some(' ') => !is_abbreviated(&line[start..at], &line[at + 1..]),
            '.' | '!' | '?' | '…' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends || next.is_none() {
            let end = at + c.len_utf8();
            let sentence = line[start..end].trim();
            if !sentence.is_empty() {
                out.push(sentence.to_owned());
            }
            start = end;
        }
    }
}

/// Whether the full stop behind `before` belongs to its last word: an abbreviation ("Dr.", "z.B."), an initial ("J.", but
/// not "vitamin C. It"), or a day or another number of one or two digits ("3. Mai").
fn is_abbreviated(before: &str, after: &str) -> bool {
    let word =
        before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default().to_lowercase();
    let letters =
        |part: &str| (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic);
    let is_number = (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let next = after.split_whitespace().next().unwrap_or_default();
    let lower = next.to_lowercase();
    // "It" begins a sentence; "Le" and "van" may go on with a name.
    let begins = next.starts_with(char::is_uppercase)
        && WORDS["empty"].contains(&lower.as_str())
        && !WORDS["name particles"].contains(&lower.as_str());
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && !begins;
    let has_stops = word.contains('.') && word.split('.').all(letters);
    is_number || is_initial || has_stops || WORDS["abbreviations"].contains(&word.as_str())
}

/// The line without the text between quotation marks or backticks.
fn without_quotes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['`', '"', '“', '「', '«']) {
        let open = rest[at..].chars().next().unwrap_or('"');
        let close = match open {
            '“' => '”',
            '「' => '」',
            '«' => '»',
            same => same,
        };
        let inside = &rest[at + open.len_utf8()..];
        let Some(end) = inside.find(close) else { break };
        out.push_str(&rest[..at]);
        // The place is kept, so that words to its sides don't meet; code is known as code by its marks.
        out.push_str(match open {
            '`' if is_our_note(&inside[..end]) => &inside[..end],
            '`' => "`…`",
            _ => "“…”",
        });
        rest = &inside[end + close.len_utf8()..];
    }
    out.push_str(rest);
    out
}

/// Whether a token names a note that the agent keeps, as they are called by default.
pub fn is_our_note(token: &str) -> bool {
    let token = token.to_ascii_lowercase();
    let name = token.rsplit('/').next().unwrap_or_default();
    ["memory.md", "commitments.md", "reminders.md", "pinned.md"].contains(&name)
        || token.contains("daily/") && name.ends_with(".md")
}

/// Whether a sentence asks.
pub fn is_question(sentence: &str) -> bool {
    sentence.trim_end().ends_with(['?', '？', '؟', '\u{37e}'])
        || sentence.ends_with("か。")
        || sentence.ends_with("吗。")
}

/// One line of at most `most` characters, cut at a word's end.
pub fn one_line(text: &str, most: usize) -> String {
    let line: String = format::one_line(text).chars().filter(|c| !c.is_control()).collect();
    format::cut_at_word(&line, most)
}

/// The words of a text that carry its content, in a rough common form; pairs of characters where a script
/// writes its words without spaces.
pub fn content(text: &str) -> HashSet<String> {
    let (mut out, empty) = (HashSet::new(), &WORDS["empty"]);
    for word in normalize_words(&text.to_lowercase()).split(' ') {
        let chars: Vec<char> = word.chars().collect();
        if chars
            .iter()
            .any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{e00}'..='\u{e7f}'))
        {
            out.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if chars.len() > 1 && !empty.contains(&word) {
            let stem = word.strip_suffix("'s").unwrap_or(word);
            let stem = stem.strip_suffix('s').filter(|stem| stem.chars().count() > 2).unwrap_or(stem);
            out.insert(stem.to_owned());
        }
    }
    out
}

/// Whether one of the notes' texts says the same as `said`: it shares most words of the
/// shorter of both, and at least two.
pub fn is_kept<'n>(said: &str, mut notes: impl Iterator<Item = &'n str>) -> bool {
    let said = content(said);
    if said.is_empty() {
        return false;
    }
    notes.any(|note| {
        let note = content(note);
        let common = said.intersection(&note).count();
        common >= said.len().min(2) && common * 2 >= said.len().min(note.len()).max(1)
    })
}

/// Whether a text looks like a secret, which must not be written down: passwords, keys, tokens.
pub fn looks_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let key = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.len() >= 20
            && !word.contains("://")
            && !word.contains('/')
            && word.chars().any(|c| c.is_ascii_digit())
            && word.chars().any(|c| c.is_ascii_alphabetic())
    };
    WORDS["secrets"].iter().any(|word| lower.contains(word))
        || ["sk-", "ghp_", "gho_", "xoxb-", "akia", "-----begin"].iter().any(|mark| lower.contains(mark))
        || text.split_whitespace().any(key)
}

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

/// A quote of fewer letters and digits says nothing.
const FEWEST: usize = 4;

/// Whether these words occur in the message in the same order without a gap.
pub fn is_verbatim(quote: &str, said: &str) -> bool {
    let letters = quote.chars().filter(|c| c.is_alphanumeric()).count();
    let dense = quote.chars().any(is_dense);
    letters >= if dense { FEWEST / 2 } else { FEWEST } && said.contains(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_in_the_speakers_own_words() {
        let text = "Done. I've saved it to `MEMORY.md`, v1.2!\n> quoted. Line\n```\ncode. here\n```\n- **Bold** point? 好的。记住了";
        assert_eq!(
            sentences(text),
            ["Done.", "I've saved it to MEMORY.md, v1.2!", "Bold point?", "好的。", "记住了"]
        );
        assert!(is_question("Shall I?") && is_question("覚えておきますか。") && !is_question("No."));
    }

    #[test]
    fn a_full_stop_within_a_sentence_does_not_end_it() {
        for said in [
            "Remember that Dr. Smith is my dentist.",
            "Remember that my boss is J. R. Miller and his deputy Mrs. Jones.",
            "Merk dir, dass meine Schwester Anna am 3. Mai Geburtstag hat.",
            "Merk dir, dass ich z.B. Milch nicht vertrage.",
            "Retiens que le 1. mai est férié",
        ] {
            assert_eq!(sentences(&format!("{said} Thanks!")).len(), if said.ends_with('.') { 2 } else { 1 });
            assert_eq!(sentences(said), [said]);
        }
        assert_eq!(sentences("I take vitamin C. It helps."), ["I take vitamin C.", "It helps."]);
        for name in ["Ursula K. Le Guin", "J. van Dijk"] {
            assert_eq!(sentences(&format!("I like {name}.")), [format!("I like {name}.")]);
        }
        assert_eq!(
            sentences("I live in Rome. I was born in 1990. Call me Al."),
            ["I live in Rome.", "I was born in 1990.", "Call me Al."]
        );
    }

    #[test]
    fn a_sentence_is_found_as_it_was_said() {
        let text = "- I read \"Dune\" twice. **I love** it.";
        let said: Vec<_> = sentences(text).iter().map(|sentence| original_text(text, sentence)).collect();
        assert_eq!(said, [Some("I read \"Dune\" twice.".to_owned()), Some("**I love** it.".to_owned())]);
        assert_eq!(original_text(text, "never said"), None);
    }

    #[test]
    fn a_note_in_other_words_is_the_same_note() {
        let notes = ["User prefers oat milk in coffee.", "Dentist is Dr. Weber, Friday 3 pm"];
        let kept = |said: &str| is_kept(said, notes.iter().copied());
        assert!(kept("Remember that I prefer oat milk") && kept("the dentist's name is Weber"));
        assert!(!kept("Remember that I like tea") && !kept("remember that") && !kept("Friday is free"));
        assert!(is_kept("请记住我喜欢喝绿茶", ["喜欢喝绿茶"].into_iter()));
    }

    #[test]
    fn secrets_are_seen() {
        for text in ["my password is hunter2", "the key is sk-abc", "use AbCdEf0123456789AbCdEf01 there"] {
            assert!(looks_secret(text), "{text}");
        }
        for text in ["I prefer tabs", "see https://example.org/a/very/long/path/with/1/number"] {
            assert!(!looks_secret(text), "{text}");
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line(" a\n b\tc ", 80), "a b c");
        assert_eq!(one_line("alpha beta gamma", 12), "alpha beta…");
        assert_eq!(one_line("abcdefghijklmnop", 5), "abcd…");
    }

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

    #[test]
    fn a_quote_stands_where_it_stands() {
        let said = "I only drink\ngreen tea.";
        assert!(is_verbatim("drink\ngreen", said) && is_verbatim("I only drink", said));
        for quote in ["", "I", "i only drink", "drink green", "green tea!", "  "] {
            assert!(!is_verbatim(quote, said), "{quote:?}");
        }
        assert!(is_verbatim("喜欢茶", "我喜欢茶"));
    }
}
