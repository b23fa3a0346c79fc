//! Reads Discord's messages, from JSON and from events: text, author, files, and the content outside of the text. Pure.
//!
//! The content outside of the text is forwards, polls, stickers, and the cards and components of other bots. Previews
//! that Discord makes of a person's links are left out. Reading is lenient: an added or changed field doesn't lose the
//! message, and a malformed message doesn't lose its page of history.

use jiff::Timestamp;
use serde_json::Value;

use super::snowflake;
use crate::format::log::FORWARDED;

/// Discord's limit on the content of one message, in UTF-16 units (the stricter way to count).
pub const CONTENT_LIMIT: usize = 2000;

/// The type of a thread's first message that shows the message on which it was made.
const STARTER: u64 = 21;

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

/// Untrusted words without markup and mentions: all punctuation but that of `plain` is escaped.
pub fn escaped(text: &str, plain: &str) -> String {
    let escaped = text.chars().flat_map(|c| {
        let is_mark = c.is_ascii_punctuation() && !plain.contains(c);
        is_mark.then_some('\\').into_iter().chain([c])
    });
    escaped.collect()
}

impl IncomingMessage {
    /// Reads a message object. None if it has no id, channel or author: then it can't be logged. The message with which a
    /// thread shows another one has the content of that one.
    pub fn from_json(value: &Value) -> Option<Self> {
        if value["type"] == STARTER
            && let Some(shown) = Self::from_json(&value["referenced_message"])
        {
            return Some(Self {
                id: id(&value["id"])?,
                channel: id(&value["channel_id"])?,
                kind: STARTER,
                ..shown
            });
        }
        let author = &value["author"];
        let reference = &value["message_reference"];
        // Type 1 is a forward, no answer.
        let reply_to =
            if reference["type"].as_u64() == Some(1) { None } else { id(&reference["message_id"]) };
        let bot = author["bot"].as_bool().unwrap_or(false) || id(&value["webhook_id"]).is_some();
        let files = list(&value["attachments"]).iter().chain(forwarded_files(value));
        Some(Self {
            id: id(&value["id"])?,
            channel: id(&value["channel_id"])?,
            guild: id(&value["guild_id"]),
            author: Author { id: id(&author["id"])?, name: name(value, author), bot },
            content: value["content"].as_str().unwrap_or_default().to_owned(),
            extras: extras(value, bot),
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
        matches!(self.kind, 0 | 19 | 20 | 23) || self.is_starter() && !self.is_blank()
    }

    /// Whether it only shows the message on which its thread was made.
    pub fn is_starter(&self) -> bool {
        self.kind == STARTER
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

/// The text of a message object outside of its `content`; empty for most. `by_bot` is whether a bot wrote it.
fn extras(message: &Value, by_bot: bool) -> String {
    let mut parts = vec![];
    parts.extend(list(&message["message_snapshots"]).iter().map(forwarded));
    parts.push(poll(&message["poll"]));
    parts.extend(list(&message["sticker_items"]).iter().map(|s| named("Sticker", &s["name"])));
    if by_bot {
        parts.extend(list(&message["embeds"]).iter().map(embed));
        parts.push(components(&message["components"]));
    }
    join(parts, "\n\n")
}

/// The files of forwarded messages.
fn forwarded_files(message: &Value) -> impl Iterator<Item = &Value> {
    list(&message["message_snapshots"]).iter().flat_map(|snapshot| list(&inner(snapshot)["attachments"]))
}

/// A forwarded message stands below `message`; serenity writes it without that level.
fn inner(snapshot: &Value) -> &Value {
    if snapshot["message"].is_object() { &snapshot["message"] } else { snapshot }
}

fn forwarded(snapshot: &Value) -> String {
    let message = inner(snapshot);
    let mut parts = vec![text(&message["content"]).to_owned()];
    parts.extend(list(&message["sticker_items"]).iter().map(|s| named("Sticker", &s["name"])));
    // The author isn't given, so only a missing text tells a bot's card from a link's preview.
    if parts[0].is_empty() {
        parts.extend(list(&message["embeds"]).iter().map(embed));
        parts.push(components(&message["components"]));
    }
    let quoted: String = join(parts, "\n").lines().map(|line| format!("\n> {line}")).collect();
    format!("{FORWARDED}{quoted}")
}

fn poll(poll: &Value) -> String {
    let question = text(&poll["question"]["text"]);
    if question.is_empty() {
        return String::new();
    }
    let answers = list(&poll["answers"]).iter().map(|answer| {
        let media = &answer["poll_media"];
        let emoji = text(&media["emoji"]["name"]);
        format!("- {}", join([emoji.to_owned(), text(&media["text"]).to_owned()], " "))
    });
    join(std::iter::once(format!("Poll: {question}")).chain(answers), "\n")
}

fn embed(embed: &Value) -> String {
    let kind = text(&embed["type"]);
    if !matches!(kind, "" | "rich" | "poll_result") {
        return String::new();
    }
    let mut parts = vec![
        text(&embed["author"]["name"]).to_owned(),
        linked(text(&embed["title"]), text(&embed["url"])),
        text(&embed["description"]).to_owned(),
    ];
    parts.extend(list(&embed["fields"]).iter().map(|field| {
        let (name, value) = (text(&field["name"]), text(&field["value"]));
        if name.is_empty() { value.to_owned() } else { format!("{name}: {value}") }
    }));
    parts.push(text(&embed["footer"]["text"]).to_owned());
    join(parts, "\n")
}

/// The text of components, nested ones included, in their order.
fn components(items: &Value) -> String {
    let word = |item: &Value| {
        let own = match item["type"].as_u64() {
            Some(2) => linked(&named("Button", &item["label"]), text(&item["url"])),
            Some(10) => text(&item["content"]).to_owned(),
            Some(3 | 5..=8) => named("Menu", &item["placeholder"]),
            _ => String::new(),
        };
        let more = |key: &str| components(&item[key]);
        let accessory = match &item["accessory"] {
            Value::Null => String::new(),
            one => components(&Value::Array(vec![one.clone()])),
        };
        join([own, more("components"), accessory], "\n")
    };
    join(list(items).iter().map(word), "\n")
}

fn named(what: &str, name: &Value) -> String {
    let name = text(name);
    if name.is_empty() { String::new() } else { format!("{what}: {name}") }
}

fn linked(title: &str, url: &str) -> String {
    if url.is_empty() { title.to_owned() } else { join([title.to_owned(), format!("<{url}>")], " ") }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default().trim()
}

fn join(parts: impl IntoIterator<Item = String>, by: &str) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(by)
}

/// The items of an array; none of anything else.
pub(in crate::discord) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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

    #[test]
    fn each_kind_of_words_is_found_and_a_preview_is_not() {
        let preview = json!({ "embeds": [{ "type": "article", "title": "A page" }] });
        assert_eq!(extras(&preview, true), "");
        let own_card = json!({ "embeds": [{ "type": "rich", "title": "A card" }] });
        assert_eq!(extras(&own_card, false), "", "a person has no cards");
        let message = json!({
            "message_snapshots": [{ "message": { "content": "what was said", "embeds": [{ "type": "link" }] } }],
            "poll": { "question": { "text": "Lunch?" }, "answers": [
                { "answer_id": 1, "poll_media": { "text": "Soup", "emoji": { "name": "🍜" } } },
                { "answer_id": 2, "poll_media": { "text": "None" } } ] },
            "sticker_items": [{ "id": "1", "name": "Wave", "format_type": 1 }],
            "embeds": [{ "type": "rich", "title": "Build", "url": "https://ci.example/7", "description": "It failed",
                "fields": [{ "name": "Branch", "value": "main" }], "footer": { "text": "CI" } }],
            "components": [{ "type": 17, "components": [
                { "type": 10, "content": "## Deploy" },
                { "type": 9, "components": [{ "type": 10, "content": "Ready" }],
                  "accessory": { "type": 2, "label": "Go", "style": 5, "url": "https://ci.example/go" } },
                { "type": 1, "components": [{ "type": 3, "placeholder": "Which?" }, { "type": 99 }] } ] }],
        });
        insta::assert_snapshot!(extras(&message, true), @r"
        Forwarded:
        > what was said

        Poll: Lunch?
        - 🍜 Soup
        - None

        Sticker: Wave

        Build <https://ci.example/7>
        It failed
        Branch: main
        CI

        ## Deploy
        Ready
        Button: Go <https://ci.example/go>
        Menu: Which?
        ");
        assert_eq!(extras(&json!({ "embeds": 3, "poll": [], "components": "x" }), true), "");
    }
}
