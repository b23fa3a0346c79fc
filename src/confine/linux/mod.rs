//! Builds the box (the confinement of one shell command) on Linux, from the outermost layer inwards.
//!
//! A helper process ([`mod@supervise`]) builds the box. If the machine allows namespaces, the helper makes namespaces
//! and gives the box a root directory of its own ([`root`]). The helper then watches the box's processes, memory, time
//! and scratch space, and at the end kills all processes that are left.
//!
//! The first process in the box ([`mod@inner`]) gives up its capabilities and sets its limits. It applies [`landlock`],
//! which restricts files, signals, abstract sockets and, without network, TCP, and [`seccomp`], which restricts system
//! calls. Then it starts the command.
//!
//! Neither process ever has a second thread, since the kernel lets only a process with one thread make a user
//! namespace, and since capabilities, Landlock and seccomp apply only to the thread that sets them.

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
