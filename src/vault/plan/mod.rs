//! What an edit does, as pure functions from bytes to bytes.
//!
//! Bytes and [`Operation`]s come in; new bytes and an outcome for each operation go out. No file is opened here, and an
//! operation whose line is gone is dropped, never guessed at.
//! - [`operations`]: the operations and how they are applied ([`apply`]);
//! - [`lines`]: lines found by their content;
//! - [`image`]: the bytes before and after an edit, and the way back from a torn mix of both;
//! - [`merge`]: lines that somebody wrote into a file that had just been replaced, carried over.

mod image;
mod lines;
mod merge;
pub(super) mod operations;

pub(super) use image::{Found, Guard, Script, classify};
pub(super) use merge::carry_over;
pub use operations::{DropReason, OpOutcome, Operation, apply};
