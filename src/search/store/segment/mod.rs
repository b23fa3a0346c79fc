//! Immutable segments in tantivy's format: one document a block.
//!
//! [`schema`] says what a document has. [`pack`] makes bytes of a run's blocks, [`mod@file`]
//! writes a segment, `file::reading` reads them back, `directory` is where tantivy finds the files.

pub mod file;
pub mod pack;
pub mod schema;

pub(in crate::search) mod directory;
