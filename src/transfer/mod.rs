//! From and to elsewhere: what other programs remember comes in, what the vault remembers goes out.
//!
//! Coming in, a reader for each kind of source ([`memory_json`], [`openclaw`], [`basic_memory`],
//! [`records`]) turns files outside the vault into a [`Batch`] of items and of things that it can't use,
//! each with its place. [`merge`] says, purely, what a note looks like with the items that it lacks, and
//! [`Importer`] writes that through [`vault::Editor`]: nothing that stands in a note is changed, nothing
//! is added twice, and no note that exists is replaced. Going out, [`Contents`] is what the notes say,
//! and pure functions write it down: [`markdown::document`], [`records::lines_of`],
//! [`calendar::calendar`] and [`okf::bundle`].
//!
//! Other programs' files are no notes of the vault: they are read here, with bounds ([`outside`]), and
//! never written.
//!
//! - `source`, `outside`: which program a file is from, and reading it with bounds;
//! - `memory_json`, `openclaw`, `basic_memory`, `records`: one file a source; `item`, `chunks`: what they give;
//! - `merge`, `import`: into the notes; `follow`: a folder that is followed; `error`: what can go wrong before;
//! - `contents`, `markdown`, `records`, `okf`, `calendar`: out of the notes, one file a form.
//!
//! [`vault::Editor`]: crate::vault::Editor

pub mod basic_memory;
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
pub mod outside;
pub mod records;
mod source;

pub use contents::{Contents, Day};
pub use error::TransferError;
pub use import::{ImportReport, Importer, NoteReport};
pub use item::{Batch, Found, Item, Problem};
pub use source::{SourceKind, read};
