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

pub use assistant::{Assistant, AttachmentKind, BashMode, Category, MEMORY, Route, SkillSettings, ToolGroup};
pub use brains::{Brain, BrainKind, Price};
pub use capture::Capture;
pub(crate) use checks::is_web;
pub(super) use checks::{Checked, within, wrong};
pub use doors::{Discord, Hooks, KeepAttachments, Web};
pub use inbox::Inbox;
pub use machines::{Machines, MachinesEngine, OnPartition, machine_name};
pub use mcp::McpServer;
pub use notify::{Email, MailSecurity, Notify, NotifyKind, Ntfy, Quiet, Webhook, is_this_machine, is_topic};
pub use paths::Paths;
pub use reminders::Reminders;
pub use rerank::Rerank;
pub use summary::Summary;
