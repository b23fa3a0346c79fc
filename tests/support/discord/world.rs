//! What the server knows: one guild with its roles and channels, users, messages, nonces, commands, interactions,
//! and the gateway's sessions; and how each looks in JSON.

use super::faults::GatewayFault;
use super::gateway::Out;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// Milliseconds from the Unix epoch to Discord's.
pub const EPOCH_MS: u64 = 1_420_070_400_000;
/// The first id of 2026: things with small ids in tests are of that day.
const YEAR_2026: u64 = (1_767_225_600_000 - EPOCH_MS) << 22;

/// One request, as it came and was answered.
#[derive(Debug, Clone)]
pub struct Record {
    pub at: std::time::Instant,
    pub method: String,
    pub path: String,
    pub body: Value,
    pub status: u16,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Dm,
    Thread,
}

/// What the bot may do in a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    #[default]
    Full,
    /// 404, 10003
    Missing,
    /// 403, 50001
    Hidden,
    /// 403, 50013 on posting
    NoSend,
    /// An empty history, with no error; 403, 160002 on a reply.
    NoHistory,
    /// 403, 50007: the person takes no DMs.
    DmRefused,
}

#[derive(Debug, Default)]
pub struct Channel {
    pub id: u64,
    pub kind: Kind,
    pub name: String,
    pub parent: Option<u64>,
    pub archived: bool,
    /// When it was archived, where a test says so.
    pub archived_at: Option<u64>,
    pub locked: bool,
    pub access: Access,
    pub recipient: u64,
    pub messages: BTreeMap<u64, Value>,
}

#[derive(Debug)]
pub struct Session {
    pub seq: u64,
    pub replay: VecDeque<(u64, String)>,
    pub tx: Option<mpsc::UnboundedSender<Out>>,
}

#[derive(Debug, Default)]
pub struct Interaction {
    pub token: String,
    pub callback: Option<Value>,
    pub edited: Option<Value>,
    pub followups: Vec<Value>,
    pub message: u64,
    pub channel: u64,
}

/// Everything that the server knows.
#[derive(Default)]
pub struct World {
    pub token: String,
    pub bot: u64,
    pub application: u64,
    pub guild: u64,
    pub bot_role: u64,
    pub other_role: u64,
    pub users: BTreeMap<u64, String>,
    pub bots: HashSet<u64>,
    pub channels: BTreeMap<u64, Channel>,
    pub webhook: (u64, String, u64),
    pub commands: Vec<Value>,
    pub command_writes: usize,
    pub interactions: HashMap<u64, Interaction>,
    pub typing: Vec<(u64, std::time::Instant)>,
    /// Files of messages, by their path below `/attachments/`.
    pub files: HashMap<String, Vec<u8>>,
    /// Who would have been pinged, in order: user ids, `@everyone`, `&role`.
    pub pings: Vec<String>,
    pub nonces: HashMap<(u64, String), (u64, u64)>,
    /// How long a nonce is remembered.
    pub nonce_window: Duration,
    /// Whether history and answers carry the nonce.
    pub nonce_in_history: bool,
    pub heartbeat_ms: u64,
    pub ws_url: String,
    pub sessions: HashMap<String, Session>,
    pub held: Option<(String, Value)>,
    pub event_faults: VecDeque<GatewayFault>,
    pub refuse_gateway: bool,
    pub message_content_enabled: bool,
    /// Whether the bot is in the server.
    pub invited: bool,
    pub intents: u64,
    pub identifies: usize,
    /// Its clock, where that isn't the machine's: when it was set, to which millisecond, and how fast it runs.
    clock: Option<(Instant, u64, u32)>,
    increment: u64,
}

impl World {
    /// A guild (1000) with a channel (2000), its bot (500, with role 600), the owner Alice (42) and a stranger (66).
    pub fn new(ws_url: String) -> Self {
        let mut world = Self {
            token: "token-of-the-bot.for-tests.0000000000".into(),
            bot: 500,
            application: 501,
            guild: 1000,
            bot_role: 600,
            other_role: 601,
            users: BTreeMap::from([(42, "Alice".into()), (66, "Mallory".into()), (500, "Vault".into())]),
            bots: HashSet::from([500]),
            webhook: (700, "webhook-token".into(), 2000),
            nonce_window: Duration::from_secs(180),
            nonce_in_history: true,
            heartbeat_ms: 41_250,
            ws_url,
            message_content_enabled: true,
            invited: true,
            ..Self::default()
        };
        world.add_channel(2000, Kind::Text, "assistant", None);
        world
    }

    pub fn add_channel(&mut self, id: u64, kind: Kind, name: &str, parent: Option<u64>) {
        self.channels.insert(id, Channel { id, kind, name: name.into(), parent, ..Channel::default() });
    }

    /// A thread of a channel; `announce` sends THREAD_CREATE.
    pub fn add_thread(&mut self, id: u64, parent: u64, name: &str, announce: bool) {
        self.add_channel(id, Kind::Thread, name, Some(parent));
        if announce {
            self.dispatch("THREAD_CREATE", &self.channel_json(id));
        }
    }

    /// Archives a thread now.
    pub fn archive(&mut self, id: u64) {
        let now = self.now_ms();
        let thread = self.channel_mut(id);
        (thread.archived, thread.archived_at) = (true, Some(now));
    }

    /// A message as a bot without the intent to read messages gets it: without what others wrote, unless it is
    /// written to it.
    pub fn veiled(&self, mut message: Value, may_read: bool) -> Value {
        let channel = message["channel_id"].as_str().and_then(|c| c.parse().ok()).unwrap_or_default();
        let dm = self.channels.get(&channel).is_some_and(|c| c.kind == Kind::Dm);
        let own = message["author"]["id"] == json!(self.bot.to_string());
        let mentions = message["mentions"].as_array().into_iter().flatten();
        let named = mentions.into_iter().any(|user| user["id"] == json!(self.bot.to_string()));
        if !(may_read || dm || own || named) {
            for key in ["content", "attachments", "embeds", "components"] {
                if let Some(value) = message.get_mut(key) {
                    *value = if key == "content" { json!("") } else { json!([]) };
                }
            }
        }
        message
    }

    pub fn channel_mut(&mut self, id: u64) -> &mut Channel {
        self.channels.get_mut(&id).expect("a channel of this world")
    }

    /// Sets the server's clock, which the ids come from; without it the machine's is used.
    pub fn set_now(&mut self, at: jiff::Timestamp) {
        self.run_fast(at, 0);
    }

    /// Sets the server's clock, which runs so many times as fast as time does; at 0 it stands still.
    pub fn run_fast(&mut self, at: jiff::Timestamp, times: u32) {
        self.clock = Some((Instant::now(), at.as_millisecond().unsigned_abs(), times));
    }

    pub fn now_ms(&self) -> u64 {
        let system = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let ms = |(since, start, times): (Instant, u64, u32)| {
            start + since.elapsed().as_millis() as u64 * u64::from(times)
        };
        self.clock.map_or_else(system, ms)
    }

    /// A new id of the present moment.
    pub fn snowflake(&mut self) -> u64 {
        self.increment += 1;
        ((self.now_ms() - EPOCH_MS) << 22) | (self.increment & 0x3f_ffff)
    }

    pub fn time_of(id: u64) -> String {
        let at = jiff::Timestamp::from_millisecond(i64::try_from((id >> 22) + EPOCH_MS).unwrap()).unwrap();
        at.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
    }

    pub fn user(&self, id: u64) -> Value {
        let name = self.users.get(&id).cloned().unwrap_or_else(|| format!("user{id}"));
        json!({
            "id": id.to_string(), "username": name.to_lowercase(), "global_name": name, "discriminator": "0",
            "avatar": null, "public_flags": 0, "flags": 0, "primary_guild": null, "bot": self.bots.contains(&id),
        })
    }

    pub fn member(&self, id: u64) -> Value {
        let roles = if id == self.bot { vec![self.bot_role.to_string()] } else { vec![] };
        json!({
            "avatar": null, "banner": null, "communication_disabled_until": null, "flags": 0,
            "joined_at": "2026-01-01T00:00:00.000000+00:00", "nick": null, "pending": false,
            "premium_since": null, "roles": roles, "user": self.user(id), "mute": false, "deaf": false,
        })
    }

    pub fn role(&self, id: u64, name: &str, bot: Option<u64>) -> Value {
        // See, send, read history, send in threads, and some that the bot doesn't need.
        let usual: u64 = (1 << 6) | (1 << 10) | (1 << 11) | (1 << 14) | (1 << 16) | (1 << 38);
        let permissions = if id == self.guild { usual } else { 0 };
        let mut role = json!({
            "id": id.to_string(), "name": name, "permissions": permissions.to_string(), "position": 1, "color": 0,
            "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
            "hoist": false, "managed": bot.is_some(), "mentionable": true, "icon": null,
            "unicode_emoji": null, "flags": 0,
        });
        if let Some(bot) = bot {
            role["tags"] = json!({ "bot_id": bot.to_string() });
        }
        role
    }

    pub fn channel_json(&self, id: u64) -> Value {
        let channel = &self.channels[&id];
        match channel.kind {
            Kind::Text => json!({
                "id": id.to_string(), "type": 0, "flags": 0, "guild_id": self.guild.to_string(), "name": channel.name,
                "position": 0, "permission_overwrites": self.overwrites(channel.access), "nsfw": false, "rate_limit_per_user": 0, "topic": null,
                "parent_id": null, "last_message_id": channel.messages.keys().last().map(u64::to_string),
            }),
            Kind::Dm => json!({
                "id": id.to_string(), "type": 1, "flags": 0, "recipients": [self.user(channel.recipient)],
                "last_message_id": null,
            }),
            Kind::Thread => json!({
                "id": id.to_string(), "type": 11, "flags": 0, "guild_id": self.guild.to_string(),
                "name": channel.name, "parent_id": channel.parent.map(|p| p.to_string()),
                "owner_id": "42", "message_count": 0, "member_count": 1, "total_message_sent": 0,
                "rate_limit_per_user": 0, "last_message_id": channel.messages.keys().last().map(u64::to_string),
                "thread_metadata": {
                    "archived": channel.archived,
                    "archive_timestamp": Self::time_of(channel.archived_at.map_or(YEAR_2026, |ms| (ms - EPOCH_MS) << 22)),
                    "auto_archive_duration": 1440, "locked": channel.locked,
                    "create_timestamp": Self::time_of(if id > YEAR_2026 { id } else { YEAR_2026 }),
                },
            }),
        }
    }

    /// What a channel's settings take from the bot's role.
    fn overwrites(&self, access: Access) -> Value {
        let deny: u64 = match access {
            Access::NoSend => 1 << 11,
            Access::NoHistory => 1 << 16,
            _ => return json!([]),
        };
        json!([{ "id": self.bot_role.to_string(), "type": 0, "allow": "0", "deny": deny.to_string() }])
    }

    /// A message as it will be stored, not yet stored.
    pub fn message(&mut self, channel: u64, author: u64, body: &Value) -> Value {
        let id = self.snowflake();
        let content = body["content"].as_str().unwrap_or_default();
        let users = self.users.keys().filter(|u| content.contains(&format!("<@{u}>")));
        let mentioned: Vec<Value> = users.map(|u| self.user(*u)).collect();
        let mut roles = vec![self.bot_role.to_string(), self.other_role.to_string()];
        roles.retain(|role| content.contains(&format!("<@&{role}>")));
        let mut message = json!({
            "id": id.to_string(), "channel_id": channel.to_string(), "author": self.user(author), "type": 0,
            "content": content, "timestamp": Self::time_of(id), "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": mentioned, "mention_roles": roles, "attachments": [],
            "embeds": [], "flags": 0, "components": [], "pinned": false,
        });
        if let Some(reference) = body.get("message_reference").filter(|r| r.is_object()) {
            let original = reference["message_id"].as_str().and_then(|r| r.parse().ok());
            let found = original.and_then(|r: u64| self.channels[&channel].messages.get(&r)).cloned();
            message["type"] = json!(19);
            message["message_reference"] = json!({
                "type": 0, "channel_id": channel.to_string(), "message_id": reference["message_id"],
                "guild_id": self.guild.to_string(),
            });
            message["referenced_message"] = found.unwrap_or(Value::Null);
        }
        if let Some(attachments) = body["attachments"].as_array() {
            message["attachments"] = json!(attachments);
        }
        if body["message_reference"]["type"] == json!(1) {
            message["type"] = json!(0);
            message["message_reference"]["type"] = json!(1);
            message.as_object_mut().unwrap().remove("referenced_message");
        }
        let taken = "mentions mention_roles webhook_id embeds message_snapshots sticker_items type referenced_message";
        for key in taken.split(' ') {
            if let Some(value) = body.get(key) {
                message[key] = value.clone();
            }
        }
        message["components"] = numbered(body.get("components").cloned().unwrap_or(json!([])));
        if let Some(nonce) = body.get("nonce").filter(|n| !n.is_null() && self.nonce_in_history) {
            message["nonce"] = nonce.clone();
        }
        message
    }

    /// Stores a message and tells the gateway, if it is to.
    pub fn store(&mut self, message: Value, announce: bool) -> u64 {
        let id: u64 = message["id"].as_str().unwrap().parse().unwrap();
        let channel: u64 = message["channel_id"].as_str().unwrap().parse().unwrap();
        self.channel_mut(channel).messages.insert(id, message.clone());
        if announce {
            self.dispatch("MESSAGE_CREATE", &self.in_guild(channel, message));
        }
        id
    }

    pub fn edit(&mut self, channel: u64, id: u64, body: &Value) -> Option<Value> {
        let now = Self::time_of((self.now_ms() - EPOCH_MS) << 22);
        let message = self.channel_mut(channel).messages.get_mut(&id)?;
        if let Some(content) = body["content"].as_str() {
            message["content"] = json!(content);
            message["edited_timestamp"] = json!(now);
        }
        if let Some(components) = body.get("components") {
            message["components"] = numbered(components.clone());
        }
        let message = message.clone();
        self.dispatch("MESSAGE_UPDATE", &self.in_guild(channel, message.clone()));
        Some(message)
    }

    pub fn delete(&mut self, channel: u64, id: u64) -> bool {
        let gone = self.channel_mut(channel).messages.remove(&id).is_some();
        if gone {
            let event = json!({ "id": id.to_string(), "channel_id": channel.to_string() });
            self.dispatch("MESSAGE_DELETE", &self.in_guild(channel, event));
        }
        gone
    }

    fn in_guild(&self, channel: u64, mut event: Value) -> Value {
        if self.channels[&channel].kind != Kind::Dm {
            event["guild_id"] = json!(self.guild.to_string());
        }
        event
    }

    /// Notes who a message would have pinged.
    pub fn count_pings(&mut self, content: &str, allowed: Option<&Value>, webhook: bool) {
        let lists = |key: &str, word: &str| {
            allowed.and_then(|a| a[key].as_array()).is_some_and(|l| l.iter().any(|v| v == word))
        };
        let parse = |kind: &str| lists("parse", kind) || allowed.is_none() && (!webhook || kind == "users");
        if parse("everyone") && (content.contains("@everyone") || content.contains("@here")) {
            self.pings.push("@everyone".into());
        }
        let roles = [self.bot_role, self.other_role].map(|id| ("roles", format!("&{id}"), id));
        let users = self.users.keys().map(|id| ("users", id.to_string(), *id));
        let is_pinged = |(kind, said, id): &(&str, String, u64)| {
            content.contains(&format!("<@{said}>")) && (parse(kind) || lists(kind, &id.to_string()))
        };
        let pinged = roles.into_iter().chain(users).filter(is_pinged);
        self.pings.extend(pinged.map(|(_, said, _)| said));
    }

    /// The DM channel with a person, made on first use.
    pub fn dm(&mut self, user: u64) -> u64 {
        let known = self.channels.values().find(|c| c.kind == Kind::Dm && c.recipient == user).map(|c| c.id);
        known.unwrap_or_else(|| {
            let id = 9_000_000 + user;
            self.add_channel(id, Kind::Dm, "", None);
            self.channel_mut(id).recipient = user;
            id
        })
    }

    /// Starts an interaction: `data` is the interaction's `data`, with `type`, `user`, `channel` beside it.
    pub fn interact(&mut self, request: Value) -> u64 {
        let id = self.snowflake();
        let (user, channel) = (request["user"].as_u64().unwrap(), request["channel"].as_u64().unwrap());
        let token = format!("interaction-token-{id}");
        let mut event = json!({
            "id": id.to_string(), "application_id": self.application.to_string(), "type": request["type"],
            "data": request["data"], "channel_id": channel.to_string(), "token": token, "version": 1,
            "app_permissions": "0", "locale": "en-GB", "entitlements": [], "authorizing_integration_owners": {},
            "context": 0, "attachment_size_limit": 10485760,
        });
        if self.channels[&channel].kind == Kind::Dm {
            event["user"] = self.user(user);
        } else {
            event["guild_id"] = json!(self.guild.to_string());
            event["member"] = self.member(user);
            event["member"]["permissions"] = json!("0");
        }
        let message = request["message"].as_u64().unwrap_or_default();
        if let Some(message) = self.channels[&channel].messages.get(&message) {
            event["message"] = message.clone();
        }
        self.interactions.insert(id, Interaction { token, message, channel, ..Interaction::default() });
        self.dispatch("INTERACTION_CREATE", &event);
        id
    }
}

/// Components as they come back: each with an id.
fn numbered(mut components: Value) -> Value {
    let mut next = 0;
    for row in components.as_array_mut().into_iter().flatten() {
        next += 1;
        row["id"] = json!(next);
        for item in row["components"].as_array_mut().into_iter().flatten() {
            next += 1;
            item["id"] = json!(next);
        }
    }
    components
}
