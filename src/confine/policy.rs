//! Defines the policy of a confined command, and the outcome of its run.
//!
//! A policy names the readable files, the one writable folder, the network access, the environment and the limits.

use std::path::PathBuf;
use std::time::Duration;

use crate::defaults::defaults;
use serde::{Deserialize, Serialize};

/// The permissions of one confined command. All else is forbidden.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Files and folders it may read, beside the system's programs and libraries. A path that does not exist is left
    /// out.
    pub read: Vec<PathBuf>,
    /// Files and folders within those that it may not read. Their names may be seen.
    pub hide: Vec<PathBuf>,
    /// The scratch folder: the one place it may write to, its working directory, `HOME` and `TMPDIR`. It has to exist.
    pub write: PathBuf,
    /// Whether it reaches the network (TCP and UDP over IPv4 and IPv6, nothing else).
    pub network: bool,
    /// Environment variables beside `PATH`, `HOME`, `TMPDIR`, `LANG` and `TZ`. Secrets come here.
    pub env: Vec<(String, String)>,
    /// How much it may use.
    pub limits: Limits,
}

/// The values of `env` may be secrets: they are not shown.
impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy")
            .field("read", &self.read)
            .field("hide", &self.hide)
            .field("write", &self.write)
            .field("network", &self.network)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("limits", &self.limits)
            .finish()
    }
}

impl Policy {
    /// A command that may use `write` as its scratch and nothing else: no network, the usual limits.
    pub fn new(write: impl Into<PathBuf>) -> Self {
        Self { write: write.into(), ..Self::default() }
    }
}

defaults! {
    /// How much a command may use, all its processes together unless said otherwise.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Limits {
        /// How long it may run.
        pub time: Duration = Duration::from_secs(60),
        /// Memory.
        pub memory_bytes: u64 = 1 << 30,
        /// Processes and threads at a time.
        pub processes: u64 = 64,
        /// How much of its output [`CommandOutcome::text`] keeps: half from the head, half from the tail.
        pub output_bytes: usize = 30_000,
        /// How much output it may make; up to here all of it is kept in a file in the scratch.
        pub whole_bytes: u64 = 64 << 20,
        /// How large one file may become.
        pub file_bytes: u64 = 256 << 20,
        /// How much the scratch may hold while it runs.
        pub scratch_bytes: u64 = 512 << 20,
        /// How many files and folders the scratch may hold while it runs.
        pub scratch_files: u64 = 20_000,
    }
}

/// How a command ended. In every case, none of its processes is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It ended by itself, with this status.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It ran for longer than [`Limits::time`].
    TimedOut,
    /// Its processes used more than [`Limits::memory_bytes`], or the machine had almost no free memory.
    TooMuchMemory,
    /// It had more than [`Limits::processes`].
    TooManyProcesses,
    /// It made more output, or put more into the scratch, than it may.
    TooMuchOutput,
    /// It was stopped on request.
    Stopped,
}

impl Exit {
    /// Whether it ended by itself with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

/// For people and models: `exit status 1`, `stopped: it ran for too long`.
impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => f.write_str("stopped: it ran for too long"),
            Self::TooMuchMemory => f.write_str("stopped: it used too much memory"),
            Self::TooManyProcesses => f.write_str("stopped: it started too many processes"),
            Self::TooMuchOutput => f.write_str("stopped: it wrote too much"),
            Self::Stopped => f.write_str("stopped: it was told to"),
        }
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// How it ended.
    pub exit: Exit,
    /// Its output and errors as they came; of long ones the head and the tail, with a line between that says how much
    /// is left out. Safe to show: invalid UTF-8 is replaced, escapes and other control characters are gone.
    pub text: String,
    /// How many bytes it wrote.
    pub bytes: u64,
    /// If `text` is not complete: a file in the scratch with every byte, raw. The command could write there too:
    /// only another confined command should read it.
    pub whole: Option<PathBuf>,
}
