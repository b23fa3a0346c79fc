//! Communicates with Discord: requests, events, messages and errors in our types. Nothing here depends on the vault.
//!
//! - [`http`], [`error`]: the REST API with a channel's history, and its errors;
//! - [`gateway`]: supervises one serenity client; `events`: turns its events into [`GatewayEvent`]s;
//! - [`message`], [`snowflake`]: a message with its content outside of its text, ids as times;
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
