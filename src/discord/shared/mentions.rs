//! Decides whether a message addresses the bot. Pure.
//!
//! It checks the user in the list of mentions, the literal `<@id>` where that list is empty, and a role that the bot
//! holds, because `@Name` in Discord's input often becomes the bot's role instead of the bot.

use crate::discord::api::message::IncomingMessage;

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
    use super::*;
    use serde_json::json;

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
