//! Defines the result of a call to a brain: a whole reply ([`Reply`]) or a classified failure ([`BrainError`]). Also
//! defines a call's progress and its usage of tokens.

use std::collections::HashSet;
use std::time::Duration;

use serde::Serialize;

use super::request::{RawTurn, ToolCall};
use crate::format::invisible;
use crate::words::words;

pub use crate::config::Price;

/// How far a call is: what it used is paid for, even if it brings no answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallProgress {
    /// The provider's last figures.
    pub usage: Usage,
    /// The characters of the answer so far.
    pub chars: usize,
}

impl CallProgress {
    /// Counts more words of the answer.
    pub fn add(&mut self, text: &str) {
        self.chars += text.chars().count();
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The model had nothing more to say.
    End,
    /// It waits for its calls' results.
    ToolUse,
    /// The answer reached its length limit.
    Length,
    /// It declined, or a filter did.
    Refusal,
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens that the model read, those from a cache counted too.
    pub input: u64,
    /// Tokens of these from the provider's cache.
    pub cached: u64,
    /// Tokens of these written into the provider's cache.
    #[serde(skip)]
    pub cache_write: u64,
    /// Tokens that the model wrote, reasoning counted too.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_write += other.cache_write;
        self.output += other.output;
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The words; may be empty.
    pub text: String,
    /// The calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The answer as the provider sent it, for [`crate::brain::Message::Assistant`].
    pub raw: Option<RawTurn>,
    /// Its usage; zeros where the provider doesn't tell.
    pub usage: Usage,
    /// Why it ended.
    pub stop: StopReason,
    /// The model that answered, by its provider's word.
    pub model: String,
}

/// The most bytes of a call's arguments: more than any tool takes.
const MAX_ARGUMENTS: usize = 64 << 10;
/// The most calls that are kept; of fewer a turn says that they are too many.
const MAX_CALLS: usize = 64;
/// The most characters of a model's name.
const MAX_MODEL_NAME: usize = 128;

/// A tool's name as all providers take it, in whichever request it stands.
pub fn portable_tool_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

impl Reply {
    /// One of words alone.
    #[cfg(test)]
    pub fn said(text: &str, stop: StopReason) -> Self {
        let (tool_calls, raw, usage, model) = Default::default();
        Self { text: text.to_owned(), tool_calls, raw, usage, stop, model }
    }

    /// Bounds what a server may send at any length, removes the calls of a refusal, which was broken off, and gives each
    /// other call a name and an id as providers demand them of the next request. The raw answer holds the old ones, so it
    /// is emptied.
    pub fn sanitize(&mut self) {
        self.model = self.model.chars().take(MAX_MODEL_NAME).collect();
        if self.stop == StopReason::Refusal {
            self.tool_calls.clear();
        }
        let before = self.tool_calls.clone();
        self.tool_calls.truncate(MAX_CALLS);
        let mut ids = HashSet::new();
        for (at, call) in self.tool_calls.iter_mut().enumerate() {
            call.name = portable_tool_name(&call.name);
            if call.arguments.len() > MAX_ARGUMENTS {
                call.arguments = format!("({} bytes, which are too many)", call.arguments.len());
            }
            while !ids.insert(call.id.clone()) {
                call.id = format!("{}_{at}", call.id);
            }
        }
        if let Some(raw) = self.raw.as_mut().filter(|_| self.tool_calls != before) {
            raw.items.clear();
        }
    }

    /// Checks that the reply has visible text or calls of tools, or is a refusal.
    ///
    /// # Errors
    /// It has none of these: that is no answer.
    pub fn usable(&self) -> Result<()> {
        let blank = invisible::strip(&self.text).trim().is_empty();
        if !blank || !self.tool_calls.is_empty() || self.stop == StopReason::Refusal {
            return Ok(());
        }
        let why = match self.stop {
            StopReason::Length => "it used up its answer length on reasoning and gave no text",
            _ => "its answer was empty",
        };
        Err(BrainError::new(FailureClass::Crash, why))
    }
}

words! {
    /// The classes of failure, by the reaction to them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FailureClass, name {
        /// The account has no money or no quota.
        Billing = "billing",
        /// Too many requests.
        RateLimit = "rate_limit",
        /// The key is wrong, or isn't allowed to.
        Auth = "auth",
        /// No answer in time.
        Timeout = "timeout",
        /// The provider is in trouble.
        Overloaded = "overloaded",
        /// The request isn't understood or too long.
        Format = "format",
        /// There is no such model.
        UnknownModel = "unknown_model",
        /// The model declined.
        Refusal = "refusal",
        /// No connection, a cut stream, an answer that can't be read.
        Crash = "crash",
    }
}

/// What a call gives.
pub type Result<T, E = BrainError> = std::result::Result<T, E>;

/// Why a brain gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BrainError {
    /// The class, which decides about the reaction.
    pub class: FailureClass,
    /// A sentence for people, scrubbed of keys.
    pub message: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
    /// The request was too long for the model: a shorter one may do.
    pub too_long: bool,
    /// The caller cancelled; says nothing about the brain.
    pub cancelled: bool,
}

impl BrainError {
    /// An error with a class and a sentence.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), retry_after: None, too_long: false, cancelled: false }
    }

    /// The caller stopped the call.
    pub fn cancelled() -> Self {
        Self { cancelled: true, ..Self::new(FailureClass::Crash, "the call was stopped") }
    }
}

impl Price {
    /// US dollars for `usage`.
    #[expect(clippy::cast_precision_loss, reason = "tokens of a call are far below 2^52")]
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_write);
        let sum = fresh as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_write as f64 * self.cache_write.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        sum / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_an_id_of_its_own() {
        let call = |id: &str| ToolCall { id: id.into(), name: "memory_save".into(), arguments: "{}".into() };
        let raw = RawTurn { wire: "chat".into(), endpoint: "http://h".into(), items: vec![true.into()] };
        let mut reply = Reply::said("", StopReason::ToolUse);
        (reply.tool_calls, reply.raw) = (vec![call("a"), call("b")], Some(raw));
        reply.sanitize();
        assert!(reply.raw.is_some());
        reply.tool_calls.extend([call("a"), call("a")]);
        reply.sanitize();
        let ids: Vec<&str> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "a_2", "a_3"]);
        assert!(reply.raw.as_ref().unwrap().items.is_empty(), "it has the provider's ids");
        reply.tool_calls = vec![call("a"); 3_000];
        reply.sanitize();
        assert!(reply.tool_calls.iter().all(|call| call.id.len() < 8), "they don't grow with their number");
        assert_eq!(reply.tool_calls.len(), MAX_CALLS);
    }

    #[test]
    fn what_nobody_sees_is_no_answer() {
        for blank in ["", " \n", "\u{200b}", "\u{feff} \u{2060}\u{200b}"] {
            let error = Reply::said(blank, StopReason::End).usable().unwrap_err();
            assert_eq!(
                (error.class, error.message.as_str()),
                (FailureClass::Crash, "its answer was empty"),
                "{blank:?}"
            );
            assert!(
                Reply::said(blank, StopReason::Length)
                    .usable()
                    .unwrap_err()
                    .message
                    .contains("answer length")
            );
            assert!(Reply::said(blank, StopReason::Refusal).usable().is_ok());
            let call = ToolCall { id: "c".into(), name: "look".into(), arguments: "{}".into() };
            assert!(
                Reply { tool_calls: vec![call], ..Reply::said(blank, StopReason::ToolUse) }.usable().is_ok()
            );
        }
        assert!(Reply::said("\u{200b}yes", StopReason::End).usable().is_ok());
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage { input: 10_000, cached: 6_000, cache_write: 1_000, output: 500 };
        let price = Price { input: 3.0, cached: Some(0.3), cache_write: Some(3.75), output: 15.0 };
        let usd = price.of(&usage);
        assert!((usd - (3_000.0 * 3.0 + 6_000.0 * 0.3 + 1_000.0 * 3.75 + 500.0 * 15.0) / 1e6).abs() < 1e-12);
        let plain = Price { input: 1.0, cached: None, cache_write: None, output: 0.0 };
        assert!((plain.of(&usage) - 0.01).abs() < 1e-12);
        // A provider that counts badly costs nothing extra, and nothing negative.
        assert!(price.of(&Usage { input: 1, cached: 5, ..Usage::default() }) >= 0.0);
    }
}
