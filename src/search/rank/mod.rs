//! Ranks candidates. Pure: the scores depend on the question, the corpus's present content and, for memories, their
//! age and use, but not on the order in which the index got its content.
//!
//! - Turns of conversations: [`turn_signals`] computes their signals and adds them up; `word_signals` computes the
//!   signals from words. [`crate::search::weights`] has the names and weights of the signals.
//! - Notes: `note_ranking` ranks them; `expanded_word` expands a question's words, and finds the parts of a note with
//!   these words.
//! - Recall for a prompt: [`confidence`] computes the probability that a block is about the prompt.
//! - [`memory_formulas`]: published formulas for memories, and the number of times that each was recalled.

pub mod confidence;
pub mod memory_formulas;
pub mod turn_signals;

pub(in crate::search) mod expanded_word;
pub(in crate::search) mod note_ranking;
pub(in crate::search) mod word_signals;

pub(in crate::search) use confidence::{FIRST, Measured, default_confidence, measures};
pub(in crate::search) use expanded_word::{
    ExpandedWord, RankedDocument, Section, WHOLE, WordDocuments, WordMatch, expand_words, sections,
};
pub(in crate::search) use memory_formulas::{RecallCounts, Standing};
pub(in crate::search) use note_ranking::{NoteRanking, RankedNote};
pub(in crate::search) use word_signals::{FEW, MOST_IDF};
