//! What the server is told to say, and how to fail.

use crate::support::prelude::*;

/// A way to fail on the socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Never says anything, and stays.
    Hang,
    /// Says so many bytes, then nothing more, and stays.
    HangAfter(usize),
    /// Closes after so many bytes of the head.
    CutHead(usize),
    /// Closes after so many bytes, in the middle of the body.
    Cut(usize),
    /// Ends the body properly after so many bytes.
    EndEarly(usize),
    /// Resets the connection at once.
    Reset,
}

/// One scripted reply.
#[must_use]
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<(String, Value)>,
    /// Input in all, of it cached, output.
    pub usage: Option<(u64, u64, u64)>,
    /// In OpenAI's words: `stop`, `length`, `content_filter`, …; the calls' by itself.
    pub stop: Option<String>,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub fault: Fault,
    /// Before anything is said.
    pub pause: Option<Duration>,
    /// After each piece.
    pub slow: Option<Duration>,
    /// How many bytes are written at once, again and again; everything where it is empty.
    pub pieces: Vec<usize>,
    /// One JSON instead of a stream.
    pub whole: bool,
    /// An error event in the place of the end: its type and message.
    pub error: Option<(String, String)>,
    /// Chat alone: neither index nor ids, no usage, no `[DONE]`.
    pub bare: bool,
    /// Content type and bytes, as they are.
    pub verbatim: Option<(String, Vec<u8>)>,
}

impl Reply {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), usage: Some((120, 100, 7)), status: 200, ..Self::default() }
    }

    /// A call of a tool.
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::text("").and_tool(name, arguments)
    }

    /// An error by its status, with an empty body.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::text("") }
    }

    /// A long answer that is cut after so many bytes.
    pub fn cut_after(bytes: usize) -> Self {
        Self::text("This will never be read to its end. ".repeat(50)).cut(bytes)
    }

    /// Never answers.
    pub fn hang() -> Self {
        Self::text("").fault(Fault::Hang)
    }

    /// Resets the connection.
    pub fn reset() -> Self {
        Self::text("").fault(Fault::Reset)
    }

    /// A stream of things that are no events of any wire.
    pub fn garbage() -> Self {
        Self::raw(
            "text/event-stream",
            "data: {\"type\": \"mess\n\ndata: <html>\n\n\u{0}\u{1}event event event\n\n",
        )
    }

    /// These bytes.
    pub fn raw(content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { verbatim: Some((content_type.to_owned(), bytes.into())), ..Self::text("") }
    }

    /// Some words, then an error within the stream: `overloaded_error`, `rate_limit_exceeded`, …
    pub fn error_event(kind: &str, message: &str) -> Self {
        Self { error: Some((kind.to_owned(), message.to_owned())), ..Self::text("Half an answer, then") }
    }

    /// One more call.
    pub fn and_tool(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push((name.into(), arguments));
        self
    }

    pub fn reasoning(self, reasoning: impl Into<String>) -> Self {
        Self { reasoning: reasoning.into(), ..self }
    }

    /// Tokens: input in all, of it cached, output.
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        Self { usage: Some((input, cached, output)), ..self }
    }

    pub fn stop(self, stop: &str) -> Self {
        Self { stop: Some(stop.to_owned()), ..self }
    }

    /// An error's body.
    pub fn body(self, body: impl Into<String>) -> Self {
        Self { text: body.into(), ..self }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    pub fn fault(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// Closes in the middle of the body.
    pub fn cut(self, bytes: usize) -> Self {
        self.fault(Fault::Cut(bytes))
    }

    /// Waits before it says anything.
    pub fn after(self, pause: Duration) -> Self {
        Self { pause: Some(pause), ..self }
    }

    /// Waits after each piece of so many bytes.
    pub fn slow(self, bytes: usize, pause: Duration) -> Self {
        Self { slow: Some(pause), pieces: vec![bytes], ..self }
    }

    /// Writes so many bytes at once, again and again.
    pub fn pieces(self, pieces: Vec<usize>) -> Self {
        Self { pieces, ..self }
    }

    /// Not streamed.
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// As the plainest of chat servers: whole calls without index and id, no usage, no `[DONE]`.
    pub fn bare(self) -> Self {
        Self { bare: true, usage: None, ..self }
    }
}
