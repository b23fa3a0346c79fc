//! Computes edits as pure functions from bytes to bytes.
//!
//! Bytes and [`Operation`]s come in; new bytes and an outcome for each operation go out. No file is opened here, and an
//! operation whose line is gone is dropped, never guessed at.
//! - [`operations`]: the operations and how they are applied ([`apply`]); [`splices`]: the places in the bytes that
//!   they replace; [`outcome`]: the outcome of each; the callers word it;
//! - [`lines`]: lines found by their content;
//! - [`image`]: the bytes before and after an edit, and the way back from a torn mix of both;
//! - [`three_way`]: the merge of two texts with a common base; [`merge`]: late lines from a displaced file.

mod image;
mod lines;
mod merge;
pub(super) mod operations;
mod outcome;
mod splices;
mod three_way;

pub(super) use image::{ImageChange, ImageState, OldImageGuard, classify};
pub(super) use merge::carry_over;
pub use operations::{Operation, apply};
pub use outcome::{DropReason, OpOutcome};
pub use three_way::{Overlap, ThreeWayMerge, three_way_merge};
