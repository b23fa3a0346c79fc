//! Serves MCP: offers the vault to assistants as their memory, through a typed contract.
//!
//! A client's requests come in; answers go out, with the lines that the notes have after a change. [`serve_stdio`] and
//! [`serve_http`] are the entry points. In the order of a call:
//! - [`protocol`]: sessions, transports, subscriptions. It translates, and calls the rooms;
//! - [`catalog`]: every tool as data, from which schemas, checks and `--tools` come. [`arguments`] are checked against it,
//!   and [`ToolSet`] lists the tools that a server exposes;
//! - [`tools`]: what the tools do, by calling the rooms; [`outputs`]: their answers, as structures;
//! - [`SharedState`]: the state that all sessions of one process share, each part opened at its first use;
//! - [`offers`]: resources, prompts and completion;
//! - [`failure`], [`untrusted`]: an error for a model, and the mark on all text from memory;
//! - [`hosts`]: the configuration of each host, for `mcp-config`; `toolbox`: the catalog for our own assistant.
//!
//! Never here: what a reminder or a memory is. Nothing but the protocol is written to standard output, and nothing blocks
//! the protocol's own tasks: what waits for a disk runs on a thread of its own.

mod arguments;
mod catalog;
mod failure;
pub mod hosts;
mod offers;
mod outputs;
mod protocol;
mod shared_state;
mod tool_set;
#[cfg(feature = "assistant")]
mod toolbox;
mod tools;
mod untrusted;

pub use self::protocol::{HttpError, HttpOptions, McpSession, serve_http, serve_stdio};
pub use self::shared_state::{ServerScopes, SharedState};
pub use self::tool_set::ToolSet;
#[cfg(feature = "assistant")]
pub use self::toolbox::VaultTools;
