//! Loads the patterns and words that distinguish an assistant's claim to have saved something from talk about work.
//! They are data, in `src/hooks/data/claim_patterns.txt`.

use std::sync::LazyLock;

use crate::words::{WordLists, word_lists, words};

static LISTS: LazyLock<WordLists> = LazyLock::new(|| word_lists(include_str!("../data/claim_patterns.txt")));

/// The list with this name: patterns, or words that patterns refer to.
pub(super) fn list(name: &str) -> &'static [&'static str] {
    &LISTS[name]
}

words! {
    /// The signs of code that, together with a pattern, make a sentence one about work and no claim. Each variant's
    /// word is the name of a list of patterns. A pattern matches an action, done or promised, together with a place of
    /// the person's, a fact about them, or a reminder.
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
