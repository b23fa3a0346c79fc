//! What ranking knows of the vault's blocks: terms, shapes, speakers, times, built-in vectors.
//!
//! [`blocks`] is the corpus: layers on disk and a tail in memory; `blocks::grow` takes notes in. [`layer`] is the format of a layer, `tail` what was taken
//! in last, `postings` where terms stand in both, `neighbours` the blocks beside a block, [`code`] a vector in 64 bytes. `persist` saves and loads it, `part` is one layer with its notes. [`vectors`] and [`matrix`] keep and compare the vectors
//! of models that cost something.

pub mod blocks;
pub mod code;
pub mod layer;
pub mod matrix;
pub mod vectors;

pub(in crate::search) mod memory;
pub(in crate::search) mod neighbours;
pub(in crate::search) mod part;
pub(in crate::search) mod persist;
pub(in crate::search) mod postings;
pub(in crate::search) mod tail;
pub(in crate::search) mod wide;
