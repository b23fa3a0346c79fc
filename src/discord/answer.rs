//! From a question to its answer in the channel: typing, responder, split, post, log.
//!
//! One question at a time a channel. Every chunk has a nonce made of the question's id, so an answer that is sent again
//! after a lost reply or a restart is one message; and the answer is a reply, so that the log shows what was answered.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use serenity::http::{LightMethod, Route};
use tokio::sync::mpsc;

use super::bot::Shared;
use super::error::ApiError;
use super::ingress::Item;
use super::mentions;
use super::message::Incoming;
use super::responder::Ask;
use super::typing::Typing;
use crate::deliver::split;

/// The longest that a responder may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// How long an answer is tried to be sent.
const ATTEMPTS: u32 = 8;

/// Starts the worker that answers one channel's questions in turn.
pub(super) fn worker(
    shared: Arc<Shared>,
    channel: u64,
    lane: mpsc::WeakUnboundedSender<Item>,
) -> mpsc::UnboundedSender<Incoming> {
    let (sender, mut asks) = mpsc::unbounded_channel::<Incoming>();
    tokio::spawn(async move {
        while let Some(message) = asks.recv().await {
            let _typing = Typing::start(shared.api.clone(), channel);
            let Some(text) = respond(&shared, channel, &message).await else { continue };
            for posted in post(&shared, channel, message.id, &text).await {
                if let (Some(lane), Some(posted)) = (lane.upgrade(), Incoming::from_json(&posted)) {
                    let _ = lane.send(Item::Message(Box::new(posted)));
                }
            }
        }
    });
    sender
}

async fn respond(shared: &Shared, channel: u64, message: &Incoming) -> Option<String> {
    let ask = Ask {
        text: mentions::strip(&message.content, &shared.identity()),
        author: message.author.name.clone(),
        channel,
        message: message.id,
        block: shared.log.link(channel, message.id).unwrap_or_default(),
    };
    match tokio::time::timeout(LIMIT, shared.responder.answer(&ask)).await {
        Ok(Ok(answer)) => answer.filter(|text| !text.trim().is_empty()),
        Ok(Err(problem)) => Some(format!("I can't answer: {problem}")),
        Err(_) => Some("I can't answer: it took longer than ten minutes.".to_owned()),
    }
}

/// Posts an answer in as many messages as it needs; returns those that arrived, as Discord shows them.
pub(super) async fn post(shared: &Shared, channel: u64, question: u64, text: &str) -> Vec<Value> {
    let mut posted = vec![];
    for (index, chunk) in split::split(text, split::DISCORD_LIMIT).iter().enumerate() {
        let mut body = json!({
            "content": chunk,
            "nonce": nonce(question, index),
            "enforce_nonce": true,
            "allowed_mentions": shared.owners.allowed_mentions(""),
        });
        if index == 0 {
            body["message_reference"] =
                json!({ "message_id": question.to_string(), "fail_if_not_exists": false });
        }
        match persist(shared, channel, &body).await {
            Ok(message) => posted.push(message),
            Err(error) => {
                tracing::error!(channel, %error, "an answer could not be posted");
                break;
            }
        }
    }
    posted
}

/// Sends the same body until it arrived or is refused; the nonce keeps it one message.
async fn persist(shared: &Shared, channel: u64, body: &Value) -> Result<Value, ApiError> {
    let mut pause = Duration::from_millis(500);
    let mut attempt = 1;
    loop {
        let route = Route::ChannelMessages { channel_id: channel.into() };
        let error = match shared.api.send(LightMethod::Post, route, body).await {
            Ok(answer) if answer["id"].is_string() => return Ok(answer),
            Ok(_) => ApiError::Unknown("the answer names no message".to_owned()),
            Err(error @ ApiError::Refused { .. }) => return Err(error),
            Err(error) => error,
        };
        if attempt == ATTEMPTS {
            return Err(error);
        }
        let asked = if let ApiError::RateLimited { after } = &error { *after } else { None };
        tokio::time::sleep(asked.unwrap_or(pause)).await;
        pause = (pause * 2).min(Duration::from_secs(20));
        attempt += 1;
    }
}

fn nonce(question: u64, chunk: usize) -> String {
    let hash = blake3::hash(format!("answer\n{question}\n{chunk}").as_bytes());
    let mut text = data_encoding::BASE32_NOPAD.encode(&hash.as_bytes()[..16]);
    text.truncate(25);
    text
}
