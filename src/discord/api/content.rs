//! Reads a message's content outside of its text: forwards, polls, stickers, and the cards and components of other
//! bots. Pure.
//!
//! Lenient like all reading of Discord's JSON: unknown parts are left out. Previews that Discord makes of a person's
//! links are left out, too.

use serde_json::Value;

/// The text of a message object outside of its `content`; empty for most. `by_bot` is whether a bot wrote it.
pub fn extras(message: &Value, by_bot: bool) -> String {
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
pub fn forwarded_files(message: &Value) -> impl Iterator<Item = &Value> {
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
    format!("Forwarded:\n{}", join(parts, "\n")).trim_end().to_owned()
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
    use super::*;
    use serde_json::json;

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
        what was said

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
