//! Sends notifications to Discord, through a bot or through a webhook.
//!
//! [`BotNotifier`] uses the REST API; [`WebhookNotifier`] needs a webhook's address alone.
//!
//! Every message of the bot carries the nonce of the delivery journal, with `enforce_nonce`. So a repeated attempt
//! within Discord's window makes no second message; after the window [`BotNotifier::find`] looks for the message in
//! history. An attempt has one of three outcomes:
//! - "sent": a 2xx answer with an id;
//! - "not sent": a refusal, a rate limit, or a connection that was never made;
//! - "unknown": all else.
//!
//! Channels and threads are addressed by their id, a person by a DM channel that is looked up once. The guarantee of a
//! webhook is weaker: it has no nonce, no history, no buttons and no answers. So after a crash or a lost answer its
//! notification may come twice.

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use serenity::http::{LightMethod, Request, Route};
use tokio::sync::OnceCell;

use crate::deliver::{
    IsFree, MessageKind, MessageLookup, MessageScope, Notifier, OutgoingMessage, SendOutcome,
};
use crate::discord::api::{ApiError, DiscordApi, DiscordError, message, snowflake};
use crate::discord::buttons;
use crate::discord::shared::access::allowed_mentions;
use crate::discord::shared::lock;

/// The most that clocks may differ: the search begins this long before the attempt.
const SKEW: SignedDuration = SignedDuration::from_secs(90);
/// The most pages of history that one search reads.
const PAGES: usize = 50;
/// The flag of a message without previews of its links.
const SUPPRESS_EMBEDS: u64 = 1 << 2;

/// Sends notifications as the bot.
pub struct BotNotifier {
    api: DiscordApi,
    channel: Option<u64>,
    owners: Vec<u64>,
    /// The DM channel of each person written to so far.
    dms: Mutex<HashMap<u64, u64>>,
    /// The bot's own user id, once known.
    me: OnceCell<u64>,
}

impl BotNotifier {
    /// A notifier whose own place is `channel`, else the first owner's DMs.
    pub fn new(api: DiscordApi, channel: Option<u64>, owners: Vec<u64>) -> Self {
        Self { api, channel, owners, dms: Mutex::default(), me: OnceCell::new() }
    }

    /// The channel that a scope means.
    async fn place(&self, scope: Option<MessageScope>) -> Result<u64, ApiError> {
        let user = match (scope, self.channel, self.owners.first()) {
            (Some(MessageScope::Channel(id) | MessageScope::Thread(id)), ..) | (None, Some(id), _) => {
                return Ok(id);
            }
            (Some(MessageScope::User(id)), ..) | (None, None, Some(&id)) => id,
            (None, None, None) => return Err(ApiError::refused_here(&DiscordError::NoChannel.to_string())),
        };
        if let Some(known) = lock(&self.dms).get(&user) {
            return Ok(*known);
        }
        let channel = dm_channel(&self.api, user).await?;
        lock(&self.dms).insert(user, channel);
        Ok(channel)
    }

    async fn me(&self) -> Result<u64, ApiError> {
        let ask = async {
            let user = self.api.get(Route::UserMe).await?;
            message::id(&user["id"]).ok_or_else(|| ApiError::Unknown("no user in the answer".to_owned()))
        };
        self.me.get_or_try_init(|| ask).await.copied()
    }

    async fn post(&self, message: &OutgoingMessage) -> Result<Value, ApiError> {
        let channel = self.place(message.scope).await.map_err(before_posting)?;
        self.api.post(channel, self.body(message)).await
    }

    fn body(&self, message: &OutgoingMessage) -> Value {
        // An answer may name a person without a ping, and Discord fetches no address that a model wrote.
        let is_said =
            matches!(message.kind, MessageKind::Answer | MessageKind::Approval | MessageKind::Routine);
        let named = if is_said { "" } else { &message.text };
        let mut body = json!({
            "content": message.text,
            "nonce": message.nonce,
            "enforce_nonce": true,
            "allowed_mentions": allowed_mentions(&self.owners, named),
            "flags": if is_said { SUPPRESS_EMBEDS } else { 0 },
        });
        if let Some(to) = message.reply_to {
            body["message_reference"] = json!({ "message_id": to.to_string(), "fail_if_not_exists": false });
        }
        let rows = buttons::rows(message);
        if !rows.is_empty() {
            body["components"] = json!(rows);
        }
        body
    }
}

/// Whether a message of the bot's own is the one that was sent.
///
/// Two reminders can say the same, so the text alone decides only where nothing else is known: history may not carry
/// nonces, but it carries the buttons, whose ids hold the nonce.
fn is_same_message(found: &message::IncomingMessage, sought: &OutgoingMessage) -> bool {
    match (&found.nonce, found.custom_ids.first()) {
        (Some(nonce), _) => *nonce == sought.nonce,
        (None, Some(id)) => id.ends_with(&sought.nonce),
        // Two questions may get the same answer: a reply also has to answer the same message, if it is one still.
        (None, None) => {
            buttons::rows(sought).is_empty()
                && found.content.trim() == sought.text.trim()
                && sought.reply_to.zip(found.reply_to).is_none_or(|(sought, found)| sought == found)
        }
    }
}

/// Opening a DM sends no message: after any failure there, the notification was not sent.
fn before_posting(error: ApiError) -> ApiError {
    match error {
        ApiError::Unknown(reason) => ApiError::NotSent(reason),
        other => other,
    }
}

/// The DM channel with a person; the same one each time.
pub(in crate::discord) async fn dm_channel(api: &DiscordApi, user: u64) -> Result<u64, ApiError> {
    let body = json!({ "recipient_id": user.to_string() });
    let channel = api.send(LightMethod::Post, Route::UserMeDmChannels, &body).await?;
    message::id(&channel["id"]).ok_or_else(|| ApiError::Unknown("no channel in the answer".to_owned()))
}

/// The outcome of an attempt, for the journal.
pub(super) fn outcome(result: Result<Value, ApiError>) -> SendOutcome {
    match result {
        Ok(answer) => match message::id(&answer["id"]) {
            Some(id) => SendOutcome::Sent { message_id: Some(id.to_string()) },
            None => SendOutcome::Unknown { reason: "Discord's answer names no message".to_owned() },
        },
        Err(ApiError::NotSent(reason)) => SendOutcome::Retry { after: None, reason },
        Err(ApiError::Unknown(reason)) => SendOutcome::Unknown { reason },
        Err(ApiError::RateLimited { after }) => {
            SendOutcome::Retry { after, reason: "Discord asks to wait (rate limit)".to_owned() }
        }
        Err(ApiError::Refused { status, code, message }) => refusal(status, code, &message),
    }
}

/// A refusal, in words that say what to change.
fn refusal(status: u16, code: i64, message: &str) -> SendOutcome {
    let reason = match (status, code) {
        (401, _) => DiscordError::WrongToken.to_string(),
        // The nonce was used for a message that has been deleted since: it did arrive.
        (404, 10008) => return SendOutcome::Sent { message_id: None },
        (_, 50007 | 50278) => {
            "that person takes no direct messages from the bot: allow them in the server's privacy settings"
                .to_owned()
        }
        (_, 160_005) => "the thread is locked: unlock it, or give the follow-up another scope".to_owned(),
        (403, _) => "the bot may not post there: allow its role `View Channel`, `Send Messages` and \
                     `Send Messages in Threads` in the channel's permissions"
            .to_owned(),
        (404, _) => "Discord knows no such channel: check the scope or `[discord] channel_id`".to_owned(),
        (_, 0) if status == 400 => message.to_owned(),
        _ => format!("Discord refuses ({status}, code {code}): {message}"),
    };
    SendOutcome::Refused { reason }
}

/// Discord's code and words, if it refused a message for good: for its text, or because its channel was deleted. Any
/// other refusal ends when a person changes the channel or the settings.
fn refused_for_good(error: &ApiError) -> Option<String> {
    match error {
        // No direct messages; an archived or a locked thread.
        ApiError::Refused { code: 50_007 | 50_083 | 160_005, .. } => None,
        ApiError::Refused { status: 400, code, message }
        | ApiError::Refused { status: 404, code: code @ 10_003, message } => {
            Some(format!("{code}: {message}"))
        }
        _ => None,
    }
}

#[async_trait]
impl Notifier for BotNotifier {
    fn name(&self) -> &'static str {
        "discord"
    }

    fn limit(&self) -> usize {
        message::CONTENT_LIMIT
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        let mut posted = self.post(message).await;
        let refused = |posted: &Result<Value, ApiError>| posted.as_ref().err().and_then(refused_for_good);
        if let (MessageKind::Answer, Some(why)) = (message.kind, refused(&posted)) {
            let text = format!("Discord refused this answer ({why}); it stands in the log.");
            posted = self.post(&OutgoingMessage { text, ..message.clone() }).await;
        }
        match (message.kind, refused(&posted)) {
            (MessageKind::Answer | MessageKind::Approval, Some(reason)) => SendOutcome::Never { reason },
            _ => outcome(posted),
        }
    }

    async fn find(&self, message: &OutgoingMessage, since: Timestamp, is_free: IsFree<'_>) -> MessageLookup {
        let search = async {
            let channel = self.place(message.scope).await?;
            let me = self.me().await?;
            let after = snowflake::first_at(since.checked_sub(SKEW).unwrap_or(since));
            let is_it = |found: &message::IncomingMessage| {
                found.author.id == me && is_same_message(found, message) && is_free(&found.id.to_string())
            };
            self.api.find(channel, after, PAGES, is_it).await
        };
        match search.await {
            Ok(Some(found)) => MessageLookup::Found { message_id: found.id.to_string() },
            // Without access nothing was sent either: posting brings the exact refusal.
            Ok(None) | Err(ApiError::Refused { .. }) => MessageLookup::NotFound,
            Err(ApiError::RateLimited { .. }) => MessageLookup::Later { reason: "rate limit".to_owned() },
            Err(error) => MessageLookup::Later { reason: error.to_string() },
        }
    }
}

/// Sends notifications through a webhook.
#[derive(Debug)]
pub struct WebhookNotifier {
    api: DiscordApi,
    id: u64,
    token: SecretString,
    owners: Vec<u64>,
}

impl WebhookNotifier {
    /// A notifier for the webhook's address; with `base`, the same webhook on a test server.
    ///
    /// # Errors
    /// The address isn't a webhook's, or `base` isn't on this machine.
    pub fn new(address: &SecretString, base: Option<&str>, owners: Vec<u64>) -> Result<Self, DiscordError> {
        let (id, token) = parse(address.expose_secret()).ok_or(DiscordError::BadWebhook)?;
        Ok(Self { api: DiscordApi::new(None, base)?, id, token: SecretString::from(token), owners })
    }
}

/// The id and token in `https://discord.com/api/webhooks/ID/TOKEN`; the host is never dialled from here.
fn parse(address: &str) -> Option<(u64, String)> {
    let url = reqwest::Url::parse(address.trim()).ok()?;
    let parts: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
    let at = parts.iter().position(|part| *part == "webhooks")?;
    let id = parts.get(at + 1)?.parse().ok()?;
    let token = parts.get(at + 2)?;
    let plain = token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    plain.then(|| (id, (*token).to_owned()))
}

#[async_trait]
impl Notifier for WebhookNotifier {
    fn name(&self) -> &'static str {
        "discord"
    }

    fn limit(&self) -> usize {
        message::CONTENT_LIMIT
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        let route = Route::WebhookWithToken { webhook_id: self.id.into(), token: self.token.expose_secret() };
        let mut params = vec![("wait", "true".to_owned())];
        if let Some(MessageScope::Thread(thread)) = message.scope {
            params.push(("thread_id", thread.to_string()));
        }
        let body = json!({
            "content": message.text,
            "allowed_mentions": { "parse": [], "users": allowed_mentions(&self.owners, &message.text)["users"] },
        });
        let request = Request::new(route, LightMethod::Post)
            .params(Some(params))
            .body(Some(body.to_string().into_bytes()));
        match self.api.call(request).await {
            Ok(answer) => {
                SendOutcome::Sent { message_id: message::id(&answer["id"]).map(|id| id.to_string()) }
            }
            Err(ApiError::Refused { status: 401 | 404, .. }) => {
                SendOutcome::Refused { reason: DiscordError::BadWebhook.to_string() }
            }
            Err(error) => outcome(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhooks_address_is_read_in_all_its_forms() {
        for good in [
            "https://discord.com/api/webhooks/12/a-B_3",
            " https://discordapp.com/api/v10/webhooks/12/a-B_3/\n",
            "https://ptb.discord.com/api/webhooks/12/a-B_3?wait=true",
        ] {
            assert_eq!(parse(good), Some((12, "a-B_3".to_owned())), "{good}");
        }
        for bad in ["", "https://discord.com/api/webhooks/12", "https://x/webhooks/a/b", "webhooks/1/2"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
