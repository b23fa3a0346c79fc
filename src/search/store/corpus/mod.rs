//! Stores the ranking's data on the vault's blocks: terms, shapes, speakers, times, built-in vectors.
//!
//! - [`blocks`] is the corpus: the blocks of all segments. `neighbours` are the blocks beside a block.
//! - [`rows`] is the file beside a segment: [`meta`] is the data of a block, [`code`] a vector in 64 bytes. [`grow`]
//!   computes both of a note's blocks (`memory`: its cache of words). Terms are in the segment's field `rank`, `times`
//!   reads their counts.
//! - [`vectors`] and [`matrix`] keep and compare the vectors of external models; `wide` is the loop for it.
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
