//! Runs shell commands in a box (a sandbox) that limits files, network, environment and resources.
//!
//! [`Helper::run`] starts this program again as a helper (`vault-agent __confine`), which restricts itself and then
//! runs `bash -c COMMAND`. The command reads the system's files and the paths that its [`Policy`] names, and writes
//! only to its scratch folder. It has no network unless the policy allows it. Its environment is cleared, and its use
//! of resources is limited. When the command ends, the processes that it started are ended. [`enforcement`] detects the
//! rules that the machine can enforce.
//!
//! - `policy`, `output`: a command's permissions, its outcome, and its output;
//! - `helper`, `wire`: the helper process, and the messages to it; `gate`: the one connection from the box to outside;
//!   `enforcement`: the rules that this machine can enforce;
//! - `linux`, `macos`: the box itself.

mod enforcement;
pub mod gate;
mod helper;
#[cfg(target_os = "linux")]
mod linux;
mod macos;
mod output;
mod policy;
mod wire;

pub use enforcement::{EnforcedRule, Enforcement, EnforcementLevel};
pub use gate::Gate;
pub use helper::{Helper, main};
pub use policy::{CommandOutcome, Exit, Limits, Policy};

/// Why a command could not be run at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The box can't be built on this machine.
    #[error("no command can be confined here: {0}")]
    Unavailable(String),
    /// The scratch folder can't be used.
    #[error("the scratch folder {0} can't be used: {1}")]
    Scratch(std::path::PathBuf, std::io::Error),
    /// The helper failed.
    #[error("the box failed: {0}")]
    Helper(#[from] std::io::Error),
}

/// The rules that this machine enforces; found by building a box, once for a process.
pub fn enforcement() -> Enforcement {
    Helper::current().enforcement()
}

/// Keeps other programs of the same user from reading this process's environment and memory, which hold keys.
///
/// `main` calls this first of all: every start of the program knows a key, or may come to. No core is dumped then, and
/// a debugger needs root.
pub fn hide() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
