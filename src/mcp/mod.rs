//! The MCP server: the vault as an assistant's memory, through a typed contract.
//!
//! A client's requests come in; answers that tell a model what stands in the notes afterwards go out. [`serve_stdio`] and
//! [`serve_http`] are the ways in. In the order in which a call takes:
//! - [`protocol`]: sessions, transports, subscriptions. It translates, and leaves the work to the rooms;
//! - [`catalog`]: every tool as data; schemas, checks and `--tools` come from the same table. [`arguments`] are checked
//!   against it, and [`ToolSet`] says which tools a server exposes;
//! - [`tools`]: what the tools do, by calling the rooms; [`outputs`]: what they answer, as structures;
//! - [`SharedState`]: the state that all sessions of one process share, each part opened at its first use;
//! - [`offers`]: resources, prompts and completion;
//! - [`failure`], [`untrusted`]: an error that tells a model what to do, and the mark that everything from memory bears;
//! - [`hosts`]: the configuration that each host wants, for `mcp-config`; `toolbox`: the catalog for our own assistant.
//!
//! Never here: what a reminder or a memory is. Nothing is written to standard output but the protocol, and nothing blocks
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

pub use self::protocol::{HttpError, HttpOptions, Server, serve_http, serve_stdio};
pub use self::shared_state::{ServerScopes, SharedState};
pub use self::tool_set::ToolSet;
#[cfg(feature = "assistant")]
pub use self::toolbox::VaultTools;
