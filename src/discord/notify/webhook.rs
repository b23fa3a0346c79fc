//! Sends notifications through a webhook's address alone: no bot, no buttons, no answers.
//!
//! The promise is weaker, and documented so: a webhook has no nonce and no history, so after a crash or a lost answer a
//! notification may come twice. It is never lost.

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use serenity::http::{LightMethod, Request, Route};

use crate::deliver::{MessageScope, Notifier, OutgoingMessage, SendOutcome};
use crate::discord::api::{ApiError, DiscordApi, DiscordError, message};
use crate::discord::shared::access::Owners;

/// Sends notifications through a webhook.
#[derive(Debug)]
pub struct WebhookNotifier {
    api: DiscordApi,
    id: u64,
    token: SecretString,
    owners: Owners,
}

impl WebhookNotifier {
    /// A notifier for the webhook's address; with `base`, the same webhook on a test server.
    ///
    /// # Errors
    /// The address is none of a webhook, or `base` isn't on this machine.
    pub fn new(address: &SecretString, base: Option<&str>, owners: Owners) -> Result<Self, DiscordError> {
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
            "allowed_mentions": { "parse": [], "users": self.owners.allowed_mentions(&message.text)["users"] },
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
            Err(error) => super::notifier::outcome(Err(error)),
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
