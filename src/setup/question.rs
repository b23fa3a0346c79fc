//! Defines a question of `setup`: its words for a person, and its key in a file of answers.

use crate::config::NotifyKind;

/// The questions, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuestionKey {
    /// The folder of the vault.
    Vault,
    /// The zone of its times.
    Timezone,
    /// The notifiers.
    Notify,
    /// As a bot or through a webhook.
    DiscordWay,
    /// The bot's token.
    DiscordToken,
    /// The bot is invited to a server.
    DiscordInvite,
    /// The channel that is bound.
    DiscordChannel,
    /// The owner, who may command the bot.
    DiscordOwner,
    /// The address of Discord's webhook.
    DiscordWebhook,
    /// The ntfy server.
    NtfyUrl,
    /// Its topic.
    NtfyTopic,
    /// The token for it.
    NtfyToken,
    /// The mail server.
    EmailServer,
    /// How its connection is kept private.
    EmailSecurity,
    /// The login there.
    EmailUser,
    /// The password.
    EmailPassword,
    /// The sender.
    EmailFrom,
    /// The recipients.
    EmailTo,
    /// The address that signed JSON is sent to.
    WebhookUrl,
    /// The secret that signs it.
    WebhookSecret,
    /// The brain.
    Brain,
    /// The brain's server.
    BrainUrl,
    /// The brain's model.
    BrainModel,
    /// The brain's key.
    BrainKey,
    /// The store that this machine shares with others of the vault.
    Machines,
    /// Whether it runs as a service.
    Service,
}

/// Each question with its key in a file of answers, in their order.
const KEYS: [(QuestionKey, &str); 26] = [
    (QuestionKey::Vault, "vault"),
    (QuestionKey::Timezone, "timezone"),
    (QuestionKey::Notify, "notify"),
    (QuestionKey::DiscordWay, "discord.way"),
    (QuestionKey::DiscordToken, "discord.token_file"),
    (QuestionKey::DiscordInvite, "discord.invited"),
    (QuestionKey::DiscordChannel, "discord.channel_id"),
    (QuestionKey::DiscordOwner, "discord.owner_id"),
    (QuestionKey::DiscordWebhook, "discord.webhook_url_file"),
    (QuestionKey::NtfyUrl, "ntfy.url"),
    (QuestionKey::NtfyTopic, "ntfy.topic"),
    (QuestionKey::NtfyToken, "ntfy.token_file"),
    (QuestionKey::EmailServer, "email.server"),
    (QuestionKey::EmailSecurity, "email.security"),
    (QuestionKey::EmailUser, "email.user"),
    (QuestionKey::EmailPassword, "email.password_file"),
    (QuestionKey::EmailFrom, "email.from"),
    (QuestionKey::EmailTo, "email.to"),
    (QuestionKey::WebhookUrl, "webhook.url_file"),
    (QuestionKey::WebhookSecret, "webhook.secret_file"),
    (QuestionKey::Brain, "brain.kind"),
    (QuestionKey::BrainUrl, "brain.url"),
    (QuestionKey::BrainModel, "brain.model"),
    (QuestionKey::BrainKey, "brain.key_file"),
    (QuestionKey::Machines, "machines.remote"),
    (QuestionKey::Service, "service"),
];

impl QuestionKey {
    /// All of them, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        KEYS.into_iter().map(|(step, _)| step)
    }

    /// Its key in a file of answers.
    pub fn key(self) -> &'static str {
        KEYS[self as usize].1
    }

    /// Whether the answer must not be seen while it is typed. In a file of answers it names the secret's file.
    pub fn is_secret(self) -> bool {
        self.key().ends_with("_file")
    }

    /// The notifier that a question is about.
    pub(super) fn way(self) -> Option<NotifyKind> {
        match self.key().split_once('.')?.0 {
            "discord" => Some(NotifyKind::Discord),
            "ntfy" => Some(NotifyKind::Ntfy),
            "email" => Some(NotifyKind::Email),
            "webhook" => Some(NotifyKind::Webhook),
            _ => None,
        }
    }

    /// The questions about a notifier.
    pub(super) fn about(kind: NotifyKind) -> impl Iterator<Item = Self> {
        Self::all().filter(move |step| step.way() == Some(kind))
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which one.
    pub step: QuestionKey,
    /// Hints for before the answer, a line each.
    pub lines: Vec<String>,
    /// The question itself.
    pub ask: String,
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
        for (at, (step, _)) in KEYS.into_iter().enumerate() {
            assert_eq!(step as usize, at, "{step:?}");
        }
        let secret: Vec<&str> =
            QuestionKey::all().filter(|step| step.is_secret()).map(QuestionKey::key).collect();
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
