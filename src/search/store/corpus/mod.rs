//! Stores the ranking's data on the vault's blocks: terms, shapes of sentences, speakers, times, built-in vectors.
//!
//! - [`blocks`]: the corpus, which is the blocks of all segments; `neighbours`: the blocks beside a block.
//! - [`rows`]: the file beside a segment, with the fixed-size data of each block ([`meta`]) and its vector in 64 bytes
//!   ([`code`]). [`grow`] computes these for a note's blocks (`memory`: its cache of words). Terms are in the segment's
//!   field `rank`; `times` reads their counts.
//! - [`vectors`] and [`matrix`] store and compare the vectors of external models; `wide` has the loops that compare
//!   vectors.
pub mod blocks;
pub mod code;
pub mod grow;
pub mod matrix;
pub(in crate::search) mod memory;
pub mod meta;
pub(in crate::search) mod neighbours;
pub mod rows;
pub(in crate::search) mod times;
pub mod vectors;
pub(in crate::search) mod wide;
