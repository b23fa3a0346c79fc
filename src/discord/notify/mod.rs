//! Sends the notifications of `deliver` to Discord, once.
//!
//! - [`notifier`]: through a bot, over the REST API; [`webhook`]: through a webhook's address alone;
//! - [`setup`]: makes one of them from the settings; the questions of the command `setup` to Discord.

pub mod notifier;
pub mod setup;
pub mod webhook;

pub use notifier::BotNotifier;
pub use webhook::WebhookNotifier;
