//! Discord itself: requests, events, messages and errors in our types. Nothing here knows the vault.
//!
//! - [`http`], [`error`]: one request in, a value or an error for people out;
//! - [`gateway`]: one supervised serenity client, whose events become [`GatewayEvent`](events::GatewayEvent)s;
//! - `events`: what the gateway tells;
//! - [`message`], [`content`], [`snowflake`]: a message as the bot needs it, what it says beside its text, ids as times;
//! - [`history`], [`typing`]: a channel's pages, the typing sign;
//! - [`permissions`], [`bot_checks`]: what a bot may do, and what a person has to mend.

pub(super) mod bot_checks;
mod content;
mod error;
mod events;
mod gateway;
pub(super) mod history;
mod http;
pub mod message;
mod permissions;
pub mod snowflake;
mod typing;

pub use bot_checks::examine;
pub(super) use error::ApiError;
pub use error::DiscordError;
pub(super) use events::GatewayEvent;
pub(super) use gateway::Gateway;
pub use gateway::GatewayStatus;
pub use http::Api;
pub(super) use typing::Typing;
