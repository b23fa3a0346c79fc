//! Defines a request to a model, independent of providers: system text, messages, tools, and the length and the schema
//! of the answer.
//!
//! A request also has the cache breakpoint: the end of the part that a provider caches. A request is a value. Its
//! canonical bytes (JSON, keys sorted, no spaces) depend on nothing else. So the hash of these bytes proves whether a
//! request that was rebuilt from files equals the request that was sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request: the whole input of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The model's persona and rules.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools that it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// The index of the last message before the cache point: the messages up to there come again next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_after: Option<usize>,
    /// The longest answer; without one the provider's own (or, where a wire demands a number, 8,192).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// The JSON schema that the answer has to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A person's message, or its stand-in.
    User {
        /// Its parts, in order.
        parts: Vec<MessagePart>,
    },
    /// A model's answer.
    Assistant {
        /// The words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// The calls that it asked for, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// The answer as the provider sent it; it goes back to the same endpoint unchanged, within a turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawTurn>,
    },
    /// The tools' results: one for each call of the message before.
    ToolResults {
        /// The results, in the order of the calls.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// A person's words.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { parts: vec![MessagePart::Text { text: text.into() }] }
    }

    /// A model's words.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant { text: text.into(), tool_calls: Vec::new(), raw: None }
    }
}

/// A part of a person's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessagePart {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    Image {
        /// `image/png`, `image/jpeg`, …
        media_type: String,
        /// The picture's bytes in base64.
        base64: String,
    },
}

impl MessagePart {
    /// A picture of a type that brains take, by its first bytes; `None` for any other file.
    pub fn picture(bytes: &[u8]) -> Option<Self> {
        let media_type = match bytes {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return None,
        };
        let base64 = data_encoding::BASE64.encode(bytes);
        Some(Self::Image { media_type: media_type.to_owned(), base64 })
    }
}

/// A call that a model asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, or one of ours where it gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON, unless the model made a mistake. Never empty.
    pub arguments: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// The tool's text.
    pub text: String,
    /// It failed, and the text says how.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// A tool's description for a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `[a-zA-Z0-9_-]`, at most 64.
    pub name: String,
    /// Its purpose and when to use it.
    pub description: String,
    /// The JSON schema of its arguments: an object.
    pub schema: Value,
}

/// An answer's own items as a provider sent them: signatures, encrypted reasoning, fields that we don't know.
/// Opaque to its holder; only the wire that made it looks inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawTurn {
    /// `messages`, `responses` or `chat`.
    pub wire: String,
    /// The URL and the model that sent them. Another one couldn't read them, and gets the neutral form.
    pub endpoint: String,
    /// Content blocks, output items, or one message.
    pub items: Vec<Value>,
}

impl Request {
    /// One question without tools, under these rules.
    pub fn single(
        system: impl Into<String>,
        text: impl Into<String>,
        max_output_tokens: Option<u32>,
    ) -> Self {
        let messages = vec![Message::user(text)];
        Self { system: system.into(), messages, max_output_tokens, ..Self::default() }
    }

    /// The bytes that are hashed and shown: JSON with sorted keys and without spaces.
    pub fn canonical(&self) -> String {
        // A `Value`'s objects are sorted maps; a test holds the bytes fast in case a dependency changes that.
        serde_json::to_value(self).map_or_else(|_| String::new(), |value| value.to_string())
    }

    /// The BLAKE3 hash of the canonical bytes, in hexadecimal.
    pub fn hash(&self) -> String {
        blake3::hash(self.canonical().as_bytes()).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_canonical_bytes_are_sorted_and_stay_as_they_are() {
        let request = Request {
            system: "S".into(),
            messages: vec![
                Message::user("q"),
                Message::Assistant {
                    text: String::new(),
                    tool_calls: vec![ToolCall {
                        id: "c1".into(),
                        name: "look".into(),
                        arguments: "{}".into(),
                    }],
                    raw: Some(RawTurn {
                        wire: "chat".into(),
                        endpoint: "u m".into(),
                        items: vec![json!({"z": 1, "a": 2})],
                    }),
                },
                Message::ToolResults {
                    results: vec![ToolResult { call_id: "c1".into(), text: "r".into(), is_error: false }],
                },
            ],
            tools: vec![ToolSpec {
                name: "look".into(),
                description: "d".into(),
                schema: json!({"type": "object"}),
            }],
            cache_after: Some(0),
            max_output_tokens: None,
            schema: None,
        };
        assert_eq!(
            request.canonical(),
            r#"{"cache_after":0,"messages":[{"parts":[{"text":"q","type":"text"}],"role":"user"},{"raw":{"endpoint":"u m","items":[{"a":2,"z":1}],"wire":"chat"},"role":"assistant","tool_calls":[{"arguments":"{}","id":"c1","name":"look"}]},{"results":[{"call_id":"c1","text":"r"}],"role":"tool_results"}],"system":"S","tools":[{"description":"d","name":"look","schema":{"type":"object"}}]}"#
        );
        assert_eq!(request.hash().len(), 64);
        let back: Request = serde_json::from_str(&request.canonical()).unwrap();
        assert_eq!(back, request);
        assert_eq!(back.hash(), request.hash());
    }
}
