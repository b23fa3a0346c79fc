//! Encodes and decodes the three HTTP formats of providers (pure), and makes the HTTP calls.
//!
//! [`WireFormat::encode`] turns a request into a path and a JSON body. A [`Decoder`] is a machine over event-stream events: it
//! keeps a provider's items as raw JSON and gives our events. Neither knows sockets or time; [`http`] does.
//!
//! - `messages`, `responses`, `chat`: one file a format; `parts`: what they have in common.

pub mod chat;
pub mod http;
pub mod messages;
mod parts;
pub mod responses;

use serde_json::Value;

use super::event::{BrainError, BrainEvent, FailureClass, Reply};
use super::request::Request;
use crate::words::words;
pub use http::{BrainEndpoint, BrainTimeouts, WireBrain};
pub(crate) use parts::data_url;

words! {
    /// Which format.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WireFormat, name {
        /// Anthropic's Messages.
        Messages = "messages",
        /// OpenAI's Responses.
        Responses = "responses",
        /// OpenAI's Chat Completions, spoken by everything local too.
        Chat = "chat",
    }
}

impl WireFormat {
    /// The path behind the version in a URL.
    fn path(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat/completions",
        }
    }

    /// The whole URL of `base`, which may end in a version (`/v1`, `/v1beta/openai`) or not, or be whole already.
    pub fn url(self, base: &str) -> String {
        let base = base.trim().trim_end_matches('/');
        let path = self.path();
        let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
        let is_version = |piece: &str| {
            piece.strip_prefix('v').is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()))
        };
        if rest.ends_with(&format!("/{path}")) {
            base.to_owned()
        } else if rest.split('/').skip(1).any(is_version) {
            format!("{base}/{path}")
        } else {
            format!("{base}/v1/{path}")
        }
    }

    /// The JSON body of `request` for `model` at `base`.
    pub fn encode(self, request: &Request, base: &str, model: &str) -> Value {
        let id = endpoint(base, model);
        match self {
            Self::Messages => messages::encode(request, model, &id),
            Self::Responses => responses::encode(request, model, &id),
            Self::Chat => chat::encode(request, base, model, &id),
        }
    }

    /// A machine for one answer to `request`.
    pub fn decoder(self, request: &Request, base: &str, model: &str) -> Box<dyn Decoder> {
        let id = endpoint(base, model);
        match self {
            Self::Messages => Box::new(messages::MessagesDecoder::new(id, model)),
            Self::Responses => Box::new(responses::ResponsesDecoder::new(id, model)),
            Self::Chat => Box::new(chat::ChatDecoder::new(id, model, request.messages.len())),
        }
    }
}

/// The name of an endpoint in [`crate::brain::RawTurn`].
fn endpoint(base: &str, model: &str) -> String {
    format!("{} {model}", base.trim().trim_end_matches('/'))
}

/// A machine over the events of one answer. However the bytes were cut, the events are the same.
pub trait Decoder: Send {
    /// Decodes one event: its name and its data. Pushes our events.
    ///
    /// # Errors
    /// The provider reports an error, or the event can't be read. The answer is lost.
    fn event(&mut self, name: &str, data: &Value, out: &mut Vec<BrainEvent>) -> Result<(), BrainError>;

    /// Takes a whole answer at once: what comes where the server doesn't stream.
    ///
    /// # Errors
    /// It is an error, or no answer.
    fn whole(&mut self, body: &Value, out: &mut Vec<BrainEvent>) -> Result<(), BrainError>;

    /// The data `[DONE]`: nothing follows.
    fn done(&mut self) {}

    /// Whether the answer is whole, so that the end of the stream is no cut.
    fn is_whole(&self) -> bool;

    /// Whether nothing more is awaited.
    fn is_over(&self) -> bool {
        self.is_whole()
    }

    /// The answer.
    ///
    /// # Errors
    /// It isn't whole.
    fn finish(&mut self) -> Result<Reply, BrainError>;
}

/// The stream ended before the answer did.
pub(crate) fn cut() -> BrainError {
    BrainError::new(FailureClass::Crash, "the answer was cut off before its end")
}

/// An answer that isn't one.
pub(crate) fn unreadable(what: &str) -> BrainError {
    BrainError::new(FailureClass::Crash, format!("the answer can't be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_with_and_without_a_version() {
        let table = [
            ("https://api.anthropic.com", WireFormat::Messages, "https://api.anthropic.com/v1/messages"),
            ("https://api.openai.com/v1/", WireFormat::Responses, "https://api.openai.com/v1/responses"),
            ("http://127.0.0.1:8080", WireFormat::Chat, "http://127.0.0.1:8080/v1/chat/completions"),
            (
                "https://openrouter.ai/api/v1",
                WireFormat::Chat,
                "https://openrouter.ai/api/v1/chat/completions",
            ),
            ("https://openrouter.ai/api", WireFormat::Chat, "https://openrouter.ai/api/v1/chat/completions"),
            (
                "https://g.example/v1beta/openai",
                WireFormat::Chat,
                "https://g.example/v1beta/openai/chat/completions",
            ),
            ("https://v1.example", WireFormat::Chat, "https://v1.example/v1/chat/completions"),
            ("http://h/v1/chat/completions", WireFormat::Chat, "http://h/v1/chat/completions"),
        ];
        for (base, wire, url) in table {
            assert_eq!(wire.url(base), url);
        }
    }
}
