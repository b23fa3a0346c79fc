//! Stores immutable segments in tantivy's format, with one document for each block.
//!
//! - [`schema`] defines a document, and implements tantivy's access to the files.
//! - [`mod@file`] writes a segment, [`reader`] opens one; [`pack`] packs postings and a note's blocks.
//! - [`rows`] is the file beside a segment with the record ([`block_meta`]) and the vector of each block. The file is
//!   mapped into memory and read in place. [`note_rows`] computes the rows of a note's blocks.

pub mod block_meta;
pub mod file;
pub mod note_rows;
pub mod pack;
pub mod reader;
pub mod rows;
pub mod schema;
