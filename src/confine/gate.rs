//! The gate: the one counterpart that a confined command may talk to.

use async_trait::async_trait;
use tokio::net::UnixStream;

/// The environment variable that says which file descriptor the gate is.
pub const VARIABLE: &str = "VAULT_AGENT_GATE";

/// Who answers at the gate, outside the box, in the process that called [`super::run`].
#[async_trait]
pub trait Gate: Send + Sync {
    /// Talks to one client until it is done. Several are served at a time; after the command's end the future is dropped.
    /// Whoever is at the other end is untrusted.
    async fn serve(&self, stream: UnixStream);
}

/// Asks for a connection to the gate from inside the box.
///
/// An error says that there is none: the environment variable is not set, or nobody is there any more.
#[cfg(unix)]
pub fn connect() -> std::io::Result<std::os::unix::net::UnixStream> {
    Err(std::io::Error::other("there is no gate here"))
}
