//! What every listener on a network address has in common: which `Host` and `Origin` a request may bring, and secrets.
//!
//! The MCP server over HTTP and the page ask here. An address that a name was rebound to, or a page of another site, gets
//! nothing.
//! - [`Names`]: the names that a listener answers to, and the origins that may send it changes;
//! - [`Token`]: the bearer token of the MCP server; [`secret`](mod@secret): random secrets and their comparison.

mod names;
pub mod secret;
mod token;

pub use self::names::Names;
pub use self::token::{TOKEN_VARIABLE, Token};
