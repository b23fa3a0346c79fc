//! Checks, cleans and compares the texts of memories. Pure: texts come in; bullets and verdicts go out.
//!
//! - [`wording`]: checks on a text, formatting it as a bullet, and comparing two;
//! - [`harmless`]: turning code that an Obsidian plugin would run into plain text;
//! - [`contradiction`]: contradictions between two facts; [`item`]: a bullet as the operations see it.

pub mod contradiction;
mod harmless;
pub(super) mod item;
pub mod wording;

pub(crate) use harmless::harmless;
pub use wording::{MemoryFields, MemoryTier, Temporal, WordsError, normal};
