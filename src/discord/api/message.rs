//! Defines a Discord message, as the bot uses it.
//!
//! Live events and history are both converted to this type, leniently from JSON: an added or changed field doesn't lose
//! the message, and one odd message doesn't lose its page of history.

use jiff::Timestamp;
use serde_json::Value;

pub(in crate::discord) use super::content::list;
use super::{content, snowflake};

/// Discord's limit on the content of one message, in UTF-16 units (the stricter way to count).
pub const CONTENT_LIMIT: usize = 2000;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingMessage {
    /// Its id.
    pub id: u64,
    /// The channel, thread or DM that it stands in.
    pub channel: u64,
    /// The server; history and DMs have none.
    pub guild: Option<u64>,
    /// Its author.
    pub author: Author,
    /// Its raw text.
    pub content: String,
    /// Its content outside of its text: forwards, a poll, another bot's cards.
    pub extras: String,
    /// Users whom it mentions.
    pub mentions: Vec<u64>,
    /// Roles that it mentions.
    pub role_mentions: Vec<u64>,
    /// Its attached files.
    pub attachments: Vec<Attachment>,
    /// The message that it answers.
    pub reply_to: Option<u64>,
    /// The id of that message's author.
    pub reply_author: Option<u64>,
    /// The ids of its buttons.
    pub custom_ids: Vec<String>,
    /// The nonce that it was made with, if Discord says it.
    pub nonce: Option<String>,
    /// Discord's message type: 0 ordinary, 19 a reply, others are notices of the system.
    pub kind: u64,
    /// When it was last edited.
    pub edited: Option<Timestamp>,
}

/// The author of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The user's id; for a webhook its id.
    pub id: u64,
    /// The display name, else the user name.
    pub name: String,
    /// Whether it is a bot or a webhook.
    pub bot: bool,
}

/// A file on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// Its address.
    pub url: String,
    /// Its media type, where known.
    pub media_type: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// The path in the vault where it is kept, once it is.
    pub kept_path: Option<String>,
}

/// Untrusted words without markup and mentions: all signs but these are escaped.
pub fn escaped(text: &str, plain: &str) -> String {
    let escaped = text.chars().flat_map(|c| {
        let is_mark = c.is_ascii_punctuation() && !plain.contains(c);
        is_mark.then_some('\\').into_iter().chain([c])
    });
    escaped.collect()
}

impl IncomingMessage {
    /// Reads a message object. None if it has no id, channel or author: then it can't be logged.
    pub fn from_json(value: &Value) -> Option<Self> {
        let author = &value["author"];
        let reference = &value["message_reference"];
        // Type 1 is a forward, no answer.
        let reply_to =
            if reference["type"].as_u64() == Some(1) { None } else { id(&reference["message_id"]) };
        let bot = author["bot"].as_bool().unwrap_or(false) || id(&value["webhook_id"]).is_some();
        let files = list(&value["attachments"]).iter().chain(content::forwarded_files(value));
        Some(Self {
            id: id(&value["id"])?,
            channel: id(&value["channel_id"])?,
            guild: id(&value["guild_id"]),
            author: Author { id: id(&author["id"])?, name: name(value, author), bot },
            content: value["content"].as_str().unwrap_or_default().to_owned(),
            extras: content::extras(value, bot),
            mentions: list(&value["mentions"]).iter().filter_map(|user| id(&user["id"])).collect(),
            role_mentions: list(&value["mention_roles"]).iter().filter_map(id).collect(),
            attachments: files.filter_map(Attachment::from_json).collect(),
            reply_to,
            reply_author: id(&value["referenced_message"]["author"]["id"]),
            custom_ids: custom_ids(&value["components"]),
            nonce: nonce(&value["nonce"]),
            kind: value["type"].as_u64().unwrap_or_default(),
            edited: value["edited_timestamp"].as_str().and_then(|text| text.parse().ok()),
        })
    }

    /// Reads a message that serenity has decoded.
    pub fn from_serenity(message: &serenity::all::Message) -> Option<Self> {
        Self::from_json(&serde_json::to_value(message).ok()?)
    }

    /// All of its text, as the log shows it, without the bot's own buttons.
    pub fn words(&self, bot: u64) -> String {
        words(&self.content, if self.author.id == bot { "" } else { &self.extras })
    }

    /// Whether it has no visible content.
    pub fn is_blank(&self) -> bool {
        self.content.is_empty() && self.extras.is_empty() && self.attachments.is_empty()
    }

    /// A message of the bot's own that was just sent, as its channel shows it.
    pub fn own(id: u64, channel: u64, bot: u64, name: &str, content: &str, reply_to: Option<u64>) -> Self {
        let reference = reply_to.map(|to| serde_json::json!({ "message_id": to.to_string() }));
        let value = serde_json::json!({
            "id": id.to_string(), "channel_id": channel.to_string(), "content": content, "type": 0,
            "author": { "id": bot.to_string(), "username": name, "bot": true },
            "message_reference": reference,
        });
        Self::from_json(&value).expect("it has an id, a channel and an author")
    }

    /// When it was written.
    pub fn at(&self) -> Timestamp {
        snowflake::time_of(self.id)
    }

    /// Whether it holds a person's or bot's words; other kinds are notices such as "Alice pinned a message".
    pub fn is_text(&self) -> bool {
        matches!(self.kind, 0 | 19 | 20 | 23)
    }
}

impl Attachment {
    fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            name: value["filename"].as_str()?.to_owned(),
            url: value["url"].as_str()?.to_owned(),
            media_type: value["content_type"].as_str().map(str::to_owned),
            bytes: value["size"].as_u64().unwrap_or_default(),
            kept_path: None,
        })
    }
}

/// A message's text with its content outside of it.
pub fn words(content: &str, extras: &str) -> String {
    match (content.is_empty(), extras.is_empty()) {
        (_, true) => content.to_owned(),
        (true, false) => extras.to_owned(),
        (false, false) => format!("{content}\n\n{extras}"),
    }
}

/// An id as Discord writes it: a string of digits; a number is taken too.
pub fn id(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn custom_ids(rows: &Value) -> Vec<String> {
    let items = list(rows).iter().flat_map(|row| list(&row["components"]));
    items.filter_map(|item| item["custom_id"].as_str().map(str::to_owned)).collect()
}

fn nonce(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}

fn name(message: &Value, author: &Value) -> String {
    let places = [&message["member"]["nick"], &author["global_name"], &author["username"]];
    let name = places.iter().find_map(|place| place.as_str()).unwrap_or("someone");
    // The log's header is one line.
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    name.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_of_another_shape_is_read_as_far_as_it_goes() {
        let message = IncomingMessage::from_json(&json!({
            "id": "10", "channel_id": "20", "author": { "id": 30, "username": "ann" }, "content": null,
            "attachments": [{ "filename": 3 }, { "filename": "a.png", "url": "u", "size": 9 }],
            "mentions": "none", "type": "?", "components": [{ "type": 99 }],
        }))
        .unwrap();
        assert_eq!((message.id, message.author.id, message.author.name.as_str()), (10, 30, "ann"));
        assert_eq!(message.attachments.len(), 1);
        assert!(IncomingMessage::from_json(&json!({ "id": "10" })).is_none());
    }

    #[test]
    fn a_forward_is_no_answer() {
        let mut value = json!({ "id": "10", "channel_id": "20", "author": { "id": "30" },
            "message_reference": { "type": 1, "message_id": "5" } });
        assert_eq!(IncomingMessage::from_json(&value).unwrap().reply_to, None);
        value["message_reference"]["type"] = json!(0);
        assert_eq!(IncomingMessage::from_json(&value).unwrap().reply_to, Some(5));
    }
}
