//! Finds the blocks that may answer.
//!
//! By words of the index: [`terms`] (with the weights of title and headings beside the text), `filter` and [`bm25`]
//! over a view's postings. For ranking: `candidates` (the blocks of a scope, and their statistics), `scope` (the
//! positions of a question's terms), `alike` (words of the vault that look like one of the question's), `mended` (its
//! typing errors, corrected by them), `nearest` and `cosines` (vectors), `around` (turns beside a turn).

pub mod bm25;
pub mod terms;

pub(in crate::search) mod alike;
pub(in crate::search) mod around;
pub(in crate::search) mod candidates;
pub(in crate::search) mod cosines;
pub(in crate::search) mod filter;
pub(in crate::search) mod mended;
pub(in crate::search) mod nearest;
pub(in crate::search) mod scope;
pub(in crate::search) mod typed;
