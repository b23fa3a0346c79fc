//! Orders candidates. Pure: a question and a corpus give the same scores however the corpus grew.
//!
//! - Turns of conversations: [`signal_names`] lists their signals, [`turn_signals`] computes them, `word_signals` those from
//!   words (`term_rarity`: the rarity of each); `accumulator` adds them up.
//! - Notes: `note_ranking` ranks them; `expanded_word` expands a question's words, `note_parts` finds the parts of a note that have
//!   them.
//! - Recall for a prompt: [`confidence`] tells how likely a block has to do with the prompt; `rating` rates the block's content, [`recall_counts`] counts how often a memory was recalled.
//! - [`memory_formulas`] has the published formulas for memories.

pub mod confidence;
pub mod memory_formulas;
pub mod recall_counts;
pub mod signal_names;
pub mod turn_signals;

pub(in crate::search) mod accumulator;
pub(in crate::search) mod expanded_word;
pub(in crate::search) mod note_parts;
pub(in crate::search) mod note_ranking;
pub(in crate::search) mod rating;
pub(in crate::search) mod term_rarity;
pub(in crate::search) mod word_signals;
