//! Posts notifications to the address in the settings, as JSON with a signature of the Standard Webhooks specification.
//!
//! The headers:
//!
//! - `webhook-id`: the same on every attempt at a message, so that a receiver can drop a second copy;
//! - `webhook-timestamp`: the time of this attempt, in seconds since 1970;
//! - `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
//!
//! An address can't be asked for earlier messages, so a message may come twice.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, Url, header};
use secrecy::{ExposeSecret, SecretBox, SecretString};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{NotifierContext, http};
use crate::config::ConfigError;
use crate::deliver::prelude::*;

/// The prefix of a signing secret in base64.
const PREFIX: &str = "whsec_";
/// The shortest secret, in bytes.
const SHORTEST: usize = 16;

/// Posts signed JSON.
#[derive(Debug)]
pub struct SignedWebhook {
    client: Client,
    address: SecretString,
    key: SecretBox<Vec<u8>>,
    context: NotifierContext,
}

impl SignedWebhook {
    /// For this address and signing secret.
    ///
    /// # Errors
    /// The address is invalid, or the secret is too short.
    pub fn new(
        address: SecretString,
        secret: &SecretString,
        context: NotifierContext,
    ) -> Result<Self, ConfigError> {
        let is_web = Url::parse(address.expose_secret())
            .is_ok_and(|url| matches!(url.scheme(), "https" | "http") && url.host_str().is_some());
        if !is_web {
            return Err(ConfigError::new("the webhook's address is no web address")
                .suggest("set `url` in `[notify.webhook]` to one that begins with `https://`"));
        }
        let key = key(secret.expose_secret())?;
        Ok(Self { client: http::client(context.authority.as_deref())?, address, key, context })
    }

    fn body(&self, message: &OutgoingMessage) -> Value {
        json!({
            "type": format!("vault-agent.{}", message.kind),
            "id": message.nonce,
            "vault": self.context.links.vault,
            "text": message.text,
            "link": self.context.links.of(message),
            "urgent": self.context.rules.is_urgent(&message.facts),
            "facts": message.facts,
        })
    }
}

/// The bytes of the signing key: the text behind `whsec_`, decoded; else the text itself.
fn key(secret: &str) -> Result<SecretBox<Vec<u8>>, ConfigError> {
    let bytes = match secret.strip_prefix(PREFIX) {
        Some(encoded) => BASE64.decode(encoded.as_bytes()).map_err(|_| {
            ConfigError::new(format!("the webhook's signing secret begins with `{PREFIX}`, but isn't base64"))
                .suggest("copy it again")
        })?,
        None => secret.as_bytes().to_vec(),
    };
    if bytes.len() < SHORTEST {
        return Err(ConfigError::new(format!("the webhook's signing secret has only {} bytes", bytes.len()))
            .suggest("make one with `echo whsec_$(head -c 32 /dev/urandom | base64)`"));
    }
    Ok(SecretBox::new(Box::new(bytes)))
}

/// The signature of one attempt.
fn signature(key: &[u8], id: &str, timestamp: i64, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
}

#[async_trait]
impl Notifier for SignedWebhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn limit(&self) -> usize {
        usize::MAX
    }

    async fn send(&self, message: &OutgoingMessage) -> SendOutcome {
        let body = self.body(message).to_string().into_bytes();
        let timestamp = self.context.clock.now().as_second();
        let signature = signature(self.key.expose_secret(), &message.nonce, timestamp, &body);
        let request = self
            .client
            .post(self.address.expose_secret())
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.nonce)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(body);
        // Any 2xx is a yes, whatever comes of its body.
        http::accepted("the webhook", request).await.err().unwrap_or(SendOutcome::Sent { message_id: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn a_signature_is_the_specifications() {
        let secret = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signed = signature(secret.expose_secret(), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_short_secret_is_refused_without_being_shown() {
        let error = key("s3cret").unwrap_err().to_string();
        assert!(error.contains("only 6 bytes") && !error.contains("s3cret"), "{error}");
        assert!(key("whsec_not base64!").is_err());
    }
}
