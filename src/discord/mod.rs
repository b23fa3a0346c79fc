//! Discord: notifications that come once, commands, and the conversation as notes.
//!
//! What is said in the bound channel, its threads and the owners' DMs comes in; notifications, answers and the logs of
//! the conversation go out. Nothing said on Discord is kept anywhere but in the vault's logs; no token is ever printed;
//! with `[discord] api_base` nothing leaves this machine. In the order in which a message takes:
//! - [`api`]: Discord itself: its REST API, its gateway, its messages and errors;
//! - [`log`]: the conversation as notes;
//! - [`shared`]: what all tasks of the bot share, who may command it, and the desk that commands work on;
//! - [`buttons`]: the buttons under notifications and under questions of the assistant;
//! - [`notify`]: sending what `deliver` decides on, by a bot or a webhook;
//! - [`answer`]: from an accepted question to its answer, run by `agent`;
//! - [`ingress`]: one way in for everything that is said: stored first, acted on then; what the gateway lost is read from
//!   history;
//! - [`commands`]: slash commands and presses of buttons;
//! - [`bot`]: wires all of it to the gateway.

mod answer;
mod api;
mod bot;
mod buttons;
mod commands;
mod ingress;
mod log;
mod notify;
mod shared;

pub use self::api::message::Incoming;
pub use self::api::snowflake;
pub use self::api::{Api, DiscordError, GatewayStatus, examine};
pub use self::bot::{BotParts, run};
pub use self::log::logbook::{Logbook, Surface, entries};
pub use self::notify::{BotNotifier, WebhookNotifier, notifier, setup, setup_checks, webhook};
pub use self::shared::{ChannelLock, DaemonServices, Owners, Pace, VaultOperations, access};
