//! Immutable segments in tantivy's format: one document a block.
//!
//! [`schema`] says what a document has. [`postings`] and `gather` collect the terms of a segment that is written, [`pack`]
//! its blocks' rows, [`mod@file`] writes them, `file::reading` reads them back, `directory` is where tantivy finds the files.

pub mod file;
pub mod pack;
pub mod schema;

pub(in crate::search) mod directory;
pub(in crate::search) mod gather;
pub(in crate::search) mod postings;
