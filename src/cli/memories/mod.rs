//! Groups the commands for memory: `memory`, and `inbox` for candidates.
//!
//! - [`memory`], [`inbox`]: one file for each command; [`saving`] is `memory save`; [`arguments`] parses arguments. The
//!   operations themselves are in [`crate::memory`].

mod arguments;
pub(super) mod inbox;
pub(super) mod memory;
mod saving;

pub(super) use arguments::expand_here;
