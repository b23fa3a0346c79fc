//! Accepts connections for every listener on a network address, and holds the host names, origins and secrets with
//! which a listener checks requests.
//!
//! The MCP server over HTTP and the page use this module. Both refuse a request to an unknown host name, or from a page
//! of another site.
//! - [`HostNames`]: the names that a listener answers to, and the origins that may send it changes;
//! - [`serve()`]: the loop that accepts connections;
//! - [`BearerToken`]: the bearer token of the MCP server; [`secret`](mod@secret): random secrets and their comparison.

mod host_names;
pub mod secret;
mod serve;
mod token;

pub use self::host_names::HostNames;
pub use self::serve::{MOST_CONNECTIONS, serve};
pub use self::token::{BearerToken, TOKEN_VARIABLE};
