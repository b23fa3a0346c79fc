//! Harnesses: programs that are brains, with a loop and tools of their own, run as a child process for one turn.
//!
//! A harness is given a [`Task`] and tells its [`Host`] what it does while it does it: the host keeps each call and
//! its result where another brain finds them, and asks a person what has to be asked.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::event::{BrainError, Class, Reply};
use super::request::{Request, ToolCall, ToolResult};

/// One turn's work for a harness.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The turn's request, with the rounds that other brains did before: what a session has to be made of.
    pub request: &'a Request,
    /// How many messages at the end of the request the session doesn't have yet, where it is gone on with.
    pub fresh: usize,
    /// The session that holds what stands before those; without one a new session begins.
    pub session: Option<&'a str>,
    /// The turn, for the history of what its tools change.
    pub turn: &'a str,
}

/// Whoever runs a harness.
#[async_trait]
pub trait Host: Send + Sync {
    /// More words of the answer.
    fn said(&self, words: &str);
    /// The harness calls a tool; called before the result is known, and on disk when it returns.
    async fn tool_started(&self, call: &ToolCall);
    /// What the tool said; on disk when it returns.
    async fn tool_finished(&self, result: &ToolResult);
    /// Whether the call may happen: the harness wants a person's word.
    async fn may(&self, call: &ToolCall) -> bool;
    /// The session that is being spoken in; it can be gone on with next time.
    async fn session(&self, id: &str);
    /// The harness tries its provider again by itself after such a failure. False: it is to be ended.
    fn retries(&self, class: Class, words: &str) -> bool;
}

/// A program that answers.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Runs one turn to its end, in a process group of its own that is gone when this returns or is dropped.
    ///
    /// # Errors
    /// Why there is no answer, classed, with a message that holds no key.
    async fn run(
        &self,
        task: &Task<'_>,
        host: &dyn Host,
        cancel: CancellationToken,
    ) -> Result<Reply, BrainError>;
}
