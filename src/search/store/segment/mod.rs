//! Stores immutable segments in tantivy's format: one document a block.
//!
//! - [`schema`] defines a document; `directory` is tantivy's access to the files.
//! - [`mod@file`] writes a segment, [`reader`] opens one; `postings` gathers the positions of terms while blocks are added,
//!   [`pack`] packs a note's blocks.
//! - [`rows`] is the file beside a segment that is mapped and read in place: the record of each block ([`block_meta`]) and
//!   its vector in 64 bytes ([`vector_code`]). [`note_rows`] computes these for a note's blocks.

pub mod block_meta;
pub mod file;
pub mod note_rows;
pub mod pack;
pub mod reader;
pub mod rows;
pub mod schema;
pub mod vector_code;

pub(in crate::search) mod directory;
pub(in crate::search) mod postings;
