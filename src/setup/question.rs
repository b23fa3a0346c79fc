//! One question, as a person reads it and as a file answers it.

/// The questions, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The folder of the vault.
    Vault,
    /// The zone of its times.
    Timezone,
    /// Who is told.
    Notify,
    /// As a bot or through a webhook.
    DiscordWay,
    /// The bot's token.
    DiscordToken,
    /// The bot is invited to a server.
    DiscordInvite,
    /// The channel that is bound.
    DiscordChannel,
    /// Who may command the bot.
    DiscordOwner,
    /// The webhook's address.
    DiscordWebhook,
    /// Who answers.
    Brain,
    /// The brain's server.
    BrainUrl,
    /// The brain's model.
    BrainModel,
    /// The brain's key.
    BrainKey,
    /// Whether it runs as a service.
    Service,
}

impl Step {
    /// All of them, in their order.
    pub const ALL: [Self; 14] = [
        Self::Vault,
        Self::Timezone,
        Self::Notify,
        Self::DiscordWay,
        Self::DiscordToken,
        Self::DiscordInvite,
        Self::DiscordChannel,
        Self::DiscordOwner,
        Self::DiscordWebhook,
        Self::Brain,
        Self::BrainUrl,
        Self::BrainModel,
        Self::BrainKey,
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
            Self::Brain => "brain.kind",
            Self::BrainUrl => "brain.url",
            Self::BrainModel => "brain.model",
            Self::BrainKey => "brain.key_file",
            Self::Service => "service",
        }
    }

    /// Whether the answer must not be seen while it is typed.
    pub fn is_secret(self) -> bool {
        matches!(self, Self::DiscordToken | Self::DiscordWebhook | Self::BrainKey)
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which one.
    pub step: Step,
    /// What to know or to do first, a line each.
    pub lines: Vec<String>,
    /// The question itself.
    pub ask: String,
    /// What an empty answer means.
    pub default: Option<String>,
    /// What is wrong with the last answer.
    pub problem: Option<String>,
    /// Whether the last answer can be kept although it couldn't be checked.
    pub may_keep: bool,
}
