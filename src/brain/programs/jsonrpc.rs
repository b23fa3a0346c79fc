//! Exchanges JSON-RPC messages with a child process: requests and notifications both ways.
//!
//! [`super::process`] reads and writes the lines; this module parses them. The field `jsonrpc` is sent to a child that
//! needs it, and is never required of the child. A line that is JSON but no message is ignored.

use serde_json::{Value, json};

use super::process::Child;
use crate::brain::Result;

/// JSON-RPC's code for an unknown method.
pub const NO_SUCH_METHOD: i64 = -32601;

/// A message from the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerMessage {
    /// It wants an answer.
    Request {
        /// Its id, to be given back as it is.
        id: Value,
        /// Its method.
        method: String,
        /// Of what.
        params: Value,
    },
    /// A notification, without an answer.
    Notification {
        /// Its method.
        method: String,
        /// Of what.
        params: Value,
    },
    /// It answers.
    Answer {
        /// The number of our request.
        id: u64,
        /// Its answer.
        answer: Result<Value, RpcFailure>,
    },
}

/// The other side's refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcFailure {
    /// The error's code.
    pub code: i64,
    /// Its message, unscrubbed.
    pub message: String,
    /// Additional data.
    pub data: Value,
}

/// Parses a line; none if it is no message.
pub fn read(mut line: Value) -> Option<PeerMessage> {
    let method = line.get("method").and_then(Value::as_str).map(str::to_owned);
    let id = line.get("id").filter(|id| id.is_u64() || id.is_i64() || id.is_string()).cloned();
    let mut take = |key: &str| line.get_mut(key).map(Value::take).unwrap_or_default();
    match (method, id) {
        (Some(method), Some(id)) => Some(PeerMessage::Request { id, method, params: take("params") }),
        (Some(method), None) => Some(PeerMessage::Notification { method, params: take("params") }),
        (None, id) => {
            // Our numbers; an agent may give them back as text.
            let id = id?;
            let id = id.as_u64().or_else(|| id.as_str()?.parse().ok())?;
            let error = take("error");
            let answer = if error.is_null() {
                line.get("result")?;
                Ok(line["result"].take())
            } else {
                Err(RpcFailure {
                    code: error["code"].as_i64().unwrap_or_default(),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                    data: error["data"].clone(),
                })
            };
            Some(PeerMessage::Answer { id, answer })
        }
    }
}

/// A child process that speaks JSON-RPC.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    versioned: bool,
    asked: u64,
}

impl Peer {
    /// A child; `versioned` where its messages have to name JSON-RPC's version.
    pub fn new(child: Child, versioned: bool) -> Self {
        Self { child, versioned, asked: 0 }
    }

    /// Sends a request. Returns the number that its answer will have.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        self.send(json!({"id": self.asked, "method": method, "params": params}));
        self.asked
    }

    /// Sends a notification without parameters.
    pub fn notify(&self, method: &str) {
        self.send(json!({"method": method}));
    }

    /// Answers a request.
    pub fn answer(&self, id: &Value, result: &Value) {
        self.send(json!({"id": id, "result": result}));
    }

    /// Answers a request that we don't know.
    pub fn refuse(&self, id: &Value, method: &str) {
        let message = format!("this client has no `{method}`");
        self.send(json!({"id": id, "error": {"code": NO_SUCH_METHOD, "message": message}}));
    }

    fn send(&self, mut message: Value) {
        if self.versioned {
            message["jsonrpc"] = "2.0".into();
        }
        self.child.send(&message);
    }

    /// The next message. May be dropped and called again without loss.
    ///
    /// # Errors
    /// The child ended, was silent for too long, or took too long.
    pub async fn next(&mut self) -> Result<PeerMessage> {
        loop {
            let Some(line) = self.child.next().await? else { return Err(self.child.crashed().await) };
            match read(line) {
                Some(heard) => return Ok(heard),
                None => tracing::debug!("a line that is no message was passed over"),
            }
        }
    }

    /// Lets the child end by itself, for a while, and ends it.
    pub async fn end(self) {
        self.child.end().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_message_is_known_with_and_without_a_version() {
        for version in [json!({}), json!({"jsonrpc": "2.0"})] {
            let read = |mut line: Value| {
                line.as_object_mut().unwrap().extend(version.as_object().unwrap().clone());
                read(line)
            };
            assert_eq!(
                read(json!({"id": "r-1", "method": "may", "params": {"a": 1}})),
                Some(PeerMessage::Request {
                    id: json!("r-1"),
                    method: "may".into(),
                    params: json!({"a": 1})
                })
            );
            assert_eq!(
                read(json!({"id": 0, "method": "may"})),
                Some(PeerMessage::Request { id: json!(0), method: "may".into(), params: Value::Null })
            );
            assert_eq!(
                read(json!({"method": "told", "params": [1]})),
                Some(PeerMessage::Notification { method: "told".into(), params: json!([1]) })
            );
            assert_eq!(
                read(json!({"id": 7, "result": null})),
                Some(PeerMessage::Answer { id: 7, answer: Ok(Value::Null) })
            );
            assert_eq!(
                read(json!({"id": "7", "error": {"code": -3, "message": "no", "data": [1]}})),
                Some(PeerMessage::Answer {
                    id: 7,
                    answer: Err(RpcFailure { code: -3, message: "no".into(), data: json!([1]) })
                })
            );
        }
    }

    #[test]
    fn what_is_no_message_is_nothing() {
        for line in [
            json!(3),
            json!([]),
            json!({}),
            json!({"id": 1}),
            json!({"id": null, "result": 1}),
            json!({"id": "x", "result": 1}),
            json!({"id": -1, "result": 1}),
            json!({"method": 4}),
            json!("method"),
        ] {
            assert_eq!(read(line.clone()), None, "{line}");
        }
    }
}
