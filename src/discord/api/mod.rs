//! Talks to Discord: requests, events, messages and errors in our types. Nothing here knows the vault.
//!
//! - [`http`], [`error`]: the REST API, and its errors;
//! - [`gateway`]: one supervised serenity client, whose events become [`GatewayEvent`]s;
//! - `events`: the events of the gateway;
//! - [`message`], [`content`], [`snowflake`]: a message, its content outside of its text, ids as times;
//! - [`history`]: a channel's pages;
//! - [`bot_checks`]: the permissions of a bot, and what a person has to fix.

pub(super) mod bot_checks;
mod content;
mod error;
mod events;
mod gateway;
pub(super) mod history;
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
