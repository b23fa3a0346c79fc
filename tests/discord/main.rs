//! The bot against a Discord of our own, over real sockets, through serenity itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/discord/mod.rs"]
mod fake;
#[path = "../support/models/mod.rs"]
mod models;
mod rig;

mod absence;
mod approvals;
mod commanding;
mod conversation;
mod daemon;
mod missed;
mod notifying;
mod once;
mod permits;
mod smoke;
mod traps;
mod turns;
mod turns_bad;
mod turns_chosen;
mod turns_killed;
mod turns_remade;
