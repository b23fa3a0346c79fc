//! Communicates with Discord: requests, events, messages and errors in types of this program. Nothing here depends on
//! the vault.
//!
//! - [`http`], [`error`]: the REST API with a channel's history, and its errors;
//! - [`gateway`]: supervises one serenity client; `events`: turns its events into [`GatewayEvent`]s;
//! - [`message`]: a message, with the content that stands outside of its text (forwards, polls, cards);
//! - [`snowflake`]: converts Discord's ids to times and to ids of log blocks;
//! - [`bot_checks`]: the permissions of a bot, and the problems that a person has to fix.

pub(super) mod bot_checks;
mod error;
mod events;
mod gateway;
mod http;
pub mod message;
pub mod snowflake;

pub use bot_checks::examine;
pub use error::DiscordError;
pub(super) use error::{ApiError, granted};
pub(super) use events::GatewayEvent;
pub(super) use gateway::Gateway;
pub use gateway::GatewayStatus;
pub use http::DiscordApi;
