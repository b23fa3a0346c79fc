//! Stores the index's data on every block, on disk and in memory.
//!
//! Blocks with their terms come in; the corpus that questions are answered from goes out. The store is never the only copy.
//!
//! - [`cache`]: the folder with its database, segments and locks; `cache::verify` verifies its files, `cache::recreate`
//!   replaces one that can't be used. `version`: the fingerprint by which an outdated cache is recognised.
//! - [`catalog`]: `index.sqlite`, with the positions of each file's blocks (`catalog::files`), the segments and their
//!   deletions. One transaction there commits all, so after a crash only unlisted files have to be removed.
//! - [`seal`]: checksums, by which a damaged file is detected.
//! - [`segment`]: tantivy's segments, each with exactly the terms of its blocks, and with the ranking's data on each block
//!   in a file that is mapped beside it.
//! - [`delta`] turns changed files into a change; [`commit`] commits it and merges segments.
//! - [`corpus`]: one snapshot of all of that, with exact statistics of living documents, so that an index that grew by
//!   edits and a new one give the same answers; [`blocks`] reads what it knows of each block.
//! - [`vectors`] and [`matrix`] store and compare the vectors of external models.

pub mod blocks;
pub mod cache;
pub mod catalog;
pub mod commit;
pub mod corpus;
pub mod delta;
pub mod matrix;
pub mod seal;
pub mod segment;
pub mod vectors;

pub(in crate::search) mod lock;
mod version;

pub use version::SCHEMA;
