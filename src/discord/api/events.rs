//! Converts serenity's events to [`GatewayEvent`]s. Pure.

use jiff::Timestamp;
use serde_json::Value;
use serenity::all::{Event, Interaction};

use super::message::{self, IncomingMessage};

/// An event of the gateway.
#[derive(Debug)]
pub enum GatewayEvent {
    /// A new session: anything may have been missed.
    Ready {
        /// The bot's user id.
        user: u64,
        /// The bot's application.
        application: u64,
    },
    /// The old session goes on; missed events were replayed, as far as they could be decoded.
    Resumed,
    /// A message was written.
    Message(Box<IncomingMessage>),
    /// A message was edited.
    Edited {
        /// Its channel.
        channel: u64,
        /// Its id.
        id: u64,
        /// The id of its author, if Discord says so.
        author: Option<u64>,
        /// Its text now.
        content: String,
        /// Its current content outside of its text.
        extras: String,
        /// When it was edited.
        at: Timestamp,
    },
    /// Messages were deleted.
    Deleted {
        /// Their channel.
        channel: u64,
        /// Their ids.
        ids: Vec<u64>,
    },
    /// A thread was made or changed.
    Thread {
        /// Its id.
        id: u64,
        /// The channel that it belongs to.
        parent: Option<u64>,
        /// Its name.
        name: String,
    },
    /// A command, a button, or a command being typed.
    Interaction(Box<Interaction>),
    /// An event that can't be read; history has it.
    Lost {
        /// In which channel, if that much could be read.
        channel: Option<u64>,
        /// Whether it may have been an edit or a deletion.
        change: bool,
    },
}

pub(super) fn translate(event: Event, blind: bool) -> Option<GatewayEvent> {
    Some(match event {
        Event::Ready(event) => GatewayEvent::Ready {
            user: event.ready.user.id.get(),
            application: event.ready.application.id.get(),
        },
        Event::Resumed(_) => GatewayEvent::Resumed,
        Event::MessageCreate(event) => match IncomingMessage::from_serenity(&event.message) {
            // A message whose new kinds of components serenity can't decode stands in history as Discord wrote it.
            Some(message) if message.is_blank() && message.is_text() && !blind => {
                GatewayEvent::Lost { channel: Some(message.channel), change: false }
            }
            Some(message) => GatewayEvent::Message(Box::new(message)),
            None => GatewayEvent::Lost { channel: Some(event.message.channel_id.get()), change: false },
        },
        Event::MessageUpdate(event) => edited(&serde_json::to_value(&event).ok()?)?,
        // serenity hands on what it can't decode, as JSON.
        Event::Unknown(event) if CONVERSATION.contains(&event.kind.as_str()) => {
            let edit =
                (event.kind == "MESSAGE_UPDATE").then(|| IncomingMessage::from_json(&event.value)).flatten();
            if edit.is_some() {
                return edited(&event.value);
            }
            tracing::warn!(kind = event.kind, "an event of Discord can't be read; history is read instead");
            let change = !event.kind.ends_with("_CREATE");
            GatewayEvent::Lost { channel: message::id(&event.value["channel_id"]), change }
        }
        Event::Unknown(event) if event.kind == "INTERACTION_CREATE" => {
            GatewayEvent::Interaction(Box::new(plain_interaction(event.value)?))
        }
        Event::MessageDelete(event) => {
            GatewayEvent::Deleted { channel: event.channel_id.get(), ids: vec![event.message_id.get()] }
        }
        Event::MessageDeleteBulk(event) => GatewayEvent::Deleted {
            channel: event.channel_id.get(),
            ids: event.ids.iter().map(|id| id.get()).collect(),
        },
        Event::ThreadCreate(event) => thread(&event.thread),
        Event::ThreadUpdate(event) => thread(&event.thread),
        Event::InteractionCreate(event) => GatewayEvent::Interaction(Box::new(event.interaction)),
        _ => return None,
    })
}

/// An interaction that serenity can't decode, without what Discord says of people beside ids and names.
fn plain_interaction(mut value: Value) -> Option<Interaction> {
    make_plain(&mut value);
    let read = serde_json::from_value(value);
    read.inspect_err(|error| tracing::warn!(%error, "a command or a button of Discord can't be read")).ok()
}

/// Leaves of each person in `value` what is used; whom a message mentions and who wrote it are people, too.
fn make_plain(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(make_plain),
        Value::Object(fields) => {
            fields.remove("avatar_decoration_data");
            if fields.contains_key("id") && fields.contains_key("username") {
                fields.retain(|name, _| ["id", "username", "global_name", "bot"].contains(&name.as_str()));
            }
            fields.values_mut().for_each(make_plain);
        }
        _ => {}
    }
}

/// The events of conversations.
pub(super) const CONVERSATION: [&str; 6] = [
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_DELETE_BULK",
    "THREAD_CREATE",
    "THREAD_UPDATE",
];

/// An edit, from the JSON of its event; none if the text isn't part of it, or if Discord only added a preview: then it
/// has no instant.
pub(super) fn edited(event: &Value) -> Option<GatewayEvent> {
    let extras = IncomingMessage::from_json(event).map(|message| message.extras).unwrap_or_default();
    Some(GatewayEvent::Edited {
        channel: message::id(&event["channel_id"])?,
        id: message::id(&event["id"])?,
        author: message::id(&event["author"]["id"]),
        content: event["content"].as_str()?.to_owned(),
        extras,
        at: event["edited_timestamp"].as_str()?.parse().ok()?,
    })
}

pub(super) fn thread(thread: &serenity::all::GuildChannel) -> GatewayEvent {
    GatewayEvent::Thread {
        id: thread.id.get(),
        parent: thread.parent_id.map(serenity::all::ChannelId::get),
        name: thread.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_interaction_is_read_whatever_people_wear() {
        let worn = json!({ "asset": "new_form", "sku_id": null });
        let alice = json!({ "id": "42", "username": "alice", "avatar": null, "global_name": "Alice",
            "avatar_decoration_data": worn });
        let member = json!({ "user": alice, "roles": [], "joined_at": "2026-01-01T00:00:00Z", "deaf": false,
            "mute": false, "flags": 0, "permissions": "0", "avatar_decoration_data": worn });
        let message = json!({ "id": "5", "channel_id": "4", "author": alice, "content": "<@42> Call Mum",
            "timestamp": "2026-01-01T00:00:00Z", "edited_timestamp": null, "tts": false, "mention_everyone": false,
            "mentions": [alice], "mention_roles": [], "attachments": [], "embeds": [], "pinned": false, "type": 0,
            "interaction": { "id": "6", "type": 2, "name": "remind", "user": alice } });
        let read = |kind: u8, data: &Value, more: Value| {
            let mut event = json!({
                "id": "1", "application_id": "2", "type": kind, "data": data, "channel_id": "4", "token": "t",
                "version": 1, "app_permissions": "0", "locale": "en-GB", "entitlements": [],
                "authorizing_integration_owners": {}, "context": 0, "attachment_size_limit": 1,
            });
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let event: Event =
                serde_json::from_value(json!({ "t": "INTERACTION_CREATE", "d": event })).unwrap();
            assert!(matches!(event, Event::Unknown(_)), "serenity reads it");
            let Some(GatewayEvent::Interaction(read)) = translate(event, false) else { panic!("{data}") };
            *read
        };
        let status = json!({ "id": "3", "type": 1, "name": "status" });
        let Interaction::Command(command) = read(2, &status, json!({ "user": alice })) else { panic!() };
        assert_eq!((command.user.id.get(), command.user.global_name.as_deref()), (42, Some("Alice")));
        let button = json!({ "custom_id": "done", "component_type": 2 });
        let of_guild = json!({ "guild_id": "9", "member": member, "message": message });
        let Interaction::Component(pressed) = read(3, &button, of_guild) else { panic!() };
        assert_eq!((pressed.user.id.get(), pressed.message.mentions[0].name.as_str()), (42, "alice"));
        let remember = json!({ "id": "3", "type": 3, "name": "Remember", "target_id": "5", "resolved":
            { "messages": { "5": message }, "users": { "42": alice } } });
        let Interaction::Command(command) = read(2, &remember, json!({ "user": alice })) else { panic!() };
        assert_eq!(command.data.resolved.messages.values().next().unwrap().author.id.get(), 42);
    }
}
