//! Sends the notifications of `deliver` to Discord: exactly once through a bot, at least once through a webhook.
//!
//! - [`notifier`]: sends through a bot, over the REST API, or through a webhook's address alone;
//! - [`setup`]: makes the notifier from the settings, and asks Discord about the bot for the command `vault-agent
//!   setup`.

pub mod notifier;
pub mod setup;

pub use notifier::{BotNotifier, WebhookNotifier};
