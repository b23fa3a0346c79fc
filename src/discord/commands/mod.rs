//! Handles slash commands, the message's menu entry, presses of buttons, and completions while a person types.
//!
//! - [`dispatch`]: handles each interaction; [`interaction_reply`]: answers one;
//! - [`definitions`]: the commands, registered where they changed;
//! - [`inbox`]: `/inbox`, the open candidates for memories.

mod definitions;
mod dispatch;
mod inbox;
mod interaction_reply;

pub(super) use definitions::register;
pub(super) use dispatch::handle;
