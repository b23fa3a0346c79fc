//! Reads the patterns and words that tell an assistant's claim to have saved something from talk about work: data, in
//! `src/hooks/data/claim_patterns.txt`.

use std::sync::LazyLock;

use crate::capture::sentences::{WordLists, word_lists};
use crate::words::words;

static LISTS: LazyLock<WordLists> = LazyLock::new(|| word_lists(include_str!("../data/claim_patterns.txt")));

/// One of the lists.
type Words = LazyLock<&'static [&'static str]>;

/// A list that patterns name, or a list of patterns.
pub(super) fn list(name: &str) -> &'static [&'static str] {
    &LISTS[name]
}

words! {
    /// Which signs of code, beside a pattern, make a sentence one about work; each is the name of the list of such patterns: what
    /// was done or is promised, and a place of the person's, a fact about them, or a reminder.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum CodeSigns, name {
        /// None: the pattern says enough.
        Sure = "sure",
        /// Code as the place that something went to ("to `prefs.json`", "in the table").
        Place = "place",
        /// As `Place`, and a time must be named.
        Timed = "timed",
        /// Any sign of code.
        Any = "any",
        /// As `Any`, and nothing else may have been meant: nothing was written in the turn.
        Alone = "alone",
        /// As `Any`, and it is a claim only where the user asked to have something kept.
        Asked = "asked",
    }
}

/// Languages without spaces: phrases with `…` for anything in between.
pub(super) static DENSE: Words = LazyLock::new(|| list("dense"));
/// Denials; they count before and inside of a pattern.
pub(super) static NO: Words = LazyLock::new(|| list("no"));
/// Denials that stand anywhere in their clause, and signs of what happens in general.
pub(super) static NO_AFTER: Words = LazyLock::new(|| list("no after"));
/// Conditions and times that are still to come; they count anywhere before a pattern.
pub(super) static IF: Words = LazyLock::new(|| list("if"));
/// Offers; they count wherever they stand.
pub(super) static OFFER: Words = LazyLock::new(|| list("offer"));
/// Denials, conditions and questions of the languages without spaces.
pub(super) static NO_DENSE: Words = LazyLock::new(|| list("no dense"));
/// Words of programs and documents: what was saved there is no memory.
pub(super) static WORK: Words = LazyLock::new(|| list("work"));
/// The same for languages without spaces.
pub(super) static WORK_DENSE: Words = LazyLock::new(|| list("work dense"));
/// Words that come after a noun has ended.
pub(super) static AFTER_NOUN: Words = LazyLock::new(|| list("after noun"));
/// Adverbs that change nothing in a claim.
pub(super) static FILLERS: Words = LazyLock::new(|| list("fillers"));
/// Words that name a time: beside them a reminder is one.
pub(super) static TIMES: Words = LazyLock::new(|| list("times"));
