//! Makes the Discord notifier and the API client that the settings ask for. For the command `setup` it also fetches the
//! bot, its servers and its channels.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use serenity::http::Route;

use super::notifier::{BotNotifier, WebhookNotifier};
use crate::config::{self, DISCORD_TOKEN_VARIABLE, WEBHOOK_VARIABLE};
use crate::deliver::Notifier;
use crate::discord::api::{DiscordApi, DiscordError, bot_checks, message};
use crate::setup::{DiscordBot, DiscordChannel};

/// The REST API as the bot; none without a token.
///
/// # Errors
/// The token can't be read, or `api_base` isn't on this machine.
pub fn api(settings: &config::DiscordSettings, root: &Path) -> Result<Option<DiscordApi>, DiscordError> {
    let token = config::secret(DISCORD_TOKEN_VARIABLE, settings.token_file.as_deref(), root)?;
    token.map(|token| DiscordApi::new(Some(&token), settings.api_base.as_deref())).transpose()
}

/// The notifier that the settings ask for: the bot where there is a token, else the webhook.
///
/// # Errors
/// There is neither, or what there is can't be used.
pub fn notifier(settings: &config::DiscordSettings, root: &Path) -> Result<Arc<dyn Notifier>, DiscordError> {
    let owners = settings.owner_ids.clone();
    if let Some(api) = api(settings, root)? {
        if settings.channel_id.is_none() && owners.is_empty() {
            return Err(DiscordError::NoChannel);
        }
        return Ok(Arc::new(BotNotifier::new(api, settings.channel_id, owners)));
    }
    let address = config::secret(WEBHOOK_VARIABLE, settings.webhook_url_file.as_deref(), root)?;
    let address = address.ok_or(DiscordError::NoCredentials)?;
    Ok(Arc::new(WebhookNotifier::new(&address, settings.api_base.as_deref(), owners)?))
}

/// Text and announcement channels.
const WRITABLE: [u64; 2] = [0, 5];
/// The most servers that are listed.
const SERVERS: usize = 5;

/// The bot that the token belongs to.
///
/// # Errors
/// Discord refuses the token, or can't be reached.
pub async fn bot(api: &DiscordApi) -> Result<DiscordBot, DiscordError> {
    let me = api.get(Route::UserMe).await?;
    let application = api.get(Route::Oauth2ApplicationCurrent).await.unwrap_or(Value::Null);
    let owner = &application["owner"];
    let name = ["global_name", "username"].iter().find_map(|key| owner[*key].as_str());
    Ok(DiscordBot {
        name: me["username"].as_str().unwrap_or("the bot").to_owned(),
        application: message::id(&application["id"]),
        owner: name.map(str::to_owned).zip(message::id(&owner["id"])),
        may_read: bot_checks::may_read_messages(api).await,
    })
}

/// The channels that the bot sees, server by server.
///
/// # Errors
/// As [`bot`].
pub async fn channels(api: &DiscordApi) -> Result<Vec<DiscordChannel>, DiscordError> {
    let servers = api.get(Route::UserMeGuilds).await?;
    let mut found = Vec::new();
    for server in message::list(&servers).iter().take(SERVERS) {
        let Some(id) = message::id(&server["id"]) else { continue };
        let all = api.get(Route::GuildChannels { guild_id: id.into() }).await?;
        let mut channels: Vec<&Value> = message::list(&all)
            .iter()
            .filter(|channel| channel["type"].as_u64().is_some_and(|kind| WRITABLE.contains(&kind)))
            .collect();
        channels.sort_by_key(|channel| channel["position"].as_i64().unwrap_or_default());
        found.extend(channels.into_iter().filter_map(|channel| {
            Some(DiscordChannel {
                id: message::id(&channel["id"])?,
                name: channel["name"].as_str().unwrap_or_default().to_owned(),
                server: id,
                server_name: server["name"].as_str().unwrap_or("your server").to_owned(),
            })
        }));
    }
    Ok(found)
}
