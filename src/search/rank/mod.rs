//! Orders candidates. Pure: a question and a corpus give the same scores however the corpus grew.
//!
//! - Turns of conversations: [`signal`] lists their signals, [`signals`] computes them, `lexical` from words (`term`:
//!   the rarity of each), `meaning` from vectors; `accumulator` adds them up.
//! - Notes: `notes` ranks them; `sought` expands a question's words, `note_parts` finds the parts of a note that have
//!   them.
//! - Recall for a prompt: [`sure`] measures how much a block has to do with the prompt, [`gate`] makes a probability of
//!   that; `worth` rates the block's content, [`uses`] counts how often a memory was used.
//! - [`formula`] has the published formulas for memories.

pub mod formula;
pub mod gate;
pub mod signal;
pub mod signals;
pub mod sure;
pub mod uses;

pub(in crate::search) mod accumulator;
pub(in crate::search) mod lexical;
pub(in crate::search) mod meaning;
pub(in crate::search) mod note_parts;
pub(in crate::search) mod notes;
pub(in crate::search) mod sought;
pub(in crate::search) mod term;
pub(in crate::search) mod worth;
