//! Speaks the MCP protocol: sessions and transports. Requests come in, answers go out; the tools decide about their
//! meaning.
//!
//! - [`server`]: one session;
//! - [`lines`]: over standard input and output, one JSON message a line;
//! - [`http`]: over streamable HTTP, with a bearer token;
//! - [`subscriptions`]: word of changed notes, and of how far a long call is.

mod http;
mod lines;
mod server;
mod subscriptions;

pub use http::{HttpError, HttpOptions, serve_http};
pub use lines::serve_stdio;
pub use server::McpSession;
