//! Asks the questions of `setup` about Discord, and interprets the answers.

use super::dialogue::{Dialogue, EndOfQuestions};
use super::{DiscordBot, DiscordChannel, MachineFacts, QuestionKey, SetupIo};
use crate::config::{DISCORD_TOKEN_VARIABLE, WEBHOOK_VARIABLE};

/// The page where an application is made.
const PORTAL: &str = "https://discord.com/developers/applications";
/// View Channel, Send Messages, Send Messages in Threads, Read Message History, as in `docs/discord.md`.
const PERMISSIONS: u64 = (1 << 10) | (1 << 11) | (1 << 38) | (1 << 16);
/// At most so many channels are listed.
const LISTED: usize = 20;
/// The largest id, which a settings file can hold.
const MAX_ID: u64 = i64::MAX as u64;

impl<I: SetupIo> Dialogue<'_, I> {
    /// Asks the questions about Discord; again only the one that a test message which failed depends on.
    pub(super) fn ask_discord(&mut self, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        if failed.is_none() {
            let lines = vec![
                "A bot has buttons, commands and answers; a webhook only posts, and takes a minute less."
                    .to_owned(),
            ];
            let text = (lines, "As a bot, or through a webhook?", Some("bot".to_owned()));
            self.by_webhook = self.ask(QuestionKey::DiscordWay, text, None, |_, typed| match typed {
                "bot" => Ok(false),
                "webhook" => Ok(true),
                _ => Err("type `bot` or `webhook`".to_owned()),
            })?;
        }
        let set = self.folder.settings.discord.clone();
        if self.by_webhook {
            let text = (
                webhook_lines(self.machine),
                "The webhook's URL (hidden while typing)?",
                set.webhook_url_file,
            );
            return self.ask(QuestionKey::DiscordWebhook, text, failed, |this, typed| {
                this.take_secret(QuestionKey::DiscordWebhook, WEBHOOK_VARIABLE, typed)
            });
        }
        if failed.is_some() {
            return self.ask_channel(failed);
        }
        let base = set.api_base.as_deref();
        let ask = "The bot's token (it isn't shown while you paste it)?";
        let text = (token_lines(self.machine), ask, set.token_file);
        let (bot, token) = self.ask(QuestionKey::DiscordToken, text, None, |this, typed| {
            let held = this.read_secret(QuestionKey::DiscordToken, DISCORD_TOKEN_VARIABLE, typed)?;
            let (bot, token) = (this.io.bot(&held.value, base)?, held.value.clone());
            this.secrets.insert(QuestionKey::DiscordToken, held);
            Ok((bot, token))
        })?;
        let (mut seen, mut problem) = (self.io.channels(&token, base), None);
        while matches!(&seen, Ok(channels) if channels.is_empty()) {
            let text = (invite_lines(&bot), "Press Enter once the bot is in your server.", None);
            match self.ask(QuestionKey::DiscordInvite, text, problem, |_, _| Ok(())) {
                // The answers after it are still asked.
                Err(EndOfQuestions::Anyway) => break,
                asked => asked?,
            }
            seen = self.io.channels(&token, base);
            problem = Some("the bot is in no server yet, or sees no channel there".to_owned());
        }
        // Without a list the channel's id can be typed.
        self.channels = seen.unwrap_or_default();
        self.ask_channel(None)?;
        self.ask_owner(&bot)
    }

    fn ask_channel(&mut self, failed: Option<String>) -> Result<(), EndOfQuestions<I::End>> {
        let set = self.folder.settings.discord.channel_id.map(|id| id.to_string());
        let one = set.or_else(|| (self.channels.len() == 1).then(|| "1".to_owned()));
        let text = (channel_lines(&self.channels), "Which channel gets the messages?", one);
        let id = self
            .ask(QuestionKey::DiscordChannel, text, failed, |this, typed| channel(typed, &this.channels))?;
        self.settings.discord.channel_id = Some(id);
        Ok(())
    }

    fn ask_owner(&mut self, bot: &DiscordBot) -> Result<(), EndOfQuestions<I::End>> {
        let set = self.folder.settings.discord.owner_ids.clone();
        let mut lines =
            vec!["The bot takes commands from these people only, and answers only them.".to_owned()];
        match &bot.owner {
            Some((name, id)) => lines.push(format!("The bot was made by {name} ({id}).")),
            None => lines.push(
                "Your id: in Discord switch on `Settings`, `Advanced`, `Developer Mode`, click your name, `Copy User ID`."
                    .to_owned(),
            ),
        }
        let known = bot.owner.as_ref().map(|(_, id)| *id);
        let default = set.first().copied().or(known).map(|id| id.to_string());
        let id = |text: &str| match text.parse() {
            Ok(id) if (1..=MAX_ID).contains(&id) => Ok(id),
            _ => Err(format!("`{text}` is no id of a person at Discord")),
        };
        let text = (lines, "Your id at Discord?", default);
        let new = self.ask(QuestionKey::DiscordOwner, text, None, |_, typed| {
            typed.split(',').map(|one| id(one.trim())).collect::<Result<Vec<u64>, _>>()
        })?;
        let new = new.into_iter().filter(|owner| !set.contains(owner));
        self.settings.discord.owner_ids = set.iter().copied().chain(new).collect();
        Ok(())
    }
}

fn token_lines(machine: &MachineFacts) -> Vec<String> {
    let mut lines = vec![
        format!("1. Open {PORTAL} and click `New Application`."),
        "2. Under `Bot`, switch on `Message Content Intent`, and save.".to_owned(),
        "3. Under `Bot`, click `Reset Token` and copy what it shows.".to_owned(),
    ];
    let file = || "The path of a file that holds it is fine, too (mode 600, outside the vault).".to_owned();
    lines.push(machine.environment_line(DISCORD_TOKEN_VARIABLE).unwrap_or_else(file));
    lines
}

fn webhook_lines(machine: &MachineFacts) -> Vec<String> {
    let mut lines = vec![
        "In Discord open the channel's settings, then `Integrations`, `Webhooks`, `New Webhook`,".to_owned(),
        "and `Copy Webhook URL`. Everyone who has it can post in that channel.".to_owned(),
    ];
    lines.extend(machine.environment_line(WEBHOOK_VARIABLE));
    lines
}

/// The lines that explain how to invite the bot to a server.
fn invite_lines(bot: &DiscordBot) -> Vec<String> {
    let mut lines = Vec::new();
    if bot.may_read == Some(false) {
        lines.push(format!(
            "The bot may not read messages yet: at {PORTAL} choose it, then `Bot`, and switch on `Message Content Intent`."
        ));
    }
    let id = bot.application.map_or("APPLICATION_ID".to_owned(), |id| id.to_string());
    lines.push("Open this, choose your server, and click `Authorize`:".to_owned());
    lines.push(format!(
        "https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions={PERMISSIONS}"
    ));
    lines
}

fn channel_lines(channels: &[DiscordChannel]) -> Vec<String> {
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
fn channel(text: &str, channels: &[DiscordChannel]) -> Result<u64, String> {
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
fn snowflake(number: u64) -> Option<u64> {
    (1000..=MAX_ID).contains(&number).then_some(number)
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
