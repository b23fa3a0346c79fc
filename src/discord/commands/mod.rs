//! Slash commands, the message's menu entry, presses of buttons, and what is offered while somebody types.
//!
//! - [`dispatch`]: each interaction to what it does; `call`: the ways to answer one;
//! - [`definitions`]: the commands that Discord shows, registered where they changed;
//! - [`inbox`]: `/inbox`, what could be remembered.

mod call;
mod definitions;
mod dispatch;
mod inbox;

pub(super) use definitions::register;
pub(super) use dispatch::handle;
