//! Whether a prompt is worth a look into memory, decided from its words alone and before anything is opened.
//!
//! After the retrieval gate of memory-lancedb-pro (notes on memory systems, §5.1): words about memory force
//! a look; greetings, commands, confirmations, signs without words and very short texts that ask nothing get
//! none. `recall` and the MCP tool `memory_recall` ask it too ([`is_worth_a_look`]). The words stand in [`super::words`], by language.

use super::words::{CONFIRMATIONS, FORCING, GREETINGS, HOST_MARKS, PROGRAMS, QUESTIONS, WORDY_PROGRAMS};

/// A text that asks nothing and is shorter than this says nothing to look for.
const SHORT: usize = 15;
/// The same for scripts whose characters are words.
const SHORT_IDEOGRAPHS: usize = 6;
/// Small talk isn't longer than this.
const LONGEST_TALK: usize = 120;

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Look.
    Open,
    /// Don't, and why.
    Shut(Idle),
}

/// Why a prompt needs no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// There is nothing in it.
    Empty,
    /// A command for the host or its shell, or a message of the host itself.
    Command,
    /// No letter and no digit.
    NoWords,
    /// A greeting, thanks, a yes or a no.
    SmallTalk,
    /// Too short to be about anything, and no question.
    Short,
}

/// Decides about one prompt.
pub fn gate(prompt: &str) -> Gate {
    let text = prompt.trim();
    if text.is_empty() {
        return Gate::Shut(Idle::Empty);
    }
    if is_command(text) {
        return Gate::Shut(Idle::Command);
    }
    if !text.chars().any(char::is_alphanumeric) {
        return Gate::Shut(Idle::NoWords);
    }
    // Long texts are neither small talk nor short; their words needn't be gone through.
    let head: String = text.chars().take(2000).collect::<String>().to_lowercase();
    let words = plain(&head);
    if FORCING.iter().any(|phrase| holds(&words, phrase)) {
        return Gate::Open;
    }
    if words.chars().count() <= LONGEST_TALK && is_talk(&words) {
        return Gate::Shut(Idle::SmallTalk);
    }
    let asks = text.contains(['?', '？', '؟', '\u{37e}', '՞']);
    if !asks && is_short(text) && !QUESTIONS.iter().any(|word| holds(&words, word)) {
        return Gate::Shut(Idle::Short);
    }
    Gate::Open
}

/// Whether a text that somebody hands over to be recalled for is worth a look: one that is too short for a hook may be
/// just the word that is meant.
pub fn is_worth_a_look(text: &str) -> bool {
    matches!(gate(text), Gate::Open | Gate::Shut(Idle::Short))
}

/// Lower-case words with one space between them; signs and emoji are gone.
pub(super) fn plain(text: &str) -> String {
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
pub(super) fn is_dense(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Whether `phrase` stands in `words`, at the borders of words where the script has any. A phrase that ends
/// in `*` may go on.
pub(super) fn holds(words: &str, phrase: &str) -> bool {
    let (phrase, open) = phrase.strip_suffix('*').map_or((phrase, false), |stem| (stem, true));
    let dense = phrase.chars().any(is_dense);
    words.match_indices(phrase).any(|(at, found)| {
        let before = words[..at].chars().next_back();
        let after = words[at + found.len()..].chars().next();
        let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !is_mark(c));
        dense || (is_border(before) && (open || is_border(after)))
    })
}

/// Whether the words are nothing but greetings and confirmations, one after the other.
fn is_talk(words: &str) -> bool {
    let mut reached = vec![false; words.len() + 1];
    reached[0] = true;
    for at in 0..words.len() {
        if !reached[at] || !words.is_char_boundary(at) {
            continue;
        }
        let rest = &words[at..];
        if rest.starts_with(' ') {
            reached[at + 1] = true;
        }
        for phrase in GREETINGS.iter().chain(CONFIRMATIONS) {
            let Some(after) = rest.strip_prefix(phrase) else { continue };
            let dense = phrase.chars().any(is_dense);
            if dense || after.is_empty() || after.starts_with(' ') {
                reached[at + phrase.len()] = true;
            }
        }
    }
    reached[words.len()]
}

fn is_short(text: &str) -> bool {
    let count = text.chars().count();
    let ideographs = text.chars().filter(|c| is_dense(*c)).count();
    count < if ideographs * 2 >= count { SHORT_IDEOGRAPHS } else { SHORT }
}

/// Whether the host or its shell is spoken to, or the host itself speaks.
fn is_command(text: &str) -> bool {
    if HOST_MARKS.iter().any(|mark| text.starts_with(mark)) {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    if let Some(name) = first.strip_prefix('/') {
        // A path is a text about a file; a command has one part.
        return !name.is_empty()
            && !name.contains('/')
            && name.starts_with(|c: char| c.is_ascii_alphabetic());
    }
    if text.starts_with('!') || text.starts_with("$ ") {
        return true;
    }
    if text.contains(['?', '？']) || text.lines().count() > 3 {
        return false;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let shell_sign = |word: &&str| {
        word.starts_with('-') && word.len() > 1
            || matches!(*word, "|" | "&&" | "||" | ">" | ">>" | "." | "..")
            || word.starts_with("./")
            || word.starts_with("~/")
    };
    let signs = words[1..].iter().any(shell_sign);
    if PROGRAMS.contains(&first) {
        return signs || words.len() <= 3;
    }
    WORDY_PROGRAMS.contains(&first) && (signs || (words.len() == 1 && first != "test"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_keep_their_borders() {
        assert_eq!(plain("  hi,   there!! 👋 "), "hi there");
        assert!(holds("do you remember me", "remember") && !holds("misremembered", "remember"));
        assert!(holds("erinnerst du dich", "erinner*") && holds("我上次说", "上次"));
    }

    #[test]
    fn a_path_is_no_command_and_a_word_is_no_program() {
        for text in [
            "/etc/hosts is wrong on the laptop",
            "make the side bar blue again",
            "cat pictures for Anna's card",
        ] {
            assert_eq!(gate(text), Gate::Open, "{text}");
        }
        for text in [
            "/compact",
            "/remember milk",
            "!git log",
            "$ ls",
            "git status",
            "ls -la",
            "make -j4 test",
            "cargo test",
        ] {
            assert_eq!(gate(text), Gate::Shut(Idle::Command), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_decided(text in "\\PC{0,300}|(hi |ok |谢谢|merci ){0,20}") {
            let _ = gate(&text);
        }
    }
}
