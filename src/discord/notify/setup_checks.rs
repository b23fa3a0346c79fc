//! Asks Discord, for `setup`, which bot a token belongs to and which channels it can write to.

use serde_json::Value;
use serenity::http::Route;

use crate::discord::api::{DiscordApi, DiscordError, bot_checks, message};
use crate::setup::{DiscordBot, DiscordChannel};

/// Text and announcement channels.
const WRITABLE: [u64; 2] = [0, 5];
/// The most servers that are listed.
const SERVERS: usize = 5;

/// The bot that the token belongs to.
///
/// # Errors
/// Discord refuses the token, or can't be reached.
pub async fn bot(api: &DiscordApi) -> Result<DiscordBot, DiscordError> {
    let me = api.get(Route::UserMe, vec![]).await?;
    let application = api.get(Route::Oauth2ApplicationCurrent, vec![]).await.unwrap_or(Value::Null);
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
    let servers = api.get(Route::UserMeGuilds, vec![]).await?;
    let mut found = Vec::new();
    for server in message::list(&servers).iter().take(SERVERS) {
        let Some(id) = message::id(&server["id"]) else { continue };
        let all = api.get(Route::GuildChannels { guild_id: id.into() }, vec![]).await?;
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
