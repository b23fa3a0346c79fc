//! Checks with Discord that the bot can do its work, and lists the problems that a person has to fix. Used by `doctor`,
//! `setup` and the bot itself.

use serde_json::Value;
use serenity::http::Route;

use super::error::{ApiError, DiscordError};
use super::http::DiscordApi;
use super::message::{self, id, list};
use crate::config;

/// `Message Content`, granted or limited.
const MESSAGE_CONTENT_FLAGS: u64 = (1 << 18) | (1 << 19);

/// Checks with Discord that the bot can do its work: a sentence for each check that passed, the problem for the others.
pub async fn examine(
    api: &DiscordApi,
    settings: &config::DiscordSettings,
) -> Vec<Result<String, DiscordError>> {
    let me = match api.get(Route::UserMe).await {
        Ok(me) => me,
        Err(error) => return vec![Err(error.into())],
    };
    let name = me["username"].as_str().unwrap_or("the bot");
    let mut found = vec![Ok(format!("Discord knows the bot as `{name}`"))];
    found.extend(may_read_messages(api).await.map(|may| match may {
        true => Ok("it may read messages".to_owned()),
        false => Err(DiscordError::MissingIntent),
    }));
    found.extend(settings.owner_ids.is_empty().then_some(Err(DiscordError::NoOwner)));
    match settings.channel_id {
        Some(channel) => {
            let user = message::id(&me["id"]).unwrap_or_default();
            found.extend(examine_channel(api, settings, user, channel).await);
        }
        None if settings.owner_ids.is_empty() => found.push(Err(DiscordError::NoChannel)),
        None => found.push(Ok("it writes to its owners directly: no channel is bound".to_owned())),
    }
    found
}

/// Whether the bot may read messages, if Discord tells.
pub(in crate::discord) async fn may_read_messages(api: &DiscordApi) -> Option<bool> {
    let application = api.get(Route::Oauth2ApplicationCurrent).await.ok()?;
    Some(application["flags"].as_u64()? & MESSAGE_CONTENT_FLAGS != 0)
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
    let member = api.get(Route::GuildMember { guild_id: guild.into(), user_id: user.into() }).await;
    let roles = api.get(Route::GuildRoles { guild_id: guild.into() }).await;
    let (Ok(member), Ok(roles)) = (&member, &roles) else {
        tracing::debug!("the bot's roles are not known: only its own mention is heard");
        return (member.ok(), problems);
    };
    let lacking = lacking_permissions(guild, member, roles, channel);
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
        let answer = api.get(Route::Channel { channel_id: channel.into() }).await?;
        Ok((answer, api.history(channel, 0).await?))
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

/// The permissions that the bot needs in its channel: the bit, and the name that Discord's settings show.
const NEEDED: [(u64, &str); 3] =
    [(1 << 11, "Send Messages"), (1 << 38, "Send Messages in Threads"), (1 << 16, "Read Message History")];

const ADMINISTRATOR: u64 = 1 << 3;
const VIEW_CHANNEL: u64 = 1 << 10;

/// The permissions that a member lacks in a channel that it can see, by the names in Discord's settings. Empty if the
/// answers aren't enough to tell.
fn lacking_permissions(guild: u64, member: &Value, roles: &Value, channel: &Value) -> Vec<&'static str> {
    match allowed(guild, member, roles, channel) {
        // The channel was read, so an answer by which it can't be seen is incomplete.
        Some(allowed) if allowed & VIEW_CHANNEL != 0 => {
            NEEDED.iter().filter(|(bit, _)| allowed & bit == 0).map(|(_, name)| *name).collect()
        }
        _ => vec![],
    }
}

/// The permissions of a member in a channel, by the rule of Discord's documentation ("Permissions", overwrites).
fn allowed(guild: u64, member: &Value, roles: &Value, channel: &Value) -> Option<u64> {
    let held: Vec<u64> = list(&member["roles"]).iter().filter_map(id).collect();
    let of_role = |wanted: u64| list(roles).iter().find(|role| id(&role["id"]) == Some(wanted));
    let base = held.iter().filter_map(|role| id(&of_role(*role)?["permissions"]));
    let base = base.fold(id(&of_role(guild)?["permissions"])?, |all, more| all | more);
    if base & ADMINISTRATOR != 0 {
        return Some(u64::MAX);
    }
    let overwrites = list(&channel["permission_overwrites"]);
    let of = |wanted: u64| overwrites.iter().filter(move |overwrite| id(&overwrite["id"]) == Some(wanted));
    let change = |base: u64, overwrites: Vec<&Value>| {
        let sum = |key: &str| {
            overwrites.iter().filter_map(|overwrite| id(&overwrite[key])).fold(0, |all, more| all | more)
        };
        base & !sum("deny") | sum("allow")
    };
    let user = id(&member["user"]["id"])?;
    let everyone = change(base, of(guild).collect());
    let by_role = change(everyone, held.iter().flat_map(|role| of(*role)).collect());
    Some(change(by_role, of(user).collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn roles_and_overwrites_count_as_discord_counts_them() {
        let all = (VIEW_CHANNEL | NEEDED.iter().map(|(bit, _)| bit).sum::<u64>()).to_string();
        let send = (1u64 << 11).to_string();
        let member = json!({ "roles": ["7"], "user": { "id": "5" } });
        let roles = json!([{ "id": "1", "permissions": all }, { "id": "7", "permissions": "0" }]);
        let with = |overwrites: Value| {
            lacking_permissions(1, &member, &roles, &json!({ "permission_overwrites": overwrites }))
        };
        assert!(with(json!([])).is_empty());
        let deny = |who: &str| json!({ "id": who, "type": 0, "allow": "0", "deny": send });
        let allow = |who: &str| json!({ "id": who, "type": 0, "allow": send, "deny": "0" });
        assert_eq!(with(json!([deny("1")])), ["Send Messages"]);
        assert!(with(json!([allow("7"), deny("1")])).is_empty(), "a role's word is above everyone's");
        assert_eq!(
            with(json!([allow("7"), deny("5")])),
            ["Send Messages"],
            "a member's own is above a role's"
        );
        assert!(with(json!([deny("8")])).is_empty(), "a role that it doesn't hold");
        let admin = json!([{ "id": "1", "permissions": "8" }]);
        assert!(
            lacking_permissions(1, &member, &admin, &json!({ "permission_overwrites": [deny("1")] }))
                .is_empty()
        );
        let unknown = json!([{ "id": "1", "permissions": "0" }]);
        assert!(
            lacking_permissions(1, &member, &unknown, &json!({})).is_empty(),
            "nothing is claimed of what isn't known"
        );
        assert!(lacking_permissions(1, &member, &json!({}), &json!({})).is_empty());
    }
}
