//! Answers the hooks of coding agents (hosts).
//!
//! `vault-agent hook EVENT` is one short process for each event. The host's message comes in; one line in the host's
//! format goes out, or nothing. **No failure stops the host**: the cause is a line in a log, and the exit code is 0.
//! Text from memory is untrusted context and is marked so; a hook's answer is never logged as conversation and never
//! indexed. In the order of a call:
//! - [`respond`](respond()): reads the message and makes the answer on a thread; after 300 ms, the timeout, the hook
//!   ends without an answer;
//! - [`host`]: the host's events, messages and transcripts, and the format of answers;
//! - [`events`]: one file for each event;
//! - [`decide`]: decisions about prompts and answers, by the word lists in `data/`. Pure, except for the check whether
//!   something was saved;
//! - [`archive`]: with `[hooks] archive = true`, writes the session as a log, after the answer, in the remaining time;
//! - [`mod@install`]: vault-agent's entries in the host's settings file;
//! - [`context`]: the session's vault and scopes, and the file that failures are written to.

pub mod archive;
mod context;
mod decide;
mod events;
mod host;
pub mod install;
mod respond;

pub use self::context::HookContext;
pub use self::decide::{recall_gate, save_claims};
pub use self::host::{HostEvent, messages};
pub use self::install::{memories, settings_file};
pub use self::respond::respond;
