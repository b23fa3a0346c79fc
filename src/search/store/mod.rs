//! The cache's folder: what is known of every block, on disk and in memory.
//!
//! What enters are blocks with their terms; what leaves are views that questions are answered from. Nothing is truth.
//!
//! - [`cache`] the folder with its database, segments and locks, sealed by `cache::certain` and begun by `cache::anew`;
//!   [`catalog`] `index.sqlite`: which file's blocks stand where (`catalog::files`, `catalog::segments`), and which died since. One transaction there commits all, so there is nothing to heal after a crash but to
//!   sweep unlisted files. [`seal`]: checksums, so that a damaged file is made anew and never believed. `version`: what a
//!   cache must have been made with to be used.
//! - [`segment`]: tantivy's segments, each with exactly the terms of its blocks.
//! - [`delta`] works out what changed files mean, [`commit`] commits it and merges segments.
//! - [`view`] is one state of all of that, with exact statistics of living documents, so that an index that grew by edits
//!   and one made anew agree.
//! - `postings` gathers where terms stand while blocks are taken in. [`corpus`]: what ranking knows of each block beside its
//!   words, in a file that is mapped beside each segment.
//!   `ranked` makes it of a view.

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
