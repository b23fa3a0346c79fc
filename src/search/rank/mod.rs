//! Orders candidates. Pure: a question and a corpus give the same scores however the corpus grew.
//!
//! - Turns of conversations: [`signal`] is the list of their signals. [`signals`] computes them: `lexical`
//!   those of words (`term`: how common each is), `meaning` those of vectors. `accumulator` adds them up.
//! - Everything else: `notes` ranks it, with `sought` for what a question's words stand for and `note_parts` for where they
//!   stand.
//! - What is given unasked: [`sure`] measures how much a find has to do with a prompt, [`gate`] makes a probability of that;
//!   `worth` says what a find is worth, [`uses`] how often a memory served.
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
