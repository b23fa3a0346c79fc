//! Notifications: what `deliver` has decided on is sent, once.
//!
//! - [`notifier`]: through a bot, over the REST API; [`webhook`]: through a webhook's address alone;
//! - [`setup`]: from the settings to one of them;
//! - [`setup_checks`]: what `setup` asks Discord for somebody who has just made a bot.

pub mod notifier;
pub mod setup;
pub mod setup_checks;
pub mod webhook;

pub use notifier::BotNotifier;
pub use webhook::WebhookNotifier;
