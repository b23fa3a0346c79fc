//! Sends the notifications of `deliver` to Discord, once.
//!
//! - [`notifier`]: through a bot, over the REST API; [`webhook`]: through a webhook's address alone;
//! - [`setup`]: makes one of them from the settings;
//! - [`setup_checks`]: the questions of `setup` to Discord, for a person with a new bot.

pub mod notifier;
pub mod setup;
pub mod setup_checks;
pub mod webhook;

pub use notifier::BotNotifier;
pub use webhook::WebhookNotifier;
