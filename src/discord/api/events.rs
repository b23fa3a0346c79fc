//! Converts serenity's events to [`GatewayEvent`]s. Pure.

use jiff::Timestamp;
use serde_json::{Value, json};
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

/// An interaction that serenity can't decode, without what Discord says of the person beside id and names.
fn plain_interaction(mut value: Value) -> Option<Interaction> {
    for place in ["/member/user", "/user"] {
        let Some(user) = value.pointer_mut(place) else { continue };
        let (id, username, global_name) = (&user["id"], &user["username"], &user["global_name"]);
        *user = json!({ "id": id, "username": username, "global_name": global_name, "avatar": null });
    }
    let read = serde_json::from_value(value);
    read.inspect_err(|error| tracing::warn!(%error, "a command or a button of Discord can't be read")).ok()
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
    use super::*;

    #[test]
    fn a_command_is_read_whatever_its_person_wears() {
        let event = json!({
            "id": "1", "application_id": "2", "type": 2, "data": { "id": "3", "type": 1, "name": "status" },
            "channel_id": "4", "token": "t", "version": 1, "app_permissions": "0", "locale": "en-GB",
            "entitlements": [], "authorizing_integration_owners": {}, "context": 0, "attachment_size_limit": 1,
            "user": { "id": "42", "username": "alice", "avatar": null, "global_name": "Alice",
                "avatar_decoration_data": { "asset": "new_form", "sku_id": null } },
        });
        assert!(serde_json::from_value::<Interaction>(event.clone()).is_err());
        let Some(Interaction::Command(command)) = plain_interaction(event) else { panic!("a command") };
        assert_eq!((command.user.id.get(), command.user.global_name.as_deref()), (42, Some("Alice")));
    }
}
