//! Finds the blocks that may answer a question, before they are ranked.
//!
//! - `document_sets`: finds in the index the blocks that have a word, a tag or a time; `filter`: applies filters and
//!   phrases; [`bm25`]: scores by words.
//! - `candidates`: selects the blocks of a scope, with statistics, and those with a question's terms.
//! - `similar_words`: finds words of the vault that look like a word of the question, and corrects misspelt words.
//! - `nearest_vectors`: finds the blocks whose vectors are nearest to the question's.

pub mod bm25;

pub(in crate::search) mod candidates;
pub(in crate::search) mod document_sets;
pub(in crate::search) mod filter;
pub(in crate::search) mod nearest_vectors;
pub(in crate::search) mod similar_words;

pub(in crate::search) use bm25::{B, Clause, K1, clauses, idf, saturated, top};
pub(in crate::search) use candidates::{
    Bounds, COMMON, CorpusScope, MANY, NoteSlots, Occurrence, Occurrences, RATHER_COMMON, count,
};
pub(in crate::search) use document_sets::{DocumentSets, QueryWord, WordMatcher, matchers, query_words};
pub(in crate::search) use filter::Filters;
pub(in crate::search) use nearest_vectors::{Nearest, Vectors, nearest_blocks};
pub(in crate::search) use similar_words::{SimilarWordFinder, SimilarWords, correct_typos};
