//! Parses an item of `only_if`: one of the fixed words, or a search.

use std::fmt;

use super::super::quote;

/// A condition for a routine to run, checked without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A reminder or follow-up is due today, or was and still waits.
    Due,
    /// One is due tomorrow.
    Tomorrow,
    /// A follow-up is pending.
    Promised,
    /// A message was logged since the last run.
    Said,
    /// A message of the bound channel has no answer.
    Unanswered,
    /// The memory has changed since the last run.
    Memory,
    /// A search has a hit newer than the last run; never empty.
    Search(String),
}

const WORDS: [(&str, Condition); 6] = [
    ("due", Condition::Due),
    ("tomorrow", Condition::Tomorrow),
    ("promised", Condition::Promised),
    ("said", Condition::Said),
    ("unanswered", Condition::Unanswered),
    ("memory", Condition::Memory),
];

/// The prefix of the words of a search.
const SEARCH: &str = "search:";

/// Reads a condition: it, unless it is refused, and what is wrong with it: the reason, and what to write.
pub(super) fn read(item: &str) -> (Option<Condition>, Option<(String, String)>) {
    let item = item.trim();
    if let Some((_, condition)) = WORDS.into_iter().find(|(word, _)| *word == item) {
        return (Some(condition), None);
    }
    if let Some(words) = item.strip_prefix(SEARCH).map(str::trim) {
        if !words.is_empty() {
            return (Some(Condition::Search(words.to_owned())), None);
        }
        let reason = "`search:` names no words to search for".to_owned();
        return (None, Some((reason, "write `only_if: \"search: green tea\"`".to_owned())));
    }
    if let Some(meant) = nearly(item) {
        let reason = format!("{} is no condition of a routine", quote(item));
        let suggestion = format!("did you mean `{meant}`? A search is written `\"search: {item}\"`");
        return (None, Some((reason, suggestion)));
    }
    let words: Vec<String> = WORDS.iter().map(|(word, _)| format!("`{word}`")).collect();
    let reason = format!("{} is read as a search", quote(item));
    let suggestion = format!("write `\"search: {item}\"`; the other conditions are {}", words.join(", "));
    (Some(Condition::Search(item.to_owned())), Some((reason, suggestion)))
}

/// The word of ours that one word nearly is.
fn nearly(item: &str) -> Option<&'static str> {
    let plain = item.to_lowercase();
    let plain = plain.trim_matches(|c: char| !c.is_alphanumeric());
    let slips = |word: &str| strsim::damerau_levenshtein(plain, word);
    let near = WORDS.iter().map(|(word, _)| *word).min_by_key(|word| slips(word))?;
    (slips(near) <= if near.len() > 6 { 2 } else { 1 }).then_some(near)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Search(text) => write!(f, "{SEARCH} {text}"),
            known => f.write_str(WORDS.iter().find(|(_, it)| it == known).map_or("", |(word, _)| word)),
        }
    }
}
