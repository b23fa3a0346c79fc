//! Memories: `memory`, and `inbox` for what could be remembered.
//!
//! - [`memory`], [`inbox`]: one file a command. What an operation does stands in [`crate::memory`].

pub(super) mod inbox;
pub(super) mod memory;
