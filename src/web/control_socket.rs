//! Sends a command's request to the daemon, to open or close the page, and returns the reply with the page's one-time
//! address. Request and reply are one line each, over a Unix socket in the state directory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The socket's name in the state directory.
pub const SOCKET: &str = "page.sock";
/// How long the daemon may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// An address that lets one browser in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The address with its code.
    pub url: String,
    /// Until when it is good, in the vault's zone.
    pub expires: String,
}

/// A request to the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlRequest {
    /// Listen, and let one browser in.
    Open,
    /// Listen, and let a phone in.
    Pair,
    /// Stop listening.
    Stop,
}

/// The daemon's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlReply {
    /// The address.
    Open(Invitation),
    /// Whether it listened until now.
    Stopped(bool),
    /// Why not.
    Refused(String),
}

/// The path of the socket on which the daemon takes commands.
pub fn socket(state: &Path) -> PathBuf {
    state.join(SOCKET)
}

/// Asks the daemon; none where no daemon answers.
pub fn ask(state: &Path, request: ControlRequest) -> Option<ControlReply> {
    let line = serde_json::to_string(&request).ok()?;
    let reply = crate::search::results::daemon_client::exchange(&socket(state), &line, PATIENCE).ok()?;
    serde_json::from_str(&reply).ok()
}
