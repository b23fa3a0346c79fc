//! The API's endpoints, as far as the bot uses them: a request and the world in, an answer out.

use super::world::{Access, Kind, World};
use serde_json::{Value, json};

pub struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub authorization: &'a str,
    pub body: &'a Value,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

impl Answer {
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, headers: vec![], body }
    }
}

/// What is done, or the refusal.
type Outcome<T = Answer> = Result<T, Answer>;

fn ok(body: Value) -> Outcome {
    Ok(Answer::new(200, body))
}

fn done() -> Outcome {
    Ok(Answer::new(204, Value::Null))
}

fn error(status: u16, code: u64, message: &str) -> Answer {
    Answer::new(status, json!({ "message": message, "code": code }))
}

fn unknown_message() -> Answer {
    error(404, 10008, "Unknown Message")
}

fn refuse_if(holds: bool, status: u16, code: u64, message: &str) -> Outcome<()> {
    if holds { Err(error(status, code, message)) } else { Ok(()) }
}

impl Request<'_> {
    fn param(&self, name: &str) -> Option<u64> {
        let pairs = self.query.split('&').filter_map(|p| p.split_once('='));
        pairs.filter(|(k, _)| *k == name).find_map(|(_, v)| v.parse().ok())
    }
}

/// The answer.
pub fn answer(world: &mut World, request: &Request<'_>) -> Answer {
    answered(world, request).unwrap_or_else(|refused| refused)
}

fn answered(world: &mut World, request: &Request<'_>) -> Outcome {
    let segments: Vec<&str> = request.path.split('/').filter(|s| !s.is_empty()).collect();
    let id = |at: usize| segments.get(at).and_then(|s: &&str| s.parse::<u64>().ok()).unwrap_or_default();
    let open = matches!(segments.first(), Some(&("interactions" | "webhooks" | "gateway")));
    let is_known = open || request.authorization == format!("Bot {}", world.token);
    refuse_if(!is_known, 401, 0, "401: Unauthorized")?;
    match (request.method, segments.as_slice()) {
        ("GET", ["gateway"]) => ok(json!({ "url": world.ws_url })),
        ("GET", ["users", "@me"]) => {
            let mut me = world.user(world.bot);
            me["mfa_enabled"] = json!(false);
            me["locale"] = json!("en-GB");
            ok(me)
        }
        ("GET", ["users", "@me", "guilds"]) => {
            let server = json!({
                "id": world.guild.to_string(), "name": "Home", "icon": null, "banner": null, "owner": false,
                "permissions": "0", "features": [],
            });
            ok(json!(if world.invited { vec![server] } else { Vec::new() }))
        }
        ("POST", ["users", "@me", "channels"]) => create_dm(world, request),
        ("GET", ["oauth2", "applications", "@me"]) => ok(application(world)),
        ("GET", ["channels", _]) => {
            reach(world, id(1))?;
            ok(world.channel_json(id(1)))
        }
        ("POST", ["channels", _, "typing"]) => {
            reach(world, id(1))?;
            world.typing.push((id(1), std::time::Instant::now()));
            done()
        }
        ("POST", ["channels", _, "messages"]) => create_message(world, id(1), request),
        ("GET", ["channels", _, "messages"]) => history(world, id(1), request),
        ("GET", ["channels", _, "messages", _]) => get_message(world, id(1), id(3)),
        ("PATCH", ["channels", _, "messages", _]) => edit_message(world, id(1), id(3), request),
        ("DELETE", ["channels", _, "messages", _]) => {
            refuse_if(!world.delete(id(1), id(3)), 404, 10008, "Unknown Message")?;
            done()
        }
        ("GET", ["channels", _, "threads", "archived", "public"]) => archived_threads(world, id(1), request),
        (_, ["guilds", ..]) if id(1) != world.guild => Err(error(404, 10004, "Unknown Guild")),
        (_, ["applications", _, "guilds", ..]) if id(3) != world.guild => {
            Err(error(403, 50001, "Missing Access"))
        }
        ("GET", ["guilds", _, "channels"]) => {
            let seen = |c: &&super::world::Channel| c.kind == Kind::Text && reach(world, c.id).is_ok();
            ok(world.channels.values().filter(seen).map(|c| world.channel_json(c.id)).collect())
        }
        ("GET", ["guilds", _, "threads", "active"]) => {
            let open = world.channels.values().filter(|c| c.kind == Kind::Thread && !c.archived);
            let threads: Vec<Value> = open.map(|c| world.channel_json(c.id)).collect();
            ok(json!({ "threads": threads, "members": [], "has_more": false }))
        }
        ("GET", ["guilds", _, "roles"]) => ok(json!([
            world.role(world.guild, "@everyone", None),
            world.role(world.bot_role, "Vault", Some(world.bot)),
            world.role(world.other_role, "Friends", None),
        ])),
        ("GET", ["guilds", _, "members", _]) => ok(world.member(id(3))),
        ("PUT", ["applications", _, "commands"] | ["applications", _, "guilds", _, "commands"]) => {
            put_commands(world, request)
        }
        ("POST", ["interactions", _, token, "callback"]) => callback(world, id(1), token, request),
        ("PATCH", ["webhooks", _, token, "messages", "@original"]) => edit_original(world, token, request),
        ("POST", ["webhooks", _, token]) => execute_webhook(world, id(1), token, request),
        _ => Err(error(404, 0, "404: Not Found")),
    }
}

fn application(world: &World) -> Value {
    let flags = if world.message_content_enabled { 1 << 19 } else { 0 };
    json!({
        "id": world.application.to_string(), "name": "Vault", "icon": null, "description": "", "type": null,
        "verify_key": "0", "flags": flags, "flags_new": flags.to_string(), "redirect_uris": [],
        "interactions_endpoint_url": null, "role_connections_verification_url": null, "owner": world.user(42),
        "approximate_guild_count": 1, "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0, "explicit_content_filter": 0, "team": null,
        "eligible_oauth2_scopes": [], "bot_public": false, "bot_require_code_grant": false,
    })
}

/// Whether the bot may see a channel at all.
fn reach(world: &World, channel: u64) -> Outcome<Access> {
    match world.channels.get(&channel).map(|c| c.access) {
        None | Some(Access::Missing) => Err(error(404, 10003, "Unknown Channel")),
        Some(Access::Hidden) => Err(error(403, 50001, "Missing Access")),
        Some(access) => Ok(access),
    }
}

fn create_dm(world: &mut World, request: &Request<'_>) -> Outcome {
    let user = request.body["recipient_id"].as_str().and_then(|u| u.parse().ok()).unwrap_or_default();
    refuse_if(!world.users.contains_key(&user), 400, 50033, "Invalid Recipient(s)")?;
    let id = world.dm(user);
    ok(world.channel_json(id))
}

fn create_message(world: &mut World, channel: u64, request: &Request<'_>) -> Outcome {
    let (access, is_reply) = (reach(world, channel)?, !request.body["message_reference"].is_null());
    refuse_if(access == Access::NoSend, 403, 50013, "Missing Permissions")?;
    refuse_if(access == Access::DmRefused, 403, 50007, "Cannot send messages to this user")?;
    let words = "Cannot reply without permission to read message history";
    refuse_if(access == Access::NoHistory && is_reply, 403, 160_002, words)?;
    refuse_if(world.channels[&channel].locked, 403, 160_005, "Thread is locked")?;
    let content = request.body["content"].as_str().unwrap_or_default();
    refuse_if(content.is_empty(), 400, 50006, "Cannot send an empty message")?;
    refuse_long(content)?;
    let nonce = request.body["nonce"].as_str().map(str::to_owned);
    let enforced = request.body["enforce_nonce"].as_bool() == Some(true);
    let now = world.now_ms();
    let remembered = |at: u64| now.saturating_sub(at) <= world.nonce_window.as_millis() as u64;
    let earlier =
        nonce.as_ref().filter(|_| enforced).and_then(|nonce| world.nonces.get(&(channel, nonce.clone())));
    if let Some((id, _)) = earlier.filter(|(_, at)| remembered(*at)) {
        return ok(world.channels[&channel].messages.get(id).ok_or_else(unknown_message)?.clone());
    }
    world.channel_mut(channel).archived = false;
    world.count_pings(content, request.body.get("allowed_mentions").filter(|a| !a.is_null()), false);
    let message = world.message(channel, world.bot, request.body);
    let id = world.store(message.clone(), true);
    if let Some(nonce) = nonce.filter(|_| enforced) {
        world.nonces.insert((channel, nonce), (id, now));
    }
    ok(message)
}

fn refuse_long(content: &str) -> Outcome<()> {
    let words = "Invalid Form Body: content must be 2000 or fewer in length";
    refuse_if(content.encode_utf16().count() > 2000, 400, 50035, words)
}

fn history(world: &World, channel: u64, request: &Request<'_>) -> Outcome {
    if reach(world, channel)? == Access::NoHistory {
        return ok(json!([]));
    }
    let limit = request.param("limit").unwrap_or(50).clamp(1, 100) as usize;
    let messages = &world.channels[&channel].messages;
    let mut page: Vec<&Value> = match (request.param("after"), request.param("before")) {
        (Some(after), _) => messages.range(after + 1..).take(limit).map(|(_, m)| m).collect(),
        (None, before) => {
            messages.range(..before.unwrap_or(u64::MAX)).rev().take(limit).map(|(_, m)| m).collect()
        }
    };
    page.sort_by_key(|m| std::cmp::Reverse(m["id"].as_str().unwrap().parse::<u64>().unwrap()));
    let page: Vec<Value> =
        page.into_iter().map(|m| world.veiled(m.clone(), world.message_content_enabled)).collect();
    ok(json!(page))
}

/// One message of history; unlike a page of it, this says whether the bot may read history at all.
fn get_message(world: &World, channel: u64, id: u64) -> Outcome {
    refuse_if(reach(world, channel)? == Access::NoHistory, 403, 50001, "Missing Access")?;
    let message = world.channels[&channel].messages.get(&id).ok_or_else(unknown_message)?;
    ok(world.veiled(message.clone(), world.message_content_enabled))
}

/// Newest first by the time of archiving, a page before a time.
fn archived_threads(world: &World, parent: u64, request: &Request<'_>) -> Outcome {
    reach(world, parent)?;
    let before = request.query.split('&').find_map(|pair| pair.strip_prefix("before="));
    let before = before.map(|before| before.replace("%3A", ":").replace("%2B", "+"));
    let limit = request.param("limit").unwrap_or(50) as usize;
    let ids = world.channels.values().filter(|c| c.parent == Some(parent) && c.archived).map(|c| c.id);
    let mut threads: Vec<Value> = ids.map(|id| world.channel_json(id)).collect();
    let at = |thread: &Value| thread["thread_metadata"]["archive_timestamp"].as_str().unwrap().to_owned();
    threads.sort_by_key(|thread| std::cmp::Reverse(at(thread)));
    threads.retain(|thread| before.as_ref().is_none_or(|before| at(thread) < *before));
    let more = threads.len() > limit;
    threads.truncate(limit);
    ok(json!({ "threads": threads, "members": [], "has_more": more }))
}

fn edit_message(world: &mut World, channel: u64, id: u64, request: &Request<'_>) -> Outcome {
    reach(world, channel)?;
    refuse_if(world.channels[&channel].archived, 400, 50083, "Thread is archived")?;
    ok(world.edit(channel, id, request.body).ok_or_else(unknown_message)?)
}

fn put_commands(world: &mut World, request: &Request<'_>) -> Outcome {
    world.command_writes += 1;
    let mut full = |command: &Value| {
        let (id, version) = (world.snowflake().to_string(), world.snowflake().to_string());
        let mut full = json!({ "type": 1, "description": "", "default_member_permissions": null });
        let own = json!({ "id": id, "version": version, "application_id": world.application.to_string() });
        let parts = command.as_object().into_iter().chain(own.as_object()).flatten();
        parts.for_each(|(key, value)| full[key] = value.clone());
        full
    };
    world.commands = request.body.as_array().into_iter().flatten().map(&mut full).collect();
    ok(json!(world.commands))
}

fn callback(world: &mut World, id: u64, token: &str, request: &Request<'_>) -> Outcome {
    let interaction = world.interactions.get_mut(&id).filter(|i| i.token == token);
    let interaction = interaction.ok_or_else(|| error(404, 10062, "Unknown interaction"))?;
    refuse_if(interaction.callback.is_some(), 400, 40060, "Interaction has already been acknowledged.")?;
    interaction.callback = Some(request.body.clone());
    let (kind, message, channel) = (request.body["type"].as_u64(), interaction.message, interaction.channel);
    let content = request.body["data"]["content"].as_str().unwrap_or_default().to_owned();
    world.count_pings(&content, request.body["data"].get("allowed_mentions"), true);
    if kind == Some(7) {
        world.edit(channel, message, &request.body["data"]);
    }
    done()
}

fn edit_original(world: &mut World, token: &str, request: &Request<'_>) -> Outcome {
    let content = request.body["content"].as_str().unwrap_or_default().to_owned();
    refuse_long(&content)?;
    let interaction = world.interactions.values_mut().find(|i| i.token == token && i.callback.is_some());
    let interaction = interaction.ok_or_else(|| error(404, 10015, "Unknown Webhook"))?;
    interaction.edited = Some(request.body.clone());
    let channel = interaction.channel;
    world.count_pings(&content, request.body.get("allowed_mentions"), true);
    ok(world.message(channel, world.bot, request.body))
}

fn execute_webhook(world: &mut World, id: u64, token: &str, request: &Request<'_>) -> Outcome {
    if let Some(interaction) = world.interactions.values_mut().find(|i| i.token == token) {
        let channel = interaction.channel;
        interaction.followups.push(request.body.clone());
        return ok(world.message(channel, world.bot, request.body));
    }
    let (webhook, secret, channel) = world.webhook.clone();
    refuse_if(webhook != id || secret != token, 404, 10015, "Unknown Webhook")?;
    let channel = request.param("thread_id").unwrap_or(channel);
    let content = request.body["content"].as_str().unwrap_or_default().to_owned();
    refuse_if(content.is_empty(), 400, 50035, "Invalid Form Body")?;
    refuse_long(&content)?;
    world.count_pings(&content, request.body.get("allowed_mentions").filter(|a| !a.is_null()), true);
    let mut body = request.body.clone();
    body["webhook_id"] = json!(webhook.to_string());
    let mut message = world.message(channel, webhook, &body);
    message["author"]["bot"] = json!(true);
    let message_id = world.store(message.clone(), true);
    if !request.query.contains("wait=true") {
        return done();
    }
    ok(world.channels[&channel].messages[&message_id].clone())
}
