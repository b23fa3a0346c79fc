//! Asks brains, which are models or programs with a model. A request goes in; events come out, and at the end a reply
//! or a classed error.
//!
//! This room knows no settings, no vault and no journal: the caller passes everything as values. A brain tries once.
//! - [`request`], [`event`]: plain values of no provider;
//! - [`wire`]: three HTTP formats, both ways; a provider's items are kept as raw JSON and echoed unchanged within a
//!   turn;
//! - [`programs`]: brains that are programs with a loop of their own;
//! - [`failing`]: classes of failure, failover, and the health of brains;
//! - [`scrub`]: texts without keys.

mod event;
mod failing;
mod programs;
mod request;
pub mod scrub;
pub mod wire;

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use self::event::{BrainError, BrainEvent, FailureClass, Price, Reply, StopReason, Usage};
pub use self::failing::{failover, health};
pub use self::programs::{Harness, HarnessHost, HarnessTask, acp, claude_code, codex, harness, process};
pub use self::request::{Message, MessagePart, RawTurn, Request, ToolCall, ToolResult, ToolSpec};

/// A brain: one endpoint with one model and one key. A brain with several keys is several of these.
#[async_trait]
pub trait Brain: Send + Sync {
    /// Asks once. Events are sent as they come, to show progress; a dropped receiver
    /// disturbs nothing. Only the returned reply is an answer.
    ///
    /// # Errors
    /// Why there is no answer, classed, with a message that holds no key. After `cancel` the call ends at once
    /// with [`BrainError::cancelled`]; dropping the future ends it too.
    async fn call(
        &self,
        request: &Request,
        events: mpsc::Sender<BrainEvent>,
        cancel: CancellationToken,
    ) -> Result<Reply, BrainError>;
}
