//! Imports other programs' memories into the vault, and exports the vault's.
//!
//! Coming in, a reader for each kind of source ([`memory_json`], [`openclaw`], [`basic_memory`], [`records`]) turns
//! files outside the vault into a [`ImportBatch`] of items, with the places of what it can't use. [`merge`] adds missing
//! items to a note's text, purely, and [`Importer`] writes the result through [`vault::Editor`]: no line of a note is
//! changed, nothing is added twice, and no note is replaced. Going out, [`VaultContents`] holds the notes' contents, and
//! pure functions write them: [`markdown::document`], [`records::lines_of`], [`calendar::calendar`] and
//! [`okf::bundle`].
//!
//! Other programs' files are no notes of the vault: they are read here, with bounds ([`bounded_read`]), and
//! never written.
//!
//! - `source`, `bounded_read`: finding the program that a file is from, and reading it with bounds;
//! - `memory_json`, `openclaw`, `basic_memory`, `records`: one file a source; `item`, `chunks`: their results;
//! - `merge`, `import`: into the notes; `follow`: a followed folder; `error`: errors before a write;
//! - `contents`, `markdown`, `records`, `okf`, `calendar`: out of the notes, one file a form.
//!
//! [`vault::Editor`]: crate::vault::Editor

pub mod basic_memory;
pub mod bounded_read;
pub mod calendar;
mod chunks;
mod contents;
mod error;
pub mod follow;
mod import;
mod item;
pub mod markdown;
pub mod memory_json;
pub mod merge;
pub mod okf;
pub mod openclaw;
pub mod records;
mod source;

pub use contents::{DayNote, FIRST, VaultContents};
pub use error::TransferError;
pub use import::{ImportReport, Importer, NoteReport};
pub use item::{FoundItem, ImportBatch, ImportItem, ImportProblem};
pub use source::{ImportSourceKind, read};
