//! Builds the box (the confinement of one shell command) on Linux, from the outermost layer inwards.
//!
//! [`supervise`] runs outside the box. If the machine allows namespaces, [`supervise`] makes namespaces and a root of
//! the box's own ([`root`]). [`supervise`] also watches the box's processes, memory, time and scratch space, and kills
//! all processes that are left.
//!
//! [`inner`] runs in the box. The process gives up capabilities and sets limits. [`landlock`] restricts files, signals,
//! abstract sockets and, without network, TCP; [`seccomp`] restricts system calls. Then [`inner`] starts the command.
//!
//! Neither process ever has a second thread.

mod inner;
mod landlock;
mod root;
mod seccomp;
mod supervise;
mod visible_paths;

pub(super) use inner::inner;
pub(super) use supervise::supervise;

/// Reports a failure.
fn failed(what: &str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{what}: {error}")
}
