//! Implements the MCP protocol: sessions and transports. Requests come in and answers go out; the tools determine the
//! effect of a request.
//!
//! - [`server`]: one session;
//! - [`transports`]: over standard input and output, one JSON message per line, or streamable HTTP with a bearer token;
//! - [`subscriptions`]: notifications of changed notes, and of the progress of a long call.

mod server;
mod subscriptions;
mod transports;

pub use server::McpSession;
pub use transports::{HttpError, HttpOptions, serve_http, serve_stdio};
