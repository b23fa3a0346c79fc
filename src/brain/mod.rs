//! Asks brains: models, and programs that use a model. A request goes in; a reply or a classified error comes out.
//!
//! Nothing here reads the settings, the vault or a journal: the caller passes all values. A call is made once; the
//! caller decides about retries.
//! - [`request`], [`call_result`]: plain values, the same for all providers;
//! - [`wire`]: encodes and decodes three HTTP formats; the parts of a provider's answer are kept as raw JSON and sent
//!   back unchanged within a turn;
//! - [`programs`]: brains that are programs with an agent loop of their own;
//! - [`classify`]: the class of a failure, from status, headers and text. Pure;
//! - [`failover`]: the next brain of a given order, and cooldowns. Pure; [`crate::turn::route()`] makes the order;
//! - [`health`]: the health of each brain, and the file that keeps it; [`scrub`]: removes keys from texts.

mod call_result;
mod classify;
pub mod failover;
pub mod health;
mod programs;
mod request;
pub mod scrub;
pub mod wire;

pub use self::call_result::{
    BrainError, CallProgress, FailureClass, Price, Reply, Result, StopReason, Usage, portable_tool_name,
};
pub use self::programs::{Harness, HarnessHost, HarnessTask, acp, claude_code, codex, harness, process};
pub use self::request::{Message, MessagePart, RawTurn, Request, ToolCall, ToolResult, ToolSpec};
