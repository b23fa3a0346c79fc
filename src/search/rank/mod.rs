//! From candidates to an order. Pure: a question and a corpus give the same scores however the corpus grew.
//!
//! [`signal`] is the list of signals of turns of conversations with their weights and the gate's; [`signals`] computes them: `lexical` those of words (`term`: how common each is), `meaning` those of vectors;
//! `accumulator` adds them up. `notes` ranks everything else by weights of its own, with `sought` for what a question's words stand for. [`sure`]
//! says how sure a find is to be about a prompt, `worth` what it is worth unasked, [`uses`] how often a memory served.
//! [`formula`] has the published formulas that all this is measured against.

pub mod formula;
pub mod signal;
pub mod signals;
pub mod sure;
pub mod uses;

pub(in crate::search) mod accumulator;
pub(in crate::search) mod lexical;
pub(in crate::search) mod meaning;
pub(in crate::search) mod notes;
pub(in crate::search) mod sought;
pub(in crate::search) mod term;
pub(in crate::search) mod worth;
