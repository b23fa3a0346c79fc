//! Connects a confined command with the program outside its box (the command's confinement), over one inherited socket:
//! the gate.
//!
//! The environment variable [`VARIABLE`] names the socket's descriptor. A client in the box makes a pair of sockets and
//! sends one end through the gate ([`connect`]). Outside, a [`Gate`] receives that end and serves the client. So
//! several clients are served at a time, and no socket has a path or a name that another process could open.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use async_trait::async_trait;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use super::wire;

/// The environment variable that says which descriptor the gate is.
pub const VARIABLE: &str = "VAULT_AGENT_GATE";

/// The number of the gate's descriptor in the box: so high that no script uses it by chance.
pub(super) const NUMBER: i32 = 100;

/// The most clients that are served at a time; others wait.
const CLIENTS: usize = 16;

/// The gate's socket type: it keeps messages apart, and can't be pointed at another socket.
#[cfg(target_os = "linux")]
const KIND: SocketType = SocketType::SEQPACKET;
#[cfg(not(target_os = "linux"))]
const KIND: SocketType = SocketType::DGRAM;

/// The server of the gate, outside the box, in the process that called [`super::Helper::run`].
#[async_trait]
pub trait Gate: Send + Sync {
    /// Talks to one client until it is done. Several are served at a time; at the command's end the future is dropped.
    /// The other end is untrusted.
    async fn serve(&self, stream: UnixStream);
}

/// Asks for a connection to the gate, from inside the box.
///
/// # Errors
/// There is no gate: the environment variable is not set, or its other end is closed.
pub fn connect() -> io::Result<std::os::unix::net::UnixStream> {
    let none = || io::Error::new(io::ErrorKind::NotFound, "not in a box, or in one without a gate");
    let number = std::env::var(VARIABLE).ok().and_then(|value| value.parse().ok()).ok_or_else(none)?;
    let gate = inherited(number)?;
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    wire::send_mark(&gate, Some(theirs.as_fd()))?;
    Ok(ours)
}

/// A copy of a descriptor that this process was started with.
#[cfg(target_os = "linux")]
fn inherited(number: i32) -> io::Result<OwnedFd> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(own, number, PidfdGetfdFlags::empty())?)
}

/// A copy of a descriptor that this process was started with.
#[cfg(not(target_os = "linux"))]
fn inherited(number: i32) -> io::Result<OwnedFd> {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(format!("/dev/fd/{number}"))?;
    Ok(file.into())
}

/// The gate's two ends: ours, and the one that goes into the box.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(target_os = "linux")]
    let flags = SocketFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = SocketFlags::empty();
    Ok(socketpair(AddressFamily::UNIX, KIND, flags, None)?)
}

/// Serves clients that come through the gate. Never ends by itself; dropping it ends all that is served.
pub(super) async fn serve_clients(ours: OwnedFd, gate: Arc<dyn Gate>) {
    let mut clients = JoinSet::new();
    // Tokio waits for any socket by this type; its own reads and writes are not used here.
    if let Ok(ours) = nonblocking(ours).and_then(|ours| UnixStream::from_std(ours.into())) {
        loop {
            while clients.len() >= CLIENTS {
                clients.join_next().await;
            }
            while clients.try_join_next().is_some() {}
            let came = ours.async_io(Interest::READABLE, || Ok(wire::receive_mark(&ours)?)).await;
            let Ok(Some(fd)) = came else { break };
            if let Some(stream) = fd.and_then(|fd| stream(fd).ok()) {
                let gate = Arc::clone(&gate);
                clients.spawn(async move { gate.serve(stream).await });
            }
        }
    }
    while clients.join_next().await.is_some() {}
    std::future::pending::<()>().await;
}

fn nonblocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(fd)
}

/// The descriptor from the gate as a stream; anything but a stream between two processes is refused.
fn stream(fd: OwnedFd) -> io::Result<UnixStream> {
    let is_unix = rustix::net::getsockname(&fd)?.address_family() == AddressFamily::UNIX;
    if !is_unix || rustix::net::sockopt::socket_type(&fd)? != SocketType::STREAM {
        return Err(io::Error::other("no stream"));
    }
    UnixStream::from_std(nonblocking(fd)?.into())
}
