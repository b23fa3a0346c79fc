//! Defines a question of `setup`, with its text for a person and its key in a file of answers.

use crate::config::NotifyKind;
use crate::words::words;

words! {
    /// The questions, in the order in which they are asked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum QuestionKey, key {
        /// The folder of the vault.
        Vault = "vault",
        /// The zone of its times.
        Timezone = "timezone",
        /// The notifiers.
        Notify = "notify",
        /// As a bot or through a webhook.
        DiscordWay = "discord.way",
        /// The bot's token.
        DiscordToken = "discord.token_file",
        /// The bot is invited to a server.
        DiscordInvite = "discord.invited",
        /// The channel that is bound.
        DiscordChannel = "discord.channel_id",
        /// The owner, who may command the bot.
        DiscordOwner = "discord.owner_id",
        /// The address of Discord's webhook.
        DiscordWebhook = "discord.webhook_url_file",
        /// The ntfy server.
        NtfyUrl = "ntfy.url",
        /// Its topic.
        NtfyTopic = "ntfy.topic",
        /// The token for it.
        NtfyToken = "ntfy.token_file",
        /// The mail server.
        EmailServer = "email.server",
        /// How its connection is kept private.
        EmailSecurity = "email.security",
        /// The login there.
        EmailUser = "email.user",
        /// The password.
        EmailPassword = "email.password_file",
        /// The sender.
        EmailFrom = "email.from",
        /// The recipients.
        EmailTo = "email.to",
        /// The address that signed JSON is sent to.
        WebhookUrl = "webhook.url_file",
        /// The secret that signs it.
        WebhookSecret = "webhook.secret_file",
        /// The brain.
        Brain = "brain.kind",
        /// The brain's server.
        BrainUrl = "brain.url",
        /// The brain's model.
        BrainModel = "brain.model",
        /// The brain's key.
        BrainKey = "brain.key_file",
        /// The store that this machine shares with others of the vault.
        Machines = "machines.remote",
        /// Whether it runs as a service.
        Service = "service",
    }
}

impl QuestionKey {
    /// Whether the answer must not be seen while it is typed. In a file of answers it names the secret's file.
    pub fn is_secret(self) -> bool {
        self.key().ends_with("_file")
    }

    /// The notifier that a question is about.
    pub(super) fn notifier(self) -> Option<NotifyKind> {
        NotifyKind::named(self.key().split_once('.')?.0)
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupQuestion {
    /// Which one.
    pub step: QuestionKey,
    /// Hints for before the answer, a line each.
    pub lines: Vec<String>,
    /// The question itself.
    pub ask: &'static str,
    /// The meaning of an empty answer.
    pub default: Option<String>,
    /// The fault of the last answer.
    pub problem: Option<String>,
    /// Whether the last answer can be kept although it couldn't be checked.
    pub may_keep: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_its_own_key_and_place() {
        for (at, step) in QuestionKey::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, at, "{step:?}");
            assert_eq!(QuestionKey::named(step.key()), Some(step));
        }
        let secret: Vec<&str> =
            QuestionKey::ALL.into_iter().filter(|step| step.is_secret()).map(QuestionKey::key).collect();
        assert_eq!(
            secret,
            [
                "discord.token_file",
                "discord.webhook_url_file",
                "ntfy.token_file",
                "email.password_file",
                "webhook.url_file",
                "webhook.secret_file",
                "brain.key_file"
            ]
        );
    }
}
