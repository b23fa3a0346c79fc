//! Makes the notifier and the API client that the settings ask for.

use std::path::Path;
use std::sync::Arc;

use secrecy::SecretString;

use super::notifier::BotNotifier;
use super::webhook::WebhookNotifier;
use crate::config::{self, ConfigError, DISCORD_TOKEN_VARIABLE, WEBHOOK_VARIABLE};
use crate::deliver::Notifier;
use crate::discord::api::{DiscordApi, DiscordError};
use crate::discord::shared::access::Owners;

/// Discord can't be used with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// A secret can't be read.
    #[error(transparent)]
    Secret(#[from] ConfigError),
    /// The settings can't work.
    #[error(transparent)]
    Discord(#[from] DiscordError),
}

/// The bot's token, if there is one.
///
/// # Errors
/// The file that holds it can't be read or can be read by others.
pub fn token(settings: &config::DiscordSettings, root: &Path) -> Result<Option<SecretString>, ConfigError> {
    config::secret(DISCORD_TOKEN_VARIABLE, settings.token_file.as_deref(), root)
}

/// The REST API as the bot; none without a token.
///
/// # Errors
/// The token can't be read, or `api_base` isn't on this machine.
pub fn api(settings: &config::DiscordSettings, root: &Path) -> Result<Option<DiscordApi>, SetUpError> {
    let token = token(settings, root)?;
    Ok(token.map(|token| DiscordApi::new(Some(&token), settings.api_base.as_deref())).transpose()?)
}

/// The notifier that the settings ask for: the bot where there is a token, else the webhook.
///
/// # Errors
/// There is neither, or what there is can't be used.
pub fn notifier(settings: &config::DiscordSettings, root: &Path) -> Result<Arc<dyn Notifier>, SetUpError> {
    let owners = Owners::new(&settings.owner_ids);
    if let Some(api) = api(settings, root)? {
        if settings.channel_id.is_none() && owners.ids().is_empty() {
            return Err(DiscordError::NoChannel.into());
        }
        return Ok(Arc::new(BotNotifier::new(api, settings.channel_id, owners)));
    }
    let address = config::secret(WEBHOOK_VARIABLE, settings.webhook_url_file.as_deref(), root)?;
    let address = address.ok_or(DiscordError::NoCredentials)?;
    Ok(Arc::new(WebhookNotifier::new(&address, settings.api_base.as_deref(), owners)?))
}
