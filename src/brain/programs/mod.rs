//! Runs brains that are programs with an agent loop and tools of their own, each as a child process for one turn.
//!
//! A request comes in as text; a reply or an error goes out. The caller of a run is the host, which is told of each
//! tool call. When a child ends, its descendants are ended. No command line contains a key or a word of a conversation.
//! - [`harness`], [`harness_text`]: the interface of such a program, and the text of a request to it;
//! - [`process`], [`jsonrpc`]: the child, its pipes, and JSON-RPC with it;
//! - [`claude_code`], [`codex`], [`acp`]: one file for each program; `codex::program` starts Codex.

pub mod acp;
pub mod claude_code;
pub mod codex;
pub mod harness;
mod harness_text;
mod jsonrpc;
pub mod process;

pub use harness::{Harness, HarnessHost, HarnessTask};
