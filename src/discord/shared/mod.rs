//! What all tasks of the bot share, and the small rules that several of them ask.
//!
//! - [`state`]: the way to Discord, the logs, the journals, the lanes;
//! - [`lane`]: what is handed to a channel's lane; [`turnstile`]: one turn at a time a channel; [`cursors`]: up to where
//!   each channel's history is known;
//! - [`access`], [`mentions`]: who may, and whether a message names the bot (whether it is answered is decided in
//!   `ingress::lanes::acting`). Pure;
//! - [`desk`]: the vault, as commands and buttons work on it.

pub mod access;
mod cursors;
mod desk;
mod lane;
pub(super) mod mentions;
mod state;
mod turnstile;

pub use access::Owners;
pub(super) use cursors::Cursors;
pub use desk::{Desk, Outside};
pub(super) use lane::{Item, Place};
pub use state::Pace;
pub(super) use state::Shared;
pub use turnstile::Turnstile;
pub(super) use turnstile::{FAREWELL, LONGEST_PAUSE, SHORTEST_PAUSE, Why, lock};
