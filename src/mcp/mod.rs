//! Serves MCP: offers the vault to assistants as their memory, by typed tools, resources and prompts.
//!
//! A client's requests come in; answers go out. If a request changed a note, the answer contains the changed lines as
//! they are then, or the removed lines. [`serve_stdio`] and [`serve_http`] are the entry points. In the order of a
//! call:
//! - [`protocol`]: sessions, transports, subscriptions;
//! - [`tools`]: each tool as data, with the function that carries it out; [`ToolSet`]: the tools that a server exposes;
//! - [`arguments`]: checks a call's arguments against the tool's data;
//! - [`SharedState`]: the state that all sessions of one process share;
//! - [`resources`], [`prompts`]: notes and prompts that a client can read;
//! - [`failure`], [`untrusted`]: an error for a model, and the mark on all text from memory;
//! - [`hosts`]: the configuration of each host, for `mcp-config`;
//! - `toolbox`: the vault's tools for the assistant of this program.
//!
//! The rules about reminders and memories are in other modules, which the tools call. Only the protocol is written to
//! standard output. Work that waits for a disk runs on a thread of its own.

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
