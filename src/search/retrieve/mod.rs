//! Finds the blocks that may answer.
//!
//! - In the index, by words: [`query_words`] (a query's words), `document_sets` (the blocks that have a word, a tag or a
//!   time), `filter`, and [`bm25`].
//! - For the ranking, in the corpus: `candidates` (the blocks of a scope, with statistics), `term_blocks` (the blocks of
//!   a question's terms), `similar_words` (words of the vault that look
//!   like a word of the question), `typo_correction` and `nearest_vectors`.

pub mod bm25;
pub mod query_words;

pub(in crate::search) mod candidates;
pub(in crate::search) mod document_sets;
pub(in crate::search) mod filter;
pub(in crate::search) mod nearest_vectors;
pub(in crate::search) mod similar_words;
pub(in crate::search) mod term_blocks;
pub(in crate::search) mod typo_correction;
