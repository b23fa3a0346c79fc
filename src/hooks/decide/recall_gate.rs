//! Decides from a prompt's words alone whether memory is searched for it, before any file is opened.
//!
//! The rules are those of the retrieval gate of memory-lancedb-pro. Words about memory force a search. No search is
//! made for greetings, commands, confirmations, punctuation without words, and very short texts that ask nothing.
//! `recall` and the MCP tool `memory_recall` use this gate too, but search for short texts as well ([`needs_recall`]).
//! The words are in `src/hooks/data/prompt_words.txt`, by language.

use super::WORDS;
use crate::capture::sentences::{holds, is_dense, normalize_words};
use crate::hooks::host::entry::HOST_MARKS;

/// A text that asks nothing and is shorter than this says nothing to look for.
const MIN_CHARS: usize = 15;
/// The same for scripts whose characters are words.
const MIN_IDEOGRAPHS: usize = 6;
/// Small talk isn't longer than this.
const MAX_SMALL_TALK_CHARS: usize = 120;

/// The gate's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallDecision {
    /// Look.
    Open,
    /// There is nothing to look for: no letter and no digit; a command for the host or its shell, or a message of the
    /// host itself; a greeting, thanks, a yes or a no.
    Closed,
    /// Too short to be about anything, and no question.
    Short,
}

/// Decides about one prompt.
pub fn gate(prompt: &str) -> RecallDecision {
    let text = prompt.trim();
    if !text.chars().any(char::is_alphanumeric) || is_command(text) {
        return RecallDecision::Closed;
    }
    // Long texts are neither small talk nor short; their words needn't be gone through.
    let head: String = text.chars().take(2000).collect::<String>().to_lowercase();
    let words = normalize_words(&head);
    if WORDS["forcing"].iter().any(|phrase| holds(&words, phrase)) {
        return RecallDecision::Open;
    }
    if words.chars().count() <= MAX_SMALL_TALK_CHARS && is_small_talk(&words) {
        return RecallDecision::Closed;
    }
    let is_question = text.contains(['?', '？', '؟', '\u{37e}', '՞']);
    if !is_question && is_short(text) && !WORDS["questions"].iter().any(|word| holds(&words, word)) {
        return RecallDecision::Short;
    }
    RecallDecision::Open
}

/// Whether memory is searched for a text that was passed to `recall`. A text that is too short for a hook is searched
/// here, because it may be the one word that is meant.
pub fn needs_recall(text: &str) -> bool {
    matches!(gate(text), RecallDecision::Open | RecallDecision::Short)
}

/// Whether the words are nothing but greetings and confirmations, one after the other.
fn is_small_talk(words: &str) -> bool {
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
        for phrase in WORDS["greetings"].iter().chain(&WORDS["confirmations"]) {
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
    count < if ideographs * 2 >= count { MIN_IDEOGRAPHS } else { MIN_CHARS }
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
    if WORDS["programs"].contains(&first) {
        return signs || words.len() <= 3;
    }
    WORDS["wordy programs"].contains(&first) && (signs || (words.len() == 1 && first != "test"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_is_no_command_and_a_word_is_no_program() {
        for text in [
            "/etc/hosts is wrong on the laptop",
            "make the side bar blue again",
            "cat pictures for Anna's card",
        ] {
            assert_eq!(gate(text), RecallDecision::Open, "{text}");
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
            assert_eq!(gate(text), RecallDecision::Closed, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_decided(text in "\\PC{0,300}|(hi |ok |谢谢|merci ){0,20}") {
            let _ = gate(&text);
        }
    }
}
