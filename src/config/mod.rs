//! Reads and checks settings, secrets and directories before a vault is opened.
//!
//! [`Settings`] is `vault-agent.toml` of the vault, validated. No table is required. An unknown key is an error with
//! its line and column, and with a similar known name if there is one. Secrets are never settings: they come from the
//! environment, or from a file outside the vault that only its owner can read ([`secret`]). [`Dirs`] names the two
//! directories outside the vault, one for state, one for the cache.
//!
//! - [`settings`]: the file as values; [`tables`]: its tables, declared with their defaults; [`note_paths`],
//!   [`path_patterns`]: the paths and patterns in them;
//! - [`add_allowed`], [`set_values`]: the changes that the program makes to the file. Pure;
//! - [`dirs`], [`json_file`], [`secret`]: directories, small state files in them, secrets; [`error`], [`stray_keys`]:
//!   errors with their place;
//! - [`mcp_hosts`]: `[[mcp]]` as configuration for programs that start servers themselves; [`git_address`]: the
//!   addresses of git servers that machines may share.

mod add_allowed;
mod dirs;
mod error;
pub mod git_address;
pub mod json_file;
pub mod mcp_hosts;
mod note_paths;
mod path_patterns;
mod secret;
mod set_values;
mod settings;
mod stray_keys;
mod tables;

pub use self::add_allowed::with_allowed;
pub(crate) use self::dirs::create_private;
pub use self::dirs::{CACHE_VARIABLE, Dirs, STATE_VARIABLE, find_vault, is_executable, is_vault, resolved};
pub use self::error::ConfigError;
pub(crate) use self::note_paths::path_problem;
pub use self::path_patterns::{PathPatterns, matched_by_character, with_literal_brackets};
pub(crate) use self::secret::expand;
pub use self::secret::{
    ANTHROPIC_KEY_VARIABLE, CLAUDE_CODE_TOKEN_VARIABLE, DISCORD_TOKEN_VARIABLE, EMAIL_PASSWORD_VARIABLE,
    ETCD_PASSWORD_VARIABLE, GOOGLE_KEY_VARIABLE, NTFY_TOKEN_VARIABLE, OLLAMA_KEY_VARIABLE,
    OPENAI_KEY_VARIABLE, RERANK_KEY_VARIABLE, SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE, WEBHOOK_VARIABLE,
    make_private, secret,
};
pub(crate) use self::set_values::split_bom;
pub use self::set_values::{with_brain, with_values, without};
pub use self::settings::{FOLLOWED, PAUSE_REMINDERS, PAUSED_UNTIL, PausedUntil, Settings};
pub use self::stray_keys::{StrayKey, strays};
pub(crate) use self::tables::is_web;
pub use self::tables::{
    AssistantSettings, AttachmentKind, BashMode, BrainKind, BrainSettings, DiscordSettings, EditStrategy,
    EmailSettings, EmbedSettings, InboxSettings, KeepAttachments, MEMORY, MachineSettings, MachinesEngine,
    MailSecurity, McpServer, NotifyKind, NotifySettings, NtfySettings, OLLAMA_URL, OnPartition, PathSettings,
    Price, RerankSettings, Route, SkillSettings, TaskCategory, ToolGroup, WebhookSettings, address_problem,
    allow, is_this_machine, is_topic, machine_name,
};

/// The name of the settings file, in the vault's root.
pub const FILE_NAME: &str = "vault-agent.toml";
