//! Handles Discord's interactions: slash commands, the entry in a message's context menu, buttons, and autocompletion.
//!
//! - [`dispatch`]: handles each interaction; [`interaction_reply`]: answers one;
//! - [`completion`]: completions while a person types;
//! - [`definitions`]: the commands and their registration;
//! - [`program`]: `/status`, `/undo` and `/routine`;
//! - [`inbox`]: `/inbox`, the open candidates for memories.

mod completion;
mod definitions;
mod dispatch;
mod inbox;
mod interaction_reply;
mod program;

pub(super) use definitions::register;
pub(super) use dispatch::handle;
