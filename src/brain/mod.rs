//! Brains: whoever can answer. A request goes in, events come out, at the end stands a reply or a classed error.
//!
//! [`request`] and [`event`] are plain values of no provider. [`wire`] turns them into three HTTP formats and
//! back; what a provider sends is kept as raw JSON and echoed unchanged within a turn. [`harness`] is for programs
//! with a loop of their own, which [`process`] runs. This room knows no settings, no vault and no journal: who calls gives it everything
//! as values. A brain tries once; whether another try follows, and whose, is the pure rule of [`failover`], with
//! what [`health`] remembers.

#[cfg(feature = "acp")]
pub mod acp;
pub mod classify;
pub mod claude_code;
pub mod codex;
pub mod event;
pub mod failover;
pub mod harness;
pub mod harness_text;
pub mod health;
pub mod jsonrpc;
mod link;
pub mod price;
pub mod process;
pub mod request;
pub mod scrub;
pub mod wire;

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use event::{BrainError, Class, Event, Reply, Stop, Usage};
pub use harness::{Harness, Host, Task};
pub use price::Price;
pub use request::{Message, Part, RawTurn, Request, ToolCall, ToolResult, ToolSpec};

/// Whoever answers: one endpoint with one model and one key. A brain with several keys is several of these.
#[async_trait]
pub trait Brain: Send + Sync {
    /// Asks once. Events are sent as they come, for showing that something goes on; a receiver that was dropped
    /// disturbs nothing. Only the returned reply is an answer.
    ///
    /// # Errors
    /// Why there is no answer, classed, with a message that holds no key. After `cancel` the call ends at once
    /// with [`BrainError::cancelled`]; dropping the future ends it too.
    async fn call(
        &self,
        request: &Request,
        events: mpsc::Sender<Event>,
        cancel: CancellationToken,
    ) -> Result<Reply, BrainError>;
}
