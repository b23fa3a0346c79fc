//! Connects the vault with Discord: notifications, commands, and conversations as notes.
//!
//! Messages of the bound channel, its threads and the owners' DMs come in; notifications, answers and the logs of the
//! conversation go out. Of a conversation only the vault's logs are kept for ever. The turn journal and the delivery
//! journal in the state directory hold the texts of recent questions and answers. No token is ever printed. `[discord]
//! api_base` (for tests) must be a loopback address. If it is set, no request leaves this machine.
//!
//! Each file or folder uses only those above it in this list:
//! - [`api`]: Discord itself: its REST API, its gateway, its messages and errors;
//! - [`log`]: the conversation as notes;
//! - [`shared`]: state that all tasks of the bot share, access rules, and the vault's operations for commands;
//! - [`buttons`]: the buttons under notifications, approvals and candidates;
//! - [`notify`]: sends the notifications of `deliver`, by a bot or a webhook;
//! - [`turns`]: from an accepted question to its answer, run by `agent`;
//! - [`ingress`]: the only entrance of messages: each is stored before it is acted on; lost events are read from
//!   history;
//! - [`commands`]: slash commands and presses of buttons;
//! - [`bot`]: connects all of it to the gateway.

mod api;
mod bot;
mod buttons;
mod commands;
mod ingress;
mod log;
mod notify;
mod shared;
mod turns;

pub use self::api::message::IncomingMessage;
pub use self::api::{DiscordApi, DiscordError, GatewayStatus, examine, snowflake};
pub use self::bot::run;
pub use self::log::logbook::{Logbook, Surface, entries};
pub use self::notify::{BotNotifier, WebhookNotifier, notifier, setup};
pub use self::shared::{BotParts, BotTimes, ChannelLock, VaultOperations, access};
