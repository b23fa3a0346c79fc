//! Reads `[discord]`: the bot's channel, owners and logging.

use serde::Deserialize;

use crate::config::tables::ids;
use crate::defaults::defaults;

defaults! {
    /// The Discord bot or webhook.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct DiscordSettings {
        /// A file with the webhook's URL, instead of `VAULT_AGENT_DISCORD_WEBHOOK`.
        pub webhook_url_file: Option<String>,
        /// A file with the bot's token, instead of `DISCORD_TOKEN`.
        pub token_file: Option<String>,
        /// The bot's application.
        #[serde(deserialize_with = "ids::one")]
        pub application_id: Option<u64>,
        /// The server whose commands are registered at once.
        #[serde(deserialize_with = "ids::one")]
        pub guild_id: Option<u64>,
        /// The channel that is bound: notifications go there and its messages are logged.
        #[serde(deserialize_with = "ids::one")]
        pub channel_id: Option<u64>,
        /// The people who may command and are answered.
        #[serde(deserialize_with = "ids::several")]
        pub owner_ids: Vec<u64>,
        /// The REST base, for a test server on this machine.
        pub api_base: Option<String>,
        /// Whether messages of people who are no owners are logged too.
        pub log_others: bool = true,
        /// A bound thread that was silent for so many days is let go.
        pub thread_idle_days: u32 = 7,
        /// Messages in a bound thread that don't name the bot are answered for so many minutes; after an absence
        /// longer ago it is only logged. A person who speaks to the bot is always answered.
        pub act_within_minutes: u32 = 15,
        /// The handling of files on messages.
        pub keep_attachments: KeepAttachments = KeepAttachments::Links,
        /// Larger files stay links.
        pub max_attachment_bytes: u64 = 10 << 20,
    }
}

/// The handling of files on messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepAttachments {
    /// The log has Discord's link, which expires.
    #[default]
    Links,
    /// The file is kept beside the log.
    Files,
}
