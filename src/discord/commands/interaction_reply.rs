//! Answers one interaction of Discord (a command or a button): at once, or by an acknowledgement that is later replaced
//! by the answer.

use serde_json::{Value, json};
use serenity::all::InteractionId;
use serenity::http::{LightMethod, Route};

use crate::deliver::split;
use crate::discord::api::ApiError;
use crate::discord::api::message::CONTENT_LIMIT;
use crate::discord::shared::BotState;

/// The flag of an answer that only the person who asked sees.
pub(super) const EPHEMERAL: u64 = 1 << 6;

/// The most messages of one answer.
pub(super) const MAX_MESSAGES: usize = 5;

/// The space for a remark on what doesn't fit, in units.
const REMARK_ROOM: usize = 60;

/// One interaction, and the data to answer it.
pub(super) struct InteractionReply<'a> {
    shared: &'a BotState,
    id: u64,
    token: &'a str,
    application: u64,
}

impl<'a> InteractionReply<'a> {
    pub fn new(shared: &'a BotState, id: InteractionId, token: &'a str, application: u64) -> Self {
        Self { shared, id: id.get(), token, application }
    }

    pub(super) async fn callback(&self, body: &Value) -> Result<(), ApiError> {
        let route = Route::InteractionResponse { interaction_id: self.id.into(), token: self.token };
        self.shared.api.send(LightMethod::Post, route, body).await.map(|_| ())
    }

    pub(super) async fn say_now(&self, text: &str) {
        let data = json!({ "content": text, "flags": EPHEMERAL, "allowed_mentions": { "parse": [] } });
        self.logged(self.callback(&json!({ "type": 4, "data": data })).await);
    }

    /// Acknowledges; the answer follows. False if Discord doesn't know the interaction any more.
    pub(super) async fn defer(&self) -> bool {
        let done = self.callback(&json!({ "type": 5, "data": { "flags": EPHEMERAL } })).await;
        // Code 40060, answered already: another delivery of it was carried out.
        let go_on = matches!(done, Ok(()) | Err(ApiError::Unknown(_)));
        self.logged(done);
        go_on
    }

    /// Sends the deferred answer in as many messages as it needs, with rows of buttons on the last.
    pub(super) async fn answer(&self, text: &str, rows: &[Value]) {
        let text = if text.trim().is_empty() { "Nothing to say." } else { text };
        let mut chunks = split::split(text, CONTENT_LIMIT - REMARK_ROOM);
        let left: usize = chunks.iter().skip(MAX_MESSAGES).map(|chunk| chunk.lines().count()).sum();
        chunks.truncate(MAX_MESSAGES);
        if let Some(last) = chunks.last_mut().filter(|_| left > 0) {
            last.push_str(&format!("\n-# {left} more lines don't fit here."));
        }
        for (index, chunk) in chunks.iter().enumerate() {
            let mut body = json!({ "content": chunk, "allowed_mentions": { "parse": [] } });
            if !rows.is_empty() && index + 1 == chunks.len() {
                body["components"] = json!(rows);
            }
            let (application_id, token) = (self.application.into(), self.token);
            let sent = if index == 0 {
                let route = Route::WebhookOriginalInteractionResponse { application_id, token };
                self.shared.api.send(LightMethod::Patch, route, &body).await
            } else {
                body["flags"] = json!(EPHEMERAL);
                let route = Route::WebhookFollowupMessages { application_id, token };
                self.shared.api.send(LightMethod::Post, route, &body).await
            };
            self.logged(sent.map(|_| ()));
        }
    }

    pub(super) fn logged(&self, result: Result<(), ApiError>) {
        if let Err(error) = result {
            tracing::warn!(%error, "an answer to a command could not be given");
        }
    }
}
