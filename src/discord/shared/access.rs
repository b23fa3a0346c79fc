//! Decides whether a message is dropped, logged, or logged and perhaps answered. Pure.
//!
//! The decision depends on the author, on DM or not, and on the setting for other people's messages. Other people's
//! messages are at most logged; strangers' DMs are dropped. Also decides whether a message addresses the bot: mentions
//! the bot, or replies to the bot's message. [`allowed_mentions`] lets the bot's own messages mention owners only.
//!
//! `BotState::lane_kind` decides which channels belong to the bot.

use std::collections::BTreeSet;

use crate::discord::api::message::IncomingMessage;

/// `allowed_mentions` with only those owners that the text names.
///
/// Every message, edit and answer carries this: without it Discord lets `@everyone` and roles through.
pub fn allowed_mentions(owners: &[u64], text: &str) -> serde_json::Value {
    // Discord refuses ids in `users` that are doubled; those that the text doesn't name do nothing.
    let named: BTreeSet<&u64> = owners.iter().filter(|id| text.contains(&format!("<@{id}>"))).collect();
    let named: Vec<String> = named.into_iter().map(u64::to_string).collect();
    serde_json::json!({ "parse": [], "users": named, "roles": [], "replied_user": false })
}

/// The policy for a message, by its author and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePolicy {
    /// An owner's: logged, and answered if it addresses the bot.
    Owner,
    /// The bot's own: logged.
    Own,
    /// Another person's message: logged, never answered.
    Other,
    /// Dropped: a stranger's DM, or another person's where others aren't logged.
    Dropped,
}

/// The policy for a message.
pub fn policy(
    message: &IncomingMessage,
    bot: u64,
    owners: &[u64],
    is_dm: bool,
    log_others: bool,
) -> MessagePolicy {
    match message.author.id {
        author if author == bot => MessagePolicy::Own,
        author if owners.contains(&author) && !message.author.bot => MessagePolicy::Owner,
        _ if is_dm || !log_others => MessagePolicy::Dropped,
        _ => MessagePolicy::Other,
    }
}

/// The bot's user and roles on a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BotIdentity {
    /// The bot's user id.
    pub user: u64,
    /// The roles that it holds; not `@everyone`.
    pub roles: Vec<u64>,
}

/// Whether the message addresses the bot, by a mention or as an answer to one of its own.
pub fn addresses(message: &IncomingMessage, bot: &BotIdentity) -> bool {
    message.mentions.contains(&bot.user)
        || message.role_mentions.iter().any(|role| bot.roles.contains(role))
        || message.reply_author == Some(bot.user)
        || addresses_in_text(&message.content, bot)
}

/// Whether the text alone names the bot, as far as a log can tell.
pub fn addresses_in_text(content: &str, bot: &BotIdentity) -> bool {
    tokens(bot).any(|token| content.contains(&token))
}

/// The text without the tokens that name the bot.
pub fn strip(content: &str, bot: &BotIdentity) -> String {
    let stripped = tokens(bot).fold(content.to_owned(), |text, token| text.replace(&token, " "));
    let lines: Vec<String> = stripped
        .lines()
        .map(|line| line.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "))
        .collect();
    lines.join("\n").trim().to_owned()
}

fn tokens(bot: &BotIdentity) -> impl Iterator<Item = String> {
    let user = [format!("<@{}>", bot.user), format!("<@!{}>", bot.user)];
    user.into_iter().chain(bot.roles.iter().map(|role| format!("<@&{role}>")).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nobody_but_owners_can_be_pinged() {
        let allowed = allowed_mentions(&[42, 42], "<@42> <@66> @everyone");
        assert_eq!(allowed["users"], serde_json::json!(["42"]));
        assert_eq!(allowed["parse"], serde_json::json!([]));
        assert_eq!(allowed_mentions(&[42, 42], "hi")["users"], serde_json::json!([]));
    }

    fn message(extra: &serde_json::Value) -> IncomingMessage {
        let mut value = json!({ "id": "1", "channel_id": "2", "author": { "id": "3" }, "content": "" });
        for (key, field) in extra.as_object().unwrap() {
            value[key] = field.clone();
        }
        IncomingMessage::from_json(&value).unwrap()
    }

    #[test]
    fn user_text_role_and_reply_count_and_nothing_else() {
        let bot = BotIdentity { user: 500, roles: vec![600] };
        for yes in [
            json!({ "mentions": [{ "id": "500" }] }),
            json!({ "content": "hi <@500>" }),
            json!({ "content": "hi <@!500>" }),
            json!({ "mention_roles": ["600"] }),
            json!({ "content": "<@&600> hi" }),
            json!({ "message_reference": { "message_id": "9" }, "referenced_message": { "author": { "id": "500" } } }),
        ] {
            assert!(addresses(&message(&yes), &bot), "{yes}");
        }
        for no in [
            json!({ "content": "<@5000> <@&601> @Vault @everyone" }),
            json!({ "mention_roles": ["601"] }),
            json!({ "mentions": [{ "id": "42" }] }),
        ] {
            assert!(!addresses(&message(&no), &bot), "{no}");
        }
    }

    #[test]
    fn both_tokens_are_stripped() {
        let bot = BotIdentity { user: 500, roles: vec![600] };
        assert_eq!(
            strip("<@&600>  what about <@500> the dentist?\n  soon", &bot),
            "what about the dentist?\nsoon"
        );
    }
}
