//! Builds the box on Linux, the outermost layer first.
//!
//! [`supervise`] runs outside the box: it makes the namespaces and the root that the box sees ([`root`]), watches the
//! resources that the box uses, and cleans up after it. [`inner`] runs in the box: it drops its access to files and
//! signals ([`landlock`]) and to system calls ([`seccomp`]), and starts the command. Neither ever has a second thread.

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
