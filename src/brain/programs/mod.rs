//! Brains that are programs, with a loop and tools of their own, run as a child for one turn.
//!
//! A request comes in as text; what the program does and says comes out as events, and at the end a reply or an error. What
//! came of a child ends with it; no key and no word of a conversation stands on a command line.
//! - [`harness`], [`harness_text`]: what such a program is told and may do;
//! - [`process`], [`jsonrpc`]: the child, its pipes, and JSON-RPC with it;
//! - [`claude_code`], [`codex`], `acp`: one file a program; how Codex is started is `codex::program`.

#[cfg(feature = "acp")]
pub mod acp;
pub mod claude_code;
pub mod codex;
pub mod harness;
mod harness_text;
mod jsonrpc;
pub mod process;

pub use harness::{Harness, HarnessTask, Host};
