//! What ranking knows of the vault's blocks: terms, shapes, speakers, times, built-in vectors.
//!
//! - [`blocks`] is the corpus: the blocks of all segments. `neighbours` are the blocks beside a block.
//! - [`rows`] is what stands beside a segment: [`meta`] is what is known of a block, [`code`] a vector in 64 bytes. [`grow`]
//!   makes that of a note's blocks (`memory`: what it remembers of words). Terms stand in the segment's field `rank`, `times` says how often.
//! - [`vectors`] and [`matrix`] keep and compare the vectors of models that cost something; `wide` is the loop for it.
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
