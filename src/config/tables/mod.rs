//! Reads the tables of `vault-agent.toml`: one file a table, with its keys, their defaults and their checks.
//!
//! Values as serde reads them come in; checked values go out, or an error that names the key and what to write. No file
//! is read here.
//! - [`paths`], [`reminders`], [`notify`]: paths of notes, task forms, notifiers;
//! - [`assistant`], [`brains`], [`allow`]: brains, and calls that need no approval; [`mcp`]: other MCP servers;
//! - [`doors`]: the bot, hooks, the page; [`capture`], [`inbox`], [`summary`], [`rerank`], [`follow`]: further
//!   features;
//! - [`machines`]: several machines with one vault; [`checks`], [`ids`]: checks that several tables share.

pub mod allow;
pub(super) mod assistant;
mod brains;
mod capture;
mod checks;
mod doors;
pub(super) mod follow;
pub(super) mod ids;
mod inbox;
mod machines;
pub(super) mod mcp;
pub(super) mod notify;
mod paths;
mod reminders;
mod rerank;
mod summary;

pub use assistant::{
    AssistantSettings, AttachmentKind, BashMode, MEMORY, Route, SkillSettings, TaskCategory, ToolGroup,
};
pub use brains::{BrainKind, BrainSettings, Price};
pub use capture::CaptureSettings;
pub(crate) use checks::is_web;
pub(super) use checks::{Validation, in_range, wrong};
pub use doors::{DiscordSettings, HookSettings, KeepAttachments, WebSettings};
pub use inbox::InboxSettings;
pub use machines::{MachineSettings, MachinesEngine, OnPartition, machine_name};
pub use mcp::McpServer;
pub use notify::{
    EmailSettings, MailSecurity, NotifyKind, NotifySettings, NtfySettings, QuietHours, WebhookSettings,
    is_this_machine, is_topic,
};
pub use paths::PathSettings;
pub use reminders::ReminderSettings;
pub use rerank::RerankSettings;
pub use summary::SummarySettings;
