//! Stores the ranking's data on the vault's blocks: terms, shapes of sentences, speakers, times, built-in vectors.
//!
//! - [`blocks`]: the corpus, which is the blocks of all segments; `neighbours`: the blocks beside a block.
//! - [`rows`]: the file beside a segment, with the fixed-size data of each block ([`block_meta`]) and its vector in
//!   64 bytes ([`vector_code`]). [`note_rows`] computes these for a note's blocks (`word_cache`: the terms of words that
//!   it met before). Terms are in the segment's field `rank`; `term_count` reads their counts.
//! - [`vectors`] and [`matrix`] store and compare the vectors of external models.
pub mod block_meta;
pub mod blocks;
pub mod matrix;
pub(in crate::search) mod neighbours;
pub mod note_rows;
pub mod rows;
pub(in crate::search) mod term_count;
pub mod vector_code;
pub mod vectors;
pub(in crate::search) mod word_cache;
