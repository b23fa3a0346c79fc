//! Slash commands, the message's menu entry, presses of buttons, and what is offered while somebody types.
//!
//! - [`handle`]: each interaction to what it does; its `definitions` are what Discord shows;
//! - [`inbox`]: `/inbox`, what could be remembered.

pub(super) mod handle;
mod inbox;
