//! Sends the notifications of `deliver` to Discord, once.
//!
//! - [`notifier`]: sends through a bot, over the REST API, or through a webhook's address alone;
//! - [`setup`]: makes the notifier from the settings, and queries Discord for the command `setup`.

pub mod notifier;
pub mod setup;

pub use notifier::{BotNotifier, WebhookNotifier};
