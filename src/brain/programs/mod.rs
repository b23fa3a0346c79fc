//! Runs brains that are programs, with a loop and tools of their own, as a child process for one turn.
//!
//! A request comes in as text; a reply or an error goes out. The caller of a run, the host, is told of each tool call.
//! A child's descendants end with it; no key and no word of a conversation stands on a command line.
//! - [`harness`], [`harness_text`]: the interface of such a program, and the text that it is given;
//! - [`process`], [`jsonrpc`]: the child, its pipes, and JSON-RPC with it;
//! - [`claude_code`], [`codex`], [`acp`]: one file a program; `codex::program` starts Codex.

pub mod acp;
pub mod claude_code;
pub mod codex;
pub mod harness;
mod harness_text;
mod jsonrpc;
pub mod process;

pub use harness::{Harness, HarnessHost, HarnessTask};
