//! From the settings to a notifier, and what `doctor` asks Discord.

use std::path::Path;
use std::sync::Arc;

use secrecy::SecretString;
use serde_json::Value;
use serenity::http::Route;

use super::access::Owners;
use super::error::{ApiError, DiscordError};
use super::http::Api;
use super::notifier::BotNotifier;
use super::webhook::WebhookNotifier;
use super::{history, message};
use crate::config::{self, ConfigError, DISCORD_TOKEN_VARIABLE, WEBHOOK_VARIABLE};
use crate::deliver::Notifier;

/// Discord can't be used with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// A secret can't be read.
    #[error(transparent)]
    Secret(#[from] ConfigError),
    /// What is set can't work.
    #[error(transparent)]
    Discord(#[from] DiscordError),
}

/// The bot's token, if there is one.
///
/// # Errors
/// The file that holds it can't be read or can be read by others.
pub fn token(settings: &config::Discord, root: &Path) -> Result<Option<SecretString>, ConfigError> {
    config::secret(DISCORD_TOKEN_VARIABLE, settings.token_file.as_deref(), root)
}

/// A way to the REST API as the bot; none without a token.
///
/// # Errors
/// The token can't be read, or `api_base` isn't on this machine.
pub fn api(settings: &config::Discord, root: &Path) -> Result<Option<Api>, SetUpError> {
    let token = token(settings, root)?;
    Ok(token.map(|token| Api::new(Some(&token), settings.api_base.as_deref())).transpose()?)
}

/// The notifier that the settings ask for: the bot where there is a token, else the webhook.
///
/// # Errors
/// There is neither, or what there is can't be used.
pub fn notifier(settings: &config::Discord, root: &Path) -> Result<Arc<dyn Notifier>, SetUpError> {
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

/// `Message Content`, granted or limited.
const MESSAGE_CONTENT_FLAGS: u64 = (1 << 18) | (1 << 19);

/// Asks Discord whether the bot can do its work: each thing that is well in words, each that isn't as the problem.
pub async fn examine(api: &Api, settings: &config::Discord) -> Vec<Result<String, DiscordError>> {
    let me = match api.get(Route::UserMe, vec![]).await {
        Ok(me) => me,
        Err(ApiError::Refused { status: 401, .. }) => return vec![Err(DiscordError::WrongToken)],
        Err(error) => return vec![Err(DiscordError::Unreachable(error.to_string()))],
    };
    let name = me["username"].as_str().unwrap_or("the bot");
    let mut found = vec![Ok(format!("Discord knows the bot as `{name}`"))];
    if let Ok(application) = api.get(Route::Oauth2ApplicationCurrent, vec![]).await {
        let flags = application["flags"].as_u64().unwrap_or_default();
        found.push(if flags & MESSAGE_CONTENT_FLAGS == 0 {
            Err(DiscordError::MissingIntent)
        } else {
            Ok("it may read messages".to_owned())
        });
    }
    match settings.channel_id {
        Some(channel) => found.push(examine_channel(api, channel).await),
        None => found.push(Err(DiscordError::NoChannel)),
    }
    found
}

async fn examine_channel(api: &Api, channel: u64) -> Result<String, DiscordError> {
    let route = Route::Channel { channel_id: channel.into() };
    let answer: Value = api.get(route, vec![]).await.map_err(|error| error.for_channel(channel))?;
    let page = history::page(api, channel, 0).await.map_err(|error| error.for_channel(channel))?;
    // Without the permission to read history Discord answers an empty page, and no error.
    if page.messages.is_empty() && message::id(&answer["last_message_id"]).is_some() {
        return Err(DiscordError::MissingPermission(channel));
    }
    let name = answer["name"].as_str().unwrap_or_default();
    Ok(format!("the bound channel `{name}` can be read"))
}
