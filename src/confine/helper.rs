//! Runs the program as its own helper: `main` calls this first, before it parses arguments.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::wire::{ARGUMENT, INNER, Layers};

/// The program that is started as the helper.
#[derive(Debug)]
pub struct Helper {
    pub(super) program: PathBuf,
    pub(super) namespaces: bool,
    pub(super) capabilities: OnceLock<Capabilities>,
}

impl Helper {
    /// A program whose `main` asks [`super::main`] first. Another than this one is for tests and for programs that
    /// embed this crate.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), namespaces: true, capabilities: OnceLock::new() }
    }

    /// Builds boxes without namespaces, as on machines that give none.
    #[must_use]
    pub fn without_namespaces(mut self) -> Self {
        self.namespaces = false;
        self
    }

    /// This program, or the one that [`Helper::install`] named.
    pub(super) fn current() -> &'static Self {
        HELPER.get_or_init(|| {
            // On Linux by this name: it is right even after an upgrade has replaced the file.
            let program =
                if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
            Self::new(program.unwrap_or_else(|_| "vault-agent".into()))
        })
    }

    /// Makes this the helper of [`super::run`] and [`super::enforcement`] in this process. The first one wins.
    pub fn install(self) {
        let _ = HELPER.set(self);
    }
}

static HELPER: OnceLock<Helper> = OnceLock::new();

/// If the arguments ask for the helper, runs it and returns the exit code.
///
/// `main` calls this before there is a second thread: the helper puts its own process into namespaces.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut args = args.into_iter().skip(1);
    if args.next()? != ARGUMENT {
        return None;
    }
    let is_inner = args.next().is_some_and(|arg| arg == INNER);
    Some(work(is_inner))
}

#[cfg(target_os = "linux")]
fn work(is_inner: bool) -> u8 {
    if is_inner { super::linux::inner() } else { super::linux::supervise() }
}

#[cfg(target_os = "macos")]
fn work(_: bool) -> u8 {
    super::macos::supervise()
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn work(_: bool) -> u8 {
    2
}

/// The kinds of boxes that a helper can build on this machine.
#[derive(Debug, Clone)]
pub(super) struct Capabilities {
    /// The layers of a box; or the reason why there is none.
    pub layers: Result<Layers, String>,
    /// Why there are no namespaces, if so.
    pub why_none: Option<String>,
}
