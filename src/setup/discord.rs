//! Asks the questions of `setup` that are about Discord, and interprets the answers.

use super::MachineFacts;
use crate::config::{DISCORD_TOKEN_VARIABLE, WEBHOOK_VARIABLE};

/// The page where an application is made.
const PORTAL: &str = "https://discord.com/developers/applications";
/// View Channel, Send Messages, Create Public Threads, Send Messages in Threads, Read Message History, Add Reactions.
const PERMISSIONS: u64 = (1 << 10) | (1 << 11) | (1 << 35) | (1 << 38) | (1 << 16) | (1 << 6);
/// At most so many channels are listed.
const LISTED: usize = 20;

/// A bot, as Discord knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscordBot {
    /// Its name.
    pub name: String,
    /// Its application, where Discord said which.
    pub application: Option<u64>,
    /// Its creator: name and id.
    pub owner: Option<(String, u64)>,
    /// Whether it may read messages; none where Discord doesn't say.
    pub may_read: Option<bool>,
}

/// A channel that the bot sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscordChannel {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its server's id.
    pub server: u64,
    /// Its server's name.
    pub server_name: String,
}

pub(super) fn token_lines(machine: &MachineFacts) -> Vec<String> {
    let mut lines = vec![
        format!("1. Open {PORTAL} and click `New Application`."),
        "2. Under `Bot`, switch on `Message Content Intent`, and save.".to_owned(),
        "3. Under `Bot`, click `Reset Token` and copy what it shows.".to_owned(),
    ];
    let file = || "The path of a file that holds it is fine, too (mode 600, outside the vault).".to_owned();
    lines.push(machine.environment_line(DISCORD_TOKEN_VARIABLE).unwrap_or_else(file));
    lines
}

pub(super) fn webhook_lines(machine: &MachineFacts) -> Vec<String> {
    let mut lines = vec![
        "In Discord open the channel's settings, then `Integrations`, `Webhooks`, `New Webhook`,".to_owned(),
        "and `Copy Webhook URL`. Everyone who has it can post in that channel.".to_owned(),
    ];
    lines.extend(machine.environment_line(WEBHOOK_VARIABLE));
    lines
}

/// The lines that explain how to invite the bot to a server.
pub(super) fn invite_lines(bot: Option<&DiscordBot>) -> Vec<String> {
    let mut lines = Vec::new();
    if bot.is_some_and(|bot| bot.may_read == Some(false)) {
        lines.push(format!(
            "The bot may not read messages yet: at {PORTAL} choose it, then `Bot`, and switch on `Message Content Intent`."
        ));
    }
    let id = bot.and_then(|bot| bot.application).map_or("APPLICATION_ID".to_owned(), |id| id.to_string());
    lines.push("Open this, choose your server, and click `Authorize`:".to_owned());
    lines.push(format!(
        "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions={PERMISSIONS}"
    ));
    lines
}

pub(super) fn channel_lines(channels: &[DiscordChannel]) -> Vec<String> {
    let mut lines: Vec<String> = channels
        .iter()
        .take(LISTED)
        .enumerate()
        .map(|(at, channel)| format!("{:>3}. #{} in {}", at + 1, channel.name, channel.server_name))
        .collect();
    if channels.is_empty() || channels.len() > LISTED {
        lines.push(
            "A channel's id: in Discord switch on `Settings`, `Advanced`, `Developer Mode`, right-click the channel, `Copy Channel ID`."
                .to_owned(),
        );
    }
    lines
}

/// The id that a person means: one of the list by its number, or the id itself.
pub(super) fn channel(text: &str, channels: &[DiscordChannel]) -> Result<u64, String> {
    let number: u64 = text.trim().parse().map_err(|_| {
        format!("`{text}` is no channel: type a number of the list, or the id that Discord copies")
    })?;
    let listed = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    match listed.and_then(|at| channels.get(at).filter(|_| at < LISTED)) {
        Some(channel) => Ok(channel.id),
        None => {
            snowflake(number).ok_or_else(|| format!("{number} is neither in the list nor an id of Discord's"))
        }
    }
}

/// A number that can be an id of Discord's, and no place in a list.
pub(super) fn snowflake(number: u64) -> Option<u64> {
    (number >= 1000).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_its_number_in_the_list_or_its_id() {
        let one =
            |id, name: &str| DiscordChannel { id, name: name.into(), server: 1, server_name: "Home".into() };
        let channels = [one(700_000_000, "general"), one(800_000_000, "reminders")];
        assert_eq!(channel("2", &channels), Ok(800_000_000));
        assert_eq!(channel(" 100000000000000003 ", &channels), Ok(100_000_000_000_000_003));
        for wrong in ["0", "3", "general", "-1", "99999999999999999999"] {
            assert!(channel(wrong, &channels).is_err(), "{wrong}");
        }
        assert_eq!(channel_lines(&channels)[1], "  2. #reminders in Home");
    }
}
