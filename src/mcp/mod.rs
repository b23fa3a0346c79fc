//! The MCP server: the vault as an assistant's memory, through a typed contract.
//!
//! [`serve_stdio`] and [`serve_http`] are the ways in. What stands where:
//! - [`catalog`]: every tool with its arguments, as data; schemas and checks come from the same table, and
//!   [`ToolSet`] says which of them a server exposes;
//! - [`tools`]: what the tools do, by calling the rooms;
//! - [`Desk`]: what all sessions of one process share, each part opened when it is first needed;
//! - [`resources`], [`subscriptions`]: notes as `vault://` resources, and word of their changes;
//! - [`prompts`]: reviews of the day and the week, with the day's data in them;
//! - [`failure`]: an error that tells a model what to do;
//! - [`untrusted`]: the mark that everything from memory bears;
//! - [`hosts`]: the configuration that each host wants, for `mcp-config`.
//!
//! Never here: what a reminder or a memory is. Nothing is written to standard output but the protocol,
//! and nothing blocks the protocol's own tasks: what waits for a disk runs on a thread of its own.

pub mod arguments;
pub mod catalog;
mod completion;
mod desk;
pub mod failure;
pub mod hosts;
mod http;
mod lines;
mod outputs;
mod progress;
pub mod prompts;
pub mod resources;
mod server;
mod stdio;
pub mod subscriptions;
mod token;
mod tool_set;
#[cfg(feature = "assistant")]
mod toolbox;
pub mod tools;
pub mod untrusted;

pub use desk::{Desk, Place};
pub use http::{HttpError, HttpOptions, serve_http};
pub use server::Server;
pub use stdio::serve_stdio;
pub use token::TOKEN_VARIABLE;
pub use tool_set::ToolSet;
#[cfg(feature = "assistant")]
pub use toolbox::VaultTools;
