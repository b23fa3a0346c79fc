//! Settings, secrets and directories: everything that is decided before a vault is touched.
//!
//! [`Settings`] is `vault-agent.toml` of the vault, validated. All keys are optional, an unknown key is
//! an error with the nearest known name, and every error names line and column of the file. Secrets are
//! never settings: they come from the environment or from a file outside the vault that only its owner
//! can read ([`secret`]). [`Dirs`] names the two directories outside the vault, one for state, one for
//! the cache.

pub mod allow;
mod assistant;
mod capture;
mod capturing;
mod checks;
mod dirs;
mod edit;
mod error;
mod follow;
mod hooks;
mod ids;
mod mcp;
pub mod mcp_hosts;
mod notify;
mod paths;
mod put;
mod reminders;
mod rerank;
mod secret;
mod settings;
mod summary;

pub use assistant::{
    Assistant, AttachmentKind, BashMode, Brain, BrainKind, Category, MEMORY, Price, Route, SkillSettings,
    ToolGroup,
};
pub use capture::Capture;
pub(crate) use checks::is_web;
pub use dirs::{CACHE_VARIABLE, Dirs, STATE_VARIABLE, find_vault, is_vault};
pub use edit::with_allowed;
pub use error::ConfigError;
pub use hooks::Hooks;
pub use mcp::McpServer;
pub use notify::{Email, MailSecurity, Notify, NotifyKind, Ntfy, Quiet, Webhook, is_this_machine, is_topic};
pub use paths::Paths;
pub use put::{with_brain, with_values};
pub use reminders::{Reminders, TaskForm};
pub use rerank::Rerank;
#[cfg(any(feature = "push", feature = "email"))]
pub(crate) use secret::expand;
pub use secret::{
    DISCORD_TOKEN_VARIABLE, EMAIL_PASSWORD_VARIABLE, NTFY_TOKEN_VARIABLE, SIGNED_SECRET_VARIABLE,
    SIGNED_URL_VARIABLE, WEBHOOK_VARIABLE, make_private, secret,
};
pub use settings::{
    Discord, Edit, EditStrategyName, Embed, History, Index, KeepAttachments, Memory, Recall, Schedule,
    Settings,
};
pub use summary::Summary;

/// The name of the settings file, in the vault's root.
pub const FILE_NAME: &str = "vault-agent.toml";
