//! Makes the HTTP call to a model's API, with its time limits and errors.
//!
//! [`text`] prepares the bytes of an event stream: it refuses invalid UTF-8 and streams that are too long. A crate then
//! splits the text into events.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use eventsource_stream::{EventStream, EventStreamError};
use futures_util::{FutureExt, Stream, StreamExt};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{Decoder, WireFormat, unreadable, without_thoughts};
use crate::brain::classify;
use crate::brain::scrub::{scrub, scrub_reply};
use crate::brain::{BrainError, CallProgress, FailureClass, Reply, Request, Result, StopReason};
use crate::clock::Clock;
use crate::defaults::defaults;
use crate::format::lenient_json;

/// No answer is longer, in bytes of its stream.
const MOST_BYTES: usize = 16 << 20;
/// The longest part of an error that is read.
const MOST_ERROR_BYTES: usize = 64 << 10;
/// How long a whole answer waits for the usage that may follow it.
const AFTER_WHOLE: Duration = Duration::from_secs(3);

defaults! {
    /// The time limits of a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct BrainTimeouts {
        /// Until the first byte of the answer.
        pub first_byte: Duration = Duration::from_secs(30),
        /// Between two events.
        pub silence: Duration = Duration::from_secs(180),
        /// In all.
        pub overall: Duration = Duration::from_secs(600),
    }
}

/// A brain behind a wire: one server with one model and one key. Making it opens nothing.
#[derive(Debug)]
pub struct WireBrain {
    /// The format.
    pub wire: WireFormat,
    /// Its server, with or without `/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// Local servers want none.
    pub key: Option<SecretString>,
    /// Its time limits.
    pub timeouts: BrainTimeouts,
    /// The [`client`] of all wires.
    pub client: reqwest::Client,
    /// The time, from which a date of `Retry-After` counts.
    pub clock: Arc<dyn Clock>,
}

/// The client for all wires: it follows no redirect, which would carry the key elsewhere.
///
/// # Errors
/// The system has no TLS to offer.
pub fn client() -> Result<reqwest::Client> {
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    builder
        .build()
        .map_err(|error| BrainError::new(FailureClass::Crash, format!("there is no HTTP client: {error}")))
}

impl WireBrain {
    fn key(&self) -> &str {
        self.key.as_ref().map_or("", |key| key.expose_secret())
    }

    async fn ask(&self, request: &Request, progress: &mut CallProgress) -> Result<Reply> {
        let Self { wire, url, model, .. } = self;
        let mut post = self.client.post(wire.url(url)).json(&wire.encode(request, url, model));
        post = match wire {
            WireFormat::Messages => post.header("anthropic-version", "2023-06-01"),
            WireFormat::Responses | WireFormat::Chat => post,
        };
        post = match (wire, self.key()) {
            (_, "") => post,
            (WireFormat::Messages, key) => post.header("x-api-key", key),
            (_, key) => post.bearer_auth(key),
        };
        let sent = timeout(self.timeouts.first_byte, post.header("accept", "text/event-stream").send()).await;
        let Ok(sent) = sent else { return Err(late("no answer began", self.timeouts.first_byte)) };
        let response = sent.map_err(|error| broken(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        let mut decoder = wire.decoder(request, url, model);
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.contains("json") && !kind.contains("event-stream")) {
            let read = timeout(self.timeouts.silence, body(response, MOST_BYTES)).await;
            let Ok(bytes) = read else { return Err(late("the answer stopped", self.timeouts.silence)) };
            let value: Value = lenient_json::from_slice(&bytes?).map_err(|_| unreadable("it is no JSON"))?;
            // An error counts as no progress.
            let mut told = *progress;
            decoder.whole(&value, &mut told)?;
            *progress = told;
            return decoder.finish();
        }
        fail::fail_point!("brain::before-stream");
        self.stream(response, decoder, progress).await
    }

    async fn stream(
        &self,
        response: reqwest::Response,
        mut decoder: Box<dyn Decoder>,
        progress: &mut CallProgress,
    ) -> Result<Reply> {
        let mut stream = EventStream::new(Box::pin(text(response.bytes_stream())));
        let mut joiner = lenient_json::Joiner::default();
        let mut heard = Instant::now();
        while !decoder.is_over() {
            let patience = if decoder.is_whole() {
                AFTER_WHOLE.min(self.timeouts.silence)
            } else {
                self.timeouts.silence
            };
            let event = match timeout_at(heard + patience, stream.next()).await {
                // After a whole answer, further events are welcome and not needed.
                Err(_) | Ok(Some(Err(_))) if decoder.is_whole() => break,
                Ok(None) => break,
                Err(_) => return Err(late("the answer stopped", self.timeouts.silence)),
                Ok(Some(Err(EventStreamError::Transport(error)))) => return Err(error),
                Ok(Some(Err(_))) => return Err(no_text()),
                Ok(Some(Ok(event))) => event,
            };
            let data = event.data.trim();
            if data == "[DONE]" {
                decoder.done();
            } else if !data.is_empty() {
                let whole = joiner.join(data);
                let read = lenient_json::from_slice(whole.as_bytes());
                let read = read.map_err(|_| unreadable("an event is no JSON"));
                let mut told = *progress;
                let took = read.and_then(|value: Value| {
                    decoder.event(&event.event, &value, &mut told)?;
                    Ok(brings_something(&event.event, &value))
                });
                let is_news = match took {
                    Err(_) if decoder.is_whole() => break,
                    took => took?,
                };
                if is_news || told != *progress {
                    heard = Instant::now();
                }
                *progress = told;
            }
        }
        decoder.finish()
    }

    /// Reads an error's text, as far as it comes in time.
    async fn refused(&self, response: reqwest::Response) -> BrainError {
        let status = response.status().as_u16();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (after, after_ms) = (header("retry-after"), header("retry-after-ms"));
        let read = timeout(self.timeouts.first_byte, body(response, MOST_ERROR_BYTES)).await;
        let bytes = read.ok().and_then(Result::ok).unwrap_or_default();
        let error = classify::status(status, &String::from_utf8_lossy(&bytes), &[self.key()]);
        let retry_after = classify::wait(after.as_deref(), after_ms.as_deref(), self.clock.now());
        BrainError { retry_after, ..error }
    }

    /// Asks once. `progress` says how far the call came, also where it brings no answer.
    ///
    /// # Errors
    /// Why there is no answer, classed, with a message that holds no key. After `cancel` the call ends at once with
    /// [`BrainError::cancelled`]; dropping the future ends it too.
    pub async fn call(
        &self,
        request: &Request,
        progress: &mut CallProgress,
        cancel: CancellationToken,
    ) -> Result<Reply> {
        // An answer that this program fails at takes no more with it than itself.
        let asked =
            AssertUnwindSafe(timeout(self.timeouts.overall, self.ask(request, progress))).catch_unwind();
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(BrainError::cancelled()),
            answer = asked => answer.unwrap_or_else(|_| Ok(Err(unreadable("it made this program fail")))),
        };
        let answer = answer.unwrap_or_else(|_| Err(late("the answer wasn't whole", self.timeouts.overall)));
        let reply =
            answer.map_err(|error| BrainError { message: scrub(&error.message, &[self.key()]), ..error })?;
        let mut reply = scrub_reply(reply, self.key());
        reply.text = without_thoughts(&reply.text, reply.stop == StopReason::Length).to_owned();
        reply.sanitize();
        Ok(reply)
    }
}

/// Whether an event brings a part of the answer. A server or a proxy that hangs sends signs of life alone, for ever.
fn brings_something(name: &str, data: &Value) -> bool {
    fn says(value: &Value) -> bool {
        match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(all) => all.iter().any(says),
            Value::Object(all) => {
                all.iter().any(|(key, value)| !matches!(key.as_str(), "role" | "type") && says(value))
            }
            _ => false,
        }
    }
    let kind = data["type"].as_str().unwrap_or(name);
    let part = if data["choices"].is_array() { &data["choices"] } else { &data["delta"] };
    match kind {
        "ping" | "keepalive" | "response.in_progress" | "response.queued" => false,
        _ if part.is_null() => data["type"].is_string(),
        _ => says(part),
    }
}

/// The body, which may be cut at `most` bytes.
async fn body(response: reqwest::Response, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(more) = stream.next().await {
        bytes.extend_from_slice(&more.map_err(|error| broken(&error))?);
        if bytes.len() > most {
            bytes.truncate(most);
            break;
        }
    }
    Ok(bytes)
}

/// The text of a stream of bytes in [`whole_lines`]. An empty line is added at the end, so that a last event without one
/// counts too.
fn text<B: AsRef<[u8]>>(
    bytes: impl Stream<Item = Result<B, reqwest::Error>>,
) -> impl Stream<Item = Result<String>> {
    let mut count = 0;
    let bounded = bytes.map(move |piece| {
        let piece = piece.map_err(|error| broken(&error))?;
        count += piece.as_ref().len();
        if count > MOST_BYTES { Err(unreadable("it is too long")) } else { Ok(piece) }
    });
    let end = futures_util::stream::once(async { Ok(b"\n\n".to_vec()) });
    whole_lines(bounded).chain(end).map(|lines| String::from_utf8(lines?).map_err(|_| no_text()))
}

/// A stream's bytes in whole lines, and at its end what no line's end follows: the framing reads an unfinished line
/// again with each piece that comes. Without byte order marks at its beginning, at which the framing panics.
pub(crate) fn whole_lines<B: AsRef<[u8]>, E>(
    bytes: impl Stream<Item = Result<B, E>>,
) -> impl Stream<Item = Result<Vec<u8>, E>> {
    let end = futures_util::stream::once(async { None });
    let (mut carried, mut has_begun) = (Vec::new(), false);
    let whole = bytes.map(Some).chain(end).map(move |piece| {
        let Some(piece) = piece.transpose()? else { return Ok(std::mem::take(&mut carried)) };
        let piece = piece.as_ref();
        let (ended, rest) = piece.split_at(memchr::memrchr2(b'\n', b'\r', piece).map_or(0, |at| at + 1));
        if ended.is_empty() {
            carried.extend_from_slice(rest);
            return Ok(Vec::new());
        }
        carried.extend_from_slice(ended);
        Ok(std::mem::replace(&mut carried, rest.to_vec()))
    });
    whole.map(move |lines| {
        let mut lines: Vec<u8> = lines?;
        while !has_begun && lines.starts_with(b"\xef\xbb\xbf") {
            lines.drain(..3);
        }
        has_begun |= !lines.is_empty();
        Ok(lines)
    })
}

fn no_text() -> BrainError {
    unreadable("it is no text")
}

fn late(what: &str, limit: Duration) -> BrainError {
    BrainError::new(FailureClass::Timeout, format!("{what} within {limit:?}"))
}

/// A connection that failed, without its URL, which may carry a key.
fn broken(error: &reqwest::Error) -> BrainError {
    if error.is_timeout() {
        return BrainError::new(FailureClass::Timeout, "there was no answer in time");
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let what = if error.is_builder() {
        "the URL is wrong"
    } else if error.is_connect() {
        "there is no connection"
    } else {
        "the connection broke"
    };
    BrainError::new(FailureClass::Crash, format!("{what} ({cause})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_unfinished_line_is_handed_on_when_it_ends() {
        let pieces = ["\u{feff}", "\u{feff}a", "b\nc", "", "d\r", "\n\u{feff}e\n\nf", "g"].map(Ok::<_, ()>);
        let lines = whole_lines(futures_util::stream::iter(pieces));
        let lines: Vec<String> = lines.map(|it| String::from_utf8(it.unwrap()).unwrap()).collect().await;
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        assert_eq!(lines, ["ab\n", "cd\r", "\n\u{feff}e\n\n", "fg"]);
    }
}
