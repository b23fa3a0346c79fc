//! Sends the notifications of `deliver` to Discord, once.
//!
//! - [`notifier`]: through a bot, over the REST API, or through a webhook's address alone;
//! - [`setup`]: makes one of them from the settings; the questions of the command `setup` to Discord.

pub mod notifier;
pub mod setup;

pub use notifier::{BotNotifier, WebhookNotifier};
