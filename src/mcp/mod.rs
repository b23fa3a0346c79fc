//! Serves MCP: offers the vault to assistants as their memory, through a typed contract.
//!
//! A client's requests come in; answers go out, with the lines that the notes have after a change. [`serve_stdio`] and
//! [`serve_http`] are the entry points. In the order of a call:
//! - [`protocol`]: sessions, transports, subscriptions. It translates, and calls the rooms;
//! - [`tools`]: each tool as data, with its answer and what it does, by calling the rooms. [`arguments`] are checked
//!   against it, and [`ToolSet`] lists the tools that a server exposes;
//! - [`SharedState`]: the state that all sessions of one process share, each part opened at its first use;
//! - [`resources`], [`prompts`]: a client's choices besides tools, read-only;
//! - [`failure`], [`untrusted`]: an error for a model, and the mark on all text from memory;
//! - [`hosts`]: the configuration of each host, for `mcp-config`; `toolbox`: the tools for our own assistant.
//!
//! Never here: what a reminder or a memory is. Nothing but the protocol is written to standard output, and nothing blocks
//! the protocol's own tasks: what waits for a disk runs on a thread of its own.

mod arguments;
mod failure;
pub mod hosts;
mod prompts;
mod protocol;
mod resources;
mod shared_state;
#[cfg(feature = "assistant")]
mod toolbox;
mod tools;
mod untrusted;

pub use self::protocol::{HttpError, HttpOptions, McpSession, serve_http, serve_stdio};
pub use self::shared_state::{ServerScopes, SharedState, ToolSet};
#[cfg(feature = "assistant")]
pub use self::toolbox::VaultTools;
