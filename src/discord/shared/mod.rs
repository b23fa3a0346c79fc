//! Defines the objects that the async tasks of the bot share.
//!
//! - [`state`]: the API, the logs, the journals, the position in each channel's history, and the lanes. A lane is the
//!   queue of one channel; its items are new, edited and deleted messages, and requests such as a question of `/ask`;
//! - [`channel_lock`]: one running turn in each channel;
//! - [`access`]: whether a message is dropped, logged, or logged and perhaps answered, by its author; and whether it
//!   addresses the bot (`ingress::lanes::message_action` decides whether it is answered). Pure;
//! - [`vault_operations`]: the vault, for commands and buttons.

pub mod access;
mod channel_lock;
mod state;
mod vault_operations;

pub use channel_lock::ChannelLock;
pub(super) use channel_lock::{END_TIME, FIRST_PAUSE, Interruption, LONGEST_PAUSE, lock};
pub use state::{BotParts, BotTimes};
pub(super) use state::{BotState, Cursors, LaneItem, LaneKind};
pub use vault_operations::VaultOperations;
