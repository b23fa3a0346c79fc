//! Finds the blocks that may answer.
//!
//! - In the index, by words: [`terms`] (a query's words), `sets` (the blocks that have a word, a tag or a time),
//!   `filter`, and [`bm25`].
//! - For the ranking, in the corpus: `candidates` (the blocks of a scope, with statistics), `scope` (the positions of a
//!   question's terms), `typed` (the blocks with a typed word), `alike` (words of the vault that look like a word of
//!   the question), `mended` (corrects typing errors of the question), `nearest` and `cosines` (vectors).

pub mod bm25;
pub mod terms;

pub(in crate::search) mod alike;
pub(in crate::search) mod candidates;
pub(in crate::search) mod cosines;
pub(in crate::search) mod filter;
pub(in crate::search) mod mended;
pub(in crate::search) mod nearest;
pub(in crate::search) mod scope;
pub(in crate::search) mod sets;
pub(in crate::search) mod typed;
