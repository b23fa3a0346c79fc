//! Holds the state that all tasks of the bot share, and small rules that several of them use.
//!
//! - [`state`]: the API, the logs, the journals, the lanes;
//! - [`lane`]: the items of a channel's lane; [`channel_lock`]: one turn at a time a channel; [`cursors`]: the position
//!   in each channel's history;
//! - [`access`], [`mentions`]: the policy for a message's author, and whether a message names the bot
//!   (`ingress::lanes::message_action` decides whether it is answered). Pure;
//! - [`vault_operations`]: the vault, for commands and buttons.

pub mod access;
mod channel_lock;
mod cursors;
mod lane;
pub(super) mod mentions;
mod state;
mod vault_operations;

pub use access::Owners;
pub use channel_lock::ChannelLock;
pub(super) use channel_lock::{END_TIME, Interruption, LONGEST_PAUSE, SHORTEST_PAUSE, lock};
pub(super) use cursors::Cursors;
pub(super) use lane::{LaneItem, LaneKind};
pub(super) use state::BotState;
pub use state::{BotParts, ProgressTimes};
pub use vault_operations::{DaemonServices, VaultOperations};
