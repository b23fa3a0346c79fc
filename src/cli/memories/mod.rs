//! Memories: `memory`, and `inbox` for what could be remembered.
//!
//! - [`memory`], [`inbox`]: one file a command; [`saving`] is `memory save`, [`arguments`] what arguments mean. What an operation does stands in [`crate::memory`].

mod arguments;
pub(super) mod inbox;
pub(super) mod memory;
mod saving;

pub(super) use arguments::with_here;
