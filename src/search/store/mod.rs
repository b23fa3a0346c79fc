//! Stores the data of the index about each block, on disk and in memory.
//!
//! The blocks of notes come in; the corpus that questions are answered from goes out. Everything in the store can be
//! computed again from the notes.
//!
//! - [`cache`]: the folder with its database, segments and locks; `cache::damage` verifies its files, and replaces a
//!   cache that can't be used.
//! - [`catalog`]: `index.sqlite`, with the known files, the segments and their deletions. One transaction in it commits
//!   a change, so after a crash only unlisted files have to be removed.
//! - [`seal`]: checksums, by which a damaged file is detected.
//! - [`segment`]: tantivy's segments, each with exactly the terms of its blocks, and with one more file for ranking.
//! - [`commit`]: turns changed files into a change, commits it and merges segments.
//! - [`corpus`]: one snapshot of catalog and segments. Its statistics count no deleted blocks, so an index that grew by
//!   edits gives the same answers as a new one. [`blocks`]: reads the data of one block of a corpus.
//! - [`vector_code`]: encodes vectors in few bytes (two bits for each dimension, or one byte for external models);
//!   [`vectors`]: stores the vectors of external models in `index.sqlite`.

pub mod blocks;
pub mod cache;
pub mod catalog;
pub mod commit;
pub mod corpus;
pub mod seal;
pub mod segment;
pub mod vector_code;
pub mod vectors;

pub(in crate::search) mod lock;

pub(in crate::search) use blocks::TermCount;
pub(in crate::search) use cache::{Mode, Store};
pub(in crate::search) use catalog::{FileRow, FileStat, LastCommit, SegmentRow};
pub(in crate::search) use commit::{Change, Delta, DeltaBuilder};
pub use corpus::Stored;
pub(in crate::search) use corpus::{Corpus, CorpusNote};
pub(in crate::search) use lock::Lock;
pub(in crate::search) use seal::{DATABASE, DatabaseState, Seal, Sealed, boot_id};
pub(in crate::search) use segment::block_meta::{Meta, NEVER, NO_AUTHOR, NO_ROW, Rest, role_of};
pub(in crate::search) use segment::file::SegmentBuilder;
pub(in crate::search) use segment::note_rows::{Gathered, RowInputs};
pub(in crate::search) use segment::pack::{Postings, decode};
pub(in crate::search) use segment::reader::{Seg, SegmentFiles};
pub(in crate::search) use segment::rows::{NewRows, NewTerms, NoteRow, Rows};
pub(in crate::search) use segment::schema::{
    FILTER, MARKED, RANK, SEPARATOR, SegmentDirectory, TEXT, scope_filters,
};
pub(in crate::search) use vector_code::{Code, Hash, Matrix, Probe, Signs, WORDS, hash, to_bytes};
pub(in crate::search) use vectors::{Counts, Pointer};
