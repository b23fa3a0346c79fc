//! Computes edits as pure functions from bytes to bytes.
//!
//! Bytes and [`Operation`]s come in; new bytes and an outcome for each operation go out. No file is opened here. An
//! operation whose line is gone is dropped, never guessed at.
//!
//! - [`operations`]: finds the lines that operations name, by content, and applies the operations to bytes ([`apply`]);
//! - [`splices`]: replacements of bytes, and the outcome of an operation;
//! - [`image`]: the bytes before and after an edit; recognises a torn mix of both;
//! - [`three_way`]: the merge of two texts with a common base, and of late lines from a displaced file;
//! - [`regions`]: the parts of the base that either text changes.

mod image;
pub(super) mod operations;
mod regions;
mod splices;
mod three_way;

pub(super) use image::{FileImages, ImageState};
pub use operations::{Operation, apply};
pub use splices::{DropReason, OpOutcome};
pub(super) use three_way::carry_over;
pub(crate) use three_way::without;
pub use three_way::{Overlap, three_way_merge};
