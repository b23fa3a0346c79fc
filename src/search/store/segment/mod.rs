//! Stores immutable segments in tantivy's format: one document a block.
//!
//! [`schema`] defines a document. [`pack`] encodes a run's blocks, [`mod@file`] writes a segment, `file::reading` reads
//! them back, `directory` is tantivy's access to the files.

pub mod file;
pub mod pack;
pub mod schema;

pub(in crate::search) mod directory;
