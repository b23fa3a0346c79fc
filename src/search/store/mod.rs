//! Stores the index's data on every block, on disk and in memory.
//!
//! Blocks with their terms come in; views that questions are answered from go out. The store is never the only copy.
//!
//! - [`cache`] is the folder with its database, segments and locks, sealed by `cache::certain` and begun by
//!   `cache::anew`; [`catalog`] is `index.sqlite`: the positions of each file's blocks (`catalog::files`,
//!   `catalog::segments`), and their deletions. One transaction there commits all, so after a crash only unlisted files
//!   have to be swept. [`seal`]: checksums, so that a damaged file is made anew and never believed. `version`: the
//!   versions and settings that a usable cache was made with.
//! - [`segment`]: tantivy's segments, each with exactly the terms of its blocks.
//! - [`delta`] turns changed files into a change, [`commit`] commits it and merges segments.
//! - [`view`] is one state of all of that, with exact statistics of living documents, so that an index that grew by
//!   edits and a new one agree.
//! - `postings` gathers the positions of terms while blocks are added. [`corpus`]: the ranking's data on each block
//!   beside its words, in a file that is mapped beside each segment. `ranked` makes it of a view.

pub mod cache;
pub mod catalog;
pub mod commit;
pub mod corpus;
pub mod delta;
pub mod seal;
pub mod segment;
pub mod view;

pub(in crate::search) mod lock;
pub(in crate::search) mod postings;
pub(in crate::search) mod ranked;
mod version;

pub use version::SCHEMA;
