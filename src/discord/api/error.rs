//! Defines the errors of Discord, in sentences for people. If a setting of Discord has to be changed, the sentence
//! names the buttons to click.
//!
//! No message here holds a token or a webhook's address, and no error of a request holds the request's URL.

use std::time::Duration;

use crate::config::ConfigError;
use crate::turn::Halt;

/// The page on which a person gets the bot's token and switches its intents.
const PORTAL: &str = "https://discord.com/developers/applications";

/// A problem that a person has to fix; the daemon goes on with the console.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscordError {
    /// A secret can't be read.
    #[error(transparent)]
    Secret(#[from] ConfigError),
    /// Close code 4004, or 401.
    #[error(
        "Discord refuses the bot's token: open {PORTAL}, choose the application, then `Bot`, `Reset Token`, and put \
         the new one into `DISCORD_TOKEN` or the file that `[discord] token_file` names"
    )]
    WrongToken,
    /// Close code 4014, or the application's flags.
    #[error(
        "the bot may not read messages: open {PORTAL}, choose the application, then `Bot`, and switch on \
         `Message Content Intent` under `Privileged Gateway Intents`"
    )]
    MissingIntent,
    /// No token and no webhook.
    #[error(
        "no Discord token: set `DISCORD_TOKEN` or `[discord] token_file`, or for notifications alone \
         `VAULT_AGENT_DISCORD_WEBHOOK` or `[discord] webhook_url_file`"
    )]
    NoCredentials,
    /// The text of a webhook's address that isn't one.
    #[error(
        "the webhook's address is not valid: in Discord open the channel's settings, then `Integrations`, `Webhooks`, \
         and `Copy Webhook URL` (it begins with `https://discord.com/api/webhooks/`)"
    )]
    BadWebhook,
    /// Close codes 4010 to 4013: what the client says of itself is wrong.
    #[error("Discord ended the connection for good (close code {0}): update vault-agent")]
    Rejected(u16),
    /// `[discord] channel_id` is missing where it is needed.
    #[error(
        "no channel is bound: set `[discord] channel_id` (in Discord switch on `Settings`, `Advanced`, \
         `Developer Mode`, right-click the channel, `Copy Channel ID`)"
    )]
    NoChannel,
    /// 404 for the bound channel.
    #[error(
        "Discord knows no channel {0} for this bot: check `[discord] channel_id` (in Discord switch on `Settings`, \
         `Advanced`, `Developer Mode`, right-click the channel, `Copy Channel ID`), and that the bot was invited to \
         that server"
    )]
    UnknownChannel(u64),
    /// 403 for the bound channel.
    #[error(
        "the bot may not use channel {0}: in Discord open the channel's settings, then `Permissions`, add the bot's \
         role, and allow `View Channel`, `Send Messages`, `Send Messages in Threads` and `Read Message History`"
    )]
    MissingPermission(u64),
    /// The bot's role lacks permissions in the bound channel.
    #[error(
        "the bot lacks {} in channel {channel}: in Discord open the channel's settings, then `Permissions`, add the \
         bot's role, and allow it",
        names(permissions)
    )]
    Lacks {
        /// The channel.
        channel: u64,
        /// The permissions' names, as Discord's settings show them.
        permissions: Vec<&'static str>,
    },
    /// `[discord] owner_ids` is missing.
    #[error(
        "the bot has no owner, and answers only its owners: set `[discord] owner_ids` to your own id (in Discord switch on \
         `Settings`, `Advanced`, `Developer Mode`, click your name, `Copy User ID`)"
    )]
    NoOwner,
    /// `[discord] guild_id` is not the bound channel's server.
    #[error(
        "`[discord] guild_id` is {set}, but the bound channel belongs to another server: set it to {real}, or leave \
         it out"
    )]
    WrongServer {
        /// The server in the settings.
        set: u64,
        /// The channel's own server.
        real: u64,
    },
    /// `[discord] api_base` is no loopback address.
    #[error(
        "`[discord] api_base` is `{0}`, which isn't on this machine: it is for a test server at 127.0.0.1; leave it \
         out to use Discord"
    )]
    NotLoopback(String),
    /// `GET /gateway` named a host that it shouldn't.
    #[error("refusing the gateway `{0}`: it is {1}")]
    BadGateway(String, &'static str),
    /// The library could not be set up.
    #[error("can't set up the connection to Discord: {0}")]
    SetUp(String),
    /// It can't be reached now; it is tried again.
    #[error("Discord can't be reached: {0}")]
    Unreachable(String),
}

/// Names between backticks.
fn names(of: &[&str]) -> String {
    of.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

impl DiscordError {
    /// Whether a retry can help without a person.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

/// Why one REST request failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ApiError {
    /// It was never sent: no connection.
    #[error("no connection to Discord: {0}")]
    NotSent(String),
    /// It may have been done: the answer is missing, late, a 5xx, or can't be read.
    #[error("Discord's answer is unknown: {0}")]
    Unknown(String),
    /// 429: not done.
    #[error("Discord asks to wait")]
    RateLimited {
        /// How long, if it was said.
        after: Option<Duration>,
    },
    /// 4xx: refused, with Discord's own code and words.
    #[error("Discord refuses ({status}, code {code}): {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Discord's error code, 0 if it gave none.
        code: i64,
        /// Discord's words.
        message: String,
    },
}

impl ApiError {
    /// Our own refusal, in these words, of a request that was never sent.
    pub fn refused_here(message: &str) -> Self {
        Self::Refused { status: 400, code: 0, message: message.to_owned() }
    }

    /// Discord's error code, if it refused with one.
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The problem for a person to fix, for a request about `channel`.
    pub fn for_channel(self, channel: u64) -> DiscordError {
        match self {
            Self::Refused { status: 403, .. } => DiscordError::MissingPermission(channel),
            Self::Refused { status: 404, .. } => DiscordError::UnknownChannel(channel),
            other => other.into(),
        }
    }
}

impl From<ApiError> for DiscordError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused { status: 401, .. } => Self::WrongToken,
            other => Self::Unreachable(other.to_string()),
        }
    }
}

impl From<ApiError> for Halt {
    fn from(error: ApiError) -> Self {
        Self::Later(error.to_string())
    }
}

/// The answer, or none where Discord refuses: the thing was deleted, or isn't the bot's any more.
pub fn granted<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(ApiError::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
