//! Discord: notifications that come once, commands, and the conversation as notes.
//!
//! Outward: [`notifier`] (a bot) and [`webhook`] send what `deliver` decides on, over [`http`]. Inward: [`gateway`]
//! hears what happens, [`bot`] hands it to the lane of its channel, a lane stores it in the [`log`] first and acts then,
//! and [`catchup`](self) reads from history whatever the gateway lost. Commands and buttons work on the vault through
//! [`desk`]; questions become turns, and their answers come from whoever
//! answers them; they are run by `agent`. Nothing said on Discord is kept anywhere but in the vault's logs; no
//! token is ever printed; with `[discord] api_base` nothing leaves this machine.

pub mod access;
mod approval_buttons;
mod approvals;
pub mod bot;
pub mod buttons;
mod catchup;
mod commands;
mod components;
mod content;
pub mod cursors;
pub mod desk;
pub mod error;
mod examine;
pub mod gateway;
pub mod history;
pub mod http;
pub mod inbox;
mod ingress;
mod lane;
pub mod log;
pub mod mentions;
pub mod message;
pub mod newcomer;
pub mod notifier;
pub mod permissions;
mod progress;
pub mod setup;
mod shared;
mod shown;
pub mod snowflake;
mod turns;
mod turnstile;
pub mod typing;
pub mod webhook;

pub use access::Owners;
pub use bot::{Parts, run};
pub use desk::{Desk, Outside};
pub use error::DiscordError;
pub use examine::examine;
pub use gateway::GatewayStatus;
pub use http::Api;
pub use log::Logbook;
pub use notifier::BotNotifier;
pub use shared::Pace;
pub use turnstile::Turnstile;
pub use webhook::WebhookNotifier;
