//! Sends and receives the messages between the program, its helper and the process in the box, over socket pairs.
//!
//! A message is one byte, a length, and JSON; a file descriptor can be attached to the byte. The policy is sent only in
//! such a message, because other processes can read a command line or an environment.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Exit, Policy};

/// The argument that makes this program the helper.
pub(super) const ARGUMENT: &str = "__confine";

/// The second argument of the process in the box.
pub(super) const INNER: &str = "inner";

/// A longer message is refused.
const MAX: u32 = 16 << 20;

/// The task of the helper.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct HelperJob {
    pub policy: Policy,
    /// The argument of `bash -c`; none: build the box, report its layers, and end.
    pub command: Option<String>,
    /// Whether user namespaces are to be made.
    pub namespaces: bool,
}

/// The helper's report at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HelperReport {
    /// The command is over, and none of its processes is left.
    Ended(Exit),
    /// The box could not be built; the command did not run.
    Failed(String),
    /// The layers of the box.
    Built(Layers),
}

/// The layers of a box on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layers {
    /// Whether it has namespaces and a root of its own.
    pub namespaces: bool,
    /// Landlock's version in force, 0 for none.
    pub landlock: u8,
    /// Whether system calls are filtered.
    pub calls: bool,
    /// Whether the box's processes can be counted.
    pub counted: bool,
    /// Whether it is a profile of macOS, and nothing of the above.
    pub profile: bool,
}

/// Sends a message, with a descriptor if given.
pub(super) fn send<S: AsFd>(
    socket: S,
    message: &impl Serialize,
    fd: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let body = body(message)?;
    send_mark(&socket, fd)?;
    std::os::unix::net::UnixStream::from(socket.as_fd().try_clone_to_owned()?).write_all(&body)
}

/// The bytes of a message after its first.
pub(super) fn body(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= MAX);
    let length = length.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the command and its policy are too long")
    })?;
    Ok([&length.to_le_bytes()[..], &body].concat())
}

/// The helper's standard input, which is the socket to the program that started it.
pub(super) fn control() -> io::Result<OwnedFd> {
    // Whatever else was inherited must not reach a command.
    close_fds::set_fds_cloexec(3, &[]);
    rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3).map_err(Into::into)
}

/// Runs the job on standard input and reports its result at the end.
pub(super) fn serve(
    work: impl FnOnce(&OwnedFd, HelperJob, Option<OwnedFd>) -> Result<HelperReport, String>,
) -> u8 {
    let Ok(control) = control() else { return 1 };
    let report = match receive::<HelperJob, _>(&control) {
        Ok(Some((job, gate))) => work(&control, job, gate).unwrap_or_else(HelperReport::Failed),
        // The program that started it is gone.
        Ok(None) => return 1,
        Err(error) => HelperReport::Failed(format!("the job can't be read: {error}")),
    };
    u8::from(send(&control, &report, None).is_err())
}

/// Sends the first byte of a message.
pub(super) fn send_mark<S: AsFd>(socket: S, fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let fds: Vec<BorrowedFd<'_>> = fd.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(b"m")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Receives the first byte of a message and its descriptor; `None` at the stream's end.
pub(super) fn receive_mark<S: AsFd>(socket: S) -> rustix::io::Result<Option<Option<OwnedFd>>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::empty();
    #[cfg(target_os = "linux")]
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
    let mut fds = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let first = fds.next();
    drop(fds.collect::<Vec<_>>());
    Ok((got.bytes > 0).then_some(first))
}

/// Receives a message and the descriptor that came with it; `None` at the stream's end.
pub(super) fn receive<T: DeserializeOwned, S: AsFd>(socket: S) -> io::Result<Option<(T, Option<OwnedFd>)>> {
    let Some(fd) = receive_mark(&socket)? else { return Ok(None) };
    let mut stream = std::os::unix::net::UnixStream::from(socket.as_fd().try_clone_to_owned()?);
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length).min(MAX);
    let mut body = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut body)?;
    Ok(Some((serde_json::from_slice(&body)?, fd)))
}
