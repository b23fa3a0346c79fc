//! Stores immutable segments in tantivy's format, with one document for each block.
//!
//! - [`schema`] defines a document, and implements tantivy's access to the files.
//! - [`mod@file`] writes a segment, [`reader`] opens one; [`pack`] packs postings and a note's blocks.
//! - [`rows`] is the file beside a segment that is mapped and read in place: the record of each block ([`block_meta`])
//!   and its vector in 64 bytes ([`crate::search::store::vector_code`]). [`note_rows`] computes these for a note's
//!   blocks.

pub mod block_meta;
pub mod file;
pub mod note_rows;
pub mod pack;
pub mod reader;
pub mod rows;
pub mod schema;
