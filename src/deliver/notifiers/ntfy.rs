//! Sends notifications to a topic of an ntfy server (the public server or the user's own), and so to a phone.
//!
//! Each message carries its nonce as the sequence id. After an attempt without an answer, the topic is searched for the
//! message before anything is sent again. The message is found by its sequence id, or by title and text if the server
//! drops the id. So a message comes exactly once, as long as the server keeps its messages (12 hours by default).
//!
//! If the server keeps nothing, or if the token may only write, a message may come twice. A phone that supports
//! sequence ids (ntfy 2.16) then replaces the first copy by the second. A click opens the note in Obsidian.

use reqwest::{Client, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{NotifierContext, http};
use crate::config::{self, ConfigError};
use crate::deliver::notifier::{IsFree, MessageLookup, Notifier, OutgoingMessage, SendOutcome};
use crate::deliver::prelude::*;
use crate::deliver::words::compose;

/// A message may have 4,096 bytes; a UTF-16 unit has at most three in UTF-8.
const MESSAGE_LIMIT: usize = 1300;
/// The highest priority: it sounds in a phone's own quiet hours.
const URGENT: u8 = 5;

/// Publishes to a topic.
#[derive(Debug)]
pub struct NtfyNotifier {
    client: Client,
    base: Url,
    topic: String,
    token: Option<SecretString>,
    context: NotifierContext,
}

impl NtfyNotifier {
    /// For the topic of the settings.
    ///
    /// # Errors
    /// The server's address is invalid, there is no topic, or a token would be sent unencrypted.
    pub fn new(
        settings: &config::NtfySettings,
        token: Option<SecretString>,
        context: NotifierContext,
    ) -> Result<Self, ConfigError> {
        let wrong = |why: &str| {
            ConfigError::new(format!("`[notify.ntfy] url` is `{}`, {why}", settings.url))
                .suggest("write the server's address, such as `https://ntfy.sh`")
        };
        let base = Url::parse(&settings.url).map_err(|_| wrong("which is no address"))?;
        if !matches!(base.scheme(), "https" | "http") || base.host_str().is_none() {
            return Err(wrong("which is no web address"));
        }
        if token.is_some() && base.scheme() == "http" && !is_near(&base) {
            return Err(wrong("where the token would travel in the clear").suggest("use `https://`"));
        }
        let topic = settings
            .topic
            .clone()
            .ok_or_else(|| ConfigError::new("ntfy has no topic").suggest("set `topic` in `[notify.ntfy]`"))?;
        Ok(Self { client: http::client(context.authority.as_deref())?, base, topic, token, context })
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token.expose_secret()),
            None => request,
        }
    }

    fn body(&self, message: &OutgoingMessage) -> Value {
        let mut body = json!({
            "topic": self.topic,
            "title": compose::title(message),
            "message": compose::without_opening(&message.text),
            "sequence_id": message.nonce,
        });
        if let Some(link) = self.context.links.of(message) {
            body["click"] = link.into();
        }
        if self.context.rules.is_urgent(&message.facts) {
            body["priority"] = URGENT.into();
        }
        body
    }

    /// Whether one of the server's lines is this message: by its sequence id, else, from a server that knows none, by
    /// its words.
    fn is_it(&self, line: &Value, message: &OutgoingMessage) -> bool {
        if line["event"] != "message" {
            return false;
        }
        match line["sequence_id"].as_str().filter(|id| line["id"] != **id) {
            Some(id) => id == message.nonce,
            None => {
                line["title"] == *compose::title(message)
                    && line["message"]
                        .as_str()
                        .is_some_and(|text| text.trim() == compose::without_opening(&message.text).trim())
            }
        }
    }

    fn topic_url(&self, since: Timestamp) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(&self.topic).push("json");
        }
        url.query_pairs_mut().append_pair("poll", "1").append_pair("since", &since.as_second().to_string());
        url
    }
}

/// Whether an address is on this machine or in a home's own network.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private(),
        Ok(std::net::IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Err(_) => host == "localhost" || host.ends_with(".local") || !host.contains('.'),
    }
}

#[async_trait]
impl Notifier for NtfyNotifier {
    fn name(&self) -> &'static str {
        "ntfy"
    }

    fn limit(&self) -> usize {
        MESSAGE_LIMIT
    }

    /// The server doesn't drop a second copy, so it is asked at once.
    fn nonce_window(&self) -> SignedDuration {
        SignedDuration::ZERO
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        let request = self.authorized(self.client.post(self.base.clone()).json(&self.body(message)));
        match http::perform("the ntfy server", request).await {
            Ok(answer) => match serde_json::from_slice::<Value>(&answer) {
                Ok(answer) if answer["id"].is_string() => {
                    SendOutcome::Sent { message_id: answer["id"].as_str().map(str::to_owned) }
                }
                _ => SendOutcome::Unknown { reason: "the ntfy server's answer can't be read".to_owned() },
            },
            Err(outcome) => outcome,
        }
    }

    async fn find(&self, message: &OutgoingMessage, since: Timestamp, is_free: IsFree<'_>) -> MessageLookup {
        let request = self.authorized(self.client.get(self.topic_url(since)));
        match http::perform("the ntfy server", request).await {
            Ok(lines) => lines
                .split(|byte| *byte == b'\n')
                .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
                .filter(|line| self.is_it(line, message))
                .map(|line| line["id"].as_str().unwrap_or(&message.nonce).to_owned())
                .find(|id| is_free(id))
                .map_or(MessageLookup::NotFound, |message_id| MessageLookup::Found { message_id }),
            Err(SendOutcome::Retry { reason, .. } | SendOutcome::Unknown { reason }) => {
                MessageLookup::Later { reason }
            }
            // A token that may only write.
            Err(_) => MessageLookup::NotFound,
        }
    }
}
