//! Groups the commands for coding agents, MCP hosts and browsers: `hook`, `mcp`, `mcp-config`, `web`.
//!
//! - [`hook`]: answers a host's hooks, and writes them into its settings; [`host_settings`]: a host's own memories, and
//!   vault-agent's MCP server in its settings;
//! - [`mcp`], [`mcp_config`]: the MCP server, and a host's configuration that starts it;
//! - [`web`]: the page, for people.

pub(super) mod hook;
mod host_settings;
pub(super) mod mcp;
pub(super) mod mcp_config;
#[cfg(all(unix, feature = "assistant"))]
pub(super) mod web;
