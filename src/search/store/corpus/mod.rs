//! What ranking knows of the vault's blocks: terms, shapes, speakers, times, built-in vectors.
//!
//! - [`blocks`] is the corpus: layers on disk and a tail in memory. `grow` takes notes in and out; `neighbours` are the
//!   blocks beside a block.
//! - `tail` is what was taken in last (`memory`: what it remembers of words), [`layer`] the format of a layer, `frozen` a
//!   layer with its file. In both, [`meta`] is what is known of a block, [`code`] a vector in 64 bytes; where terms stand is packed as
//!   [`crate::search::store::postings`] does.
//! - `persist` saves and loads all of it; `part` is one layer with its notes, made beside others.
//! - [`vectors`] and [`matrix`] keep and compare the vectors of models that cost something; `wide` is the loop for it.

pub mod blocks;
pub mod code;
pub mod layer;
pub mod matrix;
pub mod meta;
pub mod vectors;

pub(in crate::search) mod frozen;
pub(in crate::search) mod grow;
pub(in crate::search) mod memory;
pub(in crate::search) mod neighbours;
pub(in crate::search) mod part;
pub(in crate::search) mod persist;
pub(in crate::search) mod tail;
pub(in crate::search) mod wide;
