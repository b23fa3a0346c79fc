//! A question of `setup`: its words for a person, and its key in a file of answers.

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

impl QuestionKey {
    /// All of them, in their order.
    pub const ALL: [Self; 26] = [
        Self::Vault,
        Self::Timezone,
        Self::Notify,
        Self::DiscordWay,
        Self::DiscordToken,
        Self::DiscordInvite,
        Self::DiscordChannel,
        Self::DiscordOwner,
        Self::DiscordWebhook,
        Self::NtfyUrl,
        Self::NtfyTopic,
        Self::NtfyToken,
        Self::EmailServer,
        Self::EmailSecurity,
        Self::EmailUser,
        Self::EmailPassword,
        Self::EmailFrom,
        Self::EmailTo,
        Self::WebhookUrl,
        Self::WebhookSecret,
        Self::Brain,
        Self::BrainUrl,
        Self::BrainModel,
        Self::BrainKey,
        Self::Machines,
        Self::Service,
    ];

    /// Its key in a file of answers.
    pub fn key(self) -> &'static str {
        match self {
            Self::Vault => "vault",
            Self::Timezone => "timezone",
            Self::Notify => "notify",
            Self::DiscordWay => "discord.way",
            Self::DiscordToken => "discord.token_file",
            Self::DiscordInvite => "discord.invited",
            Self::DiscordChannel => "discord.channel_id",
            Self::DiscordOwner => "discord.owner_id",
            Self::DiscordWebhook => "discord.webhook_url_file",
            Self::NtfyUrl => "ntfy.url",
            Self::NtfyTopic => "ntfy.topic",
            Self::NtfyToken => "ntfy.token_file",
            Self::EmailServer => "email.server",
            Self::EmailSecurity => "email.security",
            Self::EmailUser => "email.user",
            Self::EmailPassword => "email.password_file",
            Self::EmailFrom => "email.from",
            Self::EmailTo => "email.to",
            Self::WebhookUrl => "webhook.url_file",
            Self::WebhookSecret => "webhook.secret_file",
            Self::Brain => "brain.kind",
            Self::BrainUrl => "brain.url",
            Self::BrainModel => "brain.model",
            Self::BrainKey => "brain.key_file",
            Self::Machines => "machines.remote",
            Self::Service => "service",
        }
    }

    /// Whether the answer must not be seen while it is typed.
    pub fn is_secret(self) -> bool {
        matches!(
            self,
            Self::DiscordToken
                | Self::DiscordWebhook
                | Self::NtfyToken
                | Self::EmailPassword
                | Self::WebhookUrl
                | Self::WebhookSecret
                | Self::BrainKey
        )
    }

    /// The way to be told that a question is about.
    pub(super) fn way(self) -> Option<NotifyKind> {
        match self {
            Self::DiscordWay
            | Self::DiscordToken
            | Self::DiscordInvite
            | Self::DiscordChannel
            | Self::DiscordOwner
            | Self::DiscordWebhook => Some(NotifyKind::Discord),
            Self::NtfyUrl | Self::NtfyTopic | Self::NtfyToken => Some(NotifyKind::Ntfy),
            Self::EmailServer
            | Self::EmailSecurity
            | Self::EmailUser
            | Self::EmailPassword
            | Self::EmailFrom
            | Self::EmailTo => Some(NotifyKind::Email),
            Self::WebhookUrl | Self::WebhookSecret => Some(NotifyKind::Webhook),
            _ => None,
        }
    }

    /// The questions about a way to be told.
    pub(super) fn about(kind: NotifyKind) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |step| step.way() == Some(kind))
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
