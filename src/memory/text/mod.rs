//! What a memory says. Pure: texts come in; bullets and verdicts go out.
//!
//! - [`saying`]: what is allowed in a text that is to be kept, how it becomes a bullet, and when two say the same;
//! - [`harmless`]: what an Obsidian plugin would run, as plain text;
//! - [`differ`]: whether two facts contradict each other; [`item`]: a bullet as the operations see it.

pub mod differ;
mod harmless;
pub(super) mod item;
pub mod saying;

pub(crate) use harmless::harmless;
pub use saying::{Fields, Temporal, Tier, WordsError, normal};
