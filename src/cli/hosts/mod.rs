//! Groups the commands for coding agents, MCP hosts and browsers: `hook`, `mcp`, `mcp-config`, `web`.
//!
//! - [`hook`]: answers a host's hooks, and writes them into its settings ([`hook_server`]);
//! - [`agent_memories`]: the memories that a host keeps by itself;
//! - [`mcp`], [`mcp_config`]: the MCP server, and a host's configuration that starts it;
//! - [`web`]: the page, for people.

mod agent_memories;
pub(super) mod hook;
mod hook_server;
pub(super) mod mcp;
pub(super) mod mcp_config;
#[cfg(all(unix, feature = "assistant"))]
pub(super) mod web;
