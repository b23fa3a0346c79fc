//! Finds the blocks that may answer a question, before they are ranked.
//!
//! - In the index, by words: `document_sets` (a query's words, and the blocks that have a word, a tag or a time),
//!   `filter`, and [`bm25`].
//! - For the ranking, in the corpus: `candidates` (the blocks of a scope, with statistics, and those of a question's
//!   terms), `similar_words` (words of the vault that look like a word of the question; corrects misspelt words) and
//!   `nearest_vectors` (blocks whose vectors are nearest to the question's).

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
