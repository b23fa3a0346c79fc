//! Holds the words of each language, as tables; all that the grammar knows of a language is here.
//!
//! A phrase is read in one language at a time, never in two at once, so that a word of one isn't taken for another's
//! (`once` is eleven in Spanish, `die` an article in German). A table's entry is a list of spellings separated by `|`;
//! each is folded like the phrase ([`tokens`](super::tokens)), and a full stop in it is optional.

mod english;
mod french;
mod german;
mod italian;
mod spanish;

use super::term::Term;

/// The grammar's data about a language.
#[derive(Debug)]
pub struct Language {
    /// Its English name.
    pub name: &'static str,
    /// From Monday on, parted by spaces.
    pub weekdays: &'static str,
    /// The words for "every Monday" and so on; empty where there are none.
    pub each_weekday: &'static str,
    /// From January on.
    pub months: &'static str,
    /// The numbers from 1 on (hyphens stand within one).
    pub numbers: &'static str,
    /// Everything else.
    pub terms: &'static [(Term, &'static str)],
    /// Whether `5 Uhr` is 05:00, where `5 o'clock` may be either.
    pub hours_to_24: bool,
    /// Whether weeks may begin on Sunday.
    pub sunday_weeks: bool,
    /// Whether `5.` is the fifth.
    pub dotted_ordinals: bool,
    /// Whether a day of the week and a part of the day make one word.
    pub compounds: bool,
}

/// All of them; English first.
pub const ALL: [&Language; 5] =
    [&english::ENGLISH, &german::GERMAN, &french::FRENCH, &spanish::SPANISH, &italian::ITALIAN];
