//! The bot against a Discord of our own, over real sockets, through serenity itself.

#[path = "../support/discord/mod.rs"]
mod fake;
mod rig;

mod absence;
mod approvals;
mod commanding;
mod conversation;
mod daemon;
mod machines;
mod missed;
#[cfg(unix)]
mod newcomer;
mod notifying;
mod permits;
pub mod traps;
pub mod turns;
mod turns_bad;
mod turns_killed;
mod turns_remade;

#[cfg(unix)]
mod secrets;
