//! Checks with Discord that the bot can do its work, for `doctor`, `setup` and the bot itself; lists what a person has
//! to fix.

use serde_json::Value;
use serenity::http::Route;

use super::error::{ApiError, DiscordError};
use super::http::DiscordApi;
use super::{history, message, permissions};
use crate::config;

/// `Message Content`, granted or limited.
const MESSAGE_CONTENT_FLAGS: u64 = (1 << 18) | (1 << 19);

/// Checks with Discord that the bot can do its work: a sentence for each check that passed, the problem for the others.
pub async fn examine(
    api: &DiscordApi,
    settings: &config::DiscordSettings,
) -> Vec<Result<String, DiscordError>> {
    let me = match api.get(Route::UserMe, vec![]).await {
        Ok(me) => me,
        Err(error) => return vec![Err(error.into())],
    };
    let name = me["username"].as_str().unwrap_or("the bot");
    let mut found = vec![Ok(format!("Discord knows the bot as `{name}`"))];
    found.extend(may_read_messages(api).await.map(|may| match may {
        true => Ok("it may read messages".to_owned()),
        false => Err(DiscordError::MissingIntent),
    }));
    found.extend(settings_problem(settings).into_iter().map(Err));
    match settings.channel_id {
        Some(channel) => {
            let user = message::id(&me["id"]).unwrap_or_default();
            found.extend(examine_channel(api, settings, user, channel).await);
        }
        None => found.push(Err(DiscordError::NoChannel)),
    }
    found
}

/// Whether the bot may read messages, if Discord tells.
pub(in crate::discord) async fn may_read_messages(api: &DiscordApi) -> Option<bool> {
    let application = api.get(Route::Oauth2ApplicationCurrent, vec![]).await.ok()?;
    Some(application["flags"].as_u64()? & MESSAGE_CONTENT_FLAGS != 0)
}

/// A problem of the settings that needs no request to see.
pub(in crate::discord) fn settings_problem(settings: &config::DiscordSettings) -> Option<DiscordError> {
    settings.owner_ids.is_empty().then_some(DiscordError::NoOwner)
}

/// The bot as a member of the bound channel's server, and what a person has to fix there.
pub(in crate::discord) async fn examine_server(
    api: &DiscordApi,
    settings: &config::DiscordSettings,
    user: u64,
    guild: u64,
    channel: &Value,
) -> (Option<Value>, Vec<DiscordError>) {
    let mut problems = vec![];
    if let (Some(set), Some(real)) = (settings.guild_id, message::id(&channel["guild_id"]))
        && set != real
    {
        problems.push(DiscordError::WrongServer { set, real });
    }
    let member = api.get(Route::GuildMember { guild_id: guild.into(), user_id: user.into() }, vec![]).await;
    let roles = api.get(Route::GuildRoles { guild_id: guild.into() }, vec![]).await;
    let (Ok(member), Ok(roles)) = (&member, &roles) else {
        tracing::debug!("the bot's roles are not known: only its own mention is heard");
        return (member.ok(), problems);
    };
    let lacking = permissions::lacking(guild, member, roles, channel);
    if let (false, Some(channel)) = (lacking.is_empty(), message::id(&channel["id"])) {
        problems.push(DiscordError::Lacks { channel, permissions: lacking });
    }
    (Some(member.clone()), problems)
}

async fn examine_channel(
    api: &DiscordApi,
    settings: &config::DiscordSettings,
    user: u64,
    channel: u64,
) -> Vec<Result<String, DiscordError>> {
    let read = async {
        let answer = api.get(Route::Channel { channel_id: channel.into() }, vec![]).await?;
        Ok((answer, history::page(api, channel, 0).await?))
    };
    let (answer, page) = match read.await {
        Ok(read) => read,
        Err(error) => return vec![Err(ApiError::for_channel(error, channel))],
    };
    let problems = match message::id(&answer["guild_id"]) {
        Some(guild) => examine_server(api, settings, user, guild, &answer).await.1,
        None => vec![],
    };
    let lacks = problems.iter().any(|problem| matches!(problem, DiscordError::Lacks { .. }));
    let mut found: Vec<Result<String, DiscordError>> = problems.into_iter().map(Err).collect();
    // Without the permission to read history Discord answers an empty page, and no error.
    if page.messages.is_empty() && message::id(&answer["last_message_id"]).is_some() && !lacks {
        let permissions = vec!["Read Message History"];
        found.push(Err(DiscordError::Lacks { channel, permissions }));
    } else if !lacks {
        let name = answer["name"].as_str().unwrap_or_default();
        found.push(Ok(format!("the bound channel `{name}` can be read and written")));
    }
    found
}
