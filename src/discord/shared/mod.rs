//! What all tasks of the bot share, and the small rules that several of them ask.
//!
//! - [`state`]: the way to Discord, the logs, the journals, the lanes;
//! - [`lane`]: what is handed to a channel's lane; [`channel_lock`]: one turn at a time a channel; [`cursors`]: up to where
//!   each channel's history is known;
//! - [`access`], [`mentions`]: who may, and whether a message names the bot (whether it is answered is decided in
//!   `ingress::lanes::message_action`). Pure;
//! - [`vault_operations`]: the vault, as commands and buttons work on it.

pub mod access;
mod channel_lock;
mod cursors;
mod lane;
pub(super) mod mentions;
mod state;
mod vault_operations;

pub use access::Owners;
pub use channel_lock::ChannelLock;
pub(super) use channel_lock::{FAREWELL, LONGEST_PAUSE, SHORTEST_PAUSE, Why, lock};
pub(super) use cursors::Cursors;
pub(super) use lane::{LaneItem, LaneKind};
pub(super) use state::BotState;
pub use state::Pace;
pub use vault_operations::{DaemonServices, VaultOperations};
