//! Shows the typing sign while an answer is made.
//!
//! A loop of our own, since serenity's ends silently at the first failed request. Discord shows the sign for ten
//! seconds, so it is renewed well before that; an error costs one renewal; dropping the guard ends it.

use std::time::Duration;

use serde_json::json;
use serenity::http::{LightMethod, Route};

use super::http::DiscordApi;

/// The interval of renewals.
const EVERY: Duration = Duration::from_millis(7500);
/// The longest time that it is shown, in case an answer hangs.
const MAX_SHOWN: Duration = Duration::from_secs(15 * 60);

/// Shows the typing sign until it is dropped.
#[derive(Debug)]
pub struct Typing(tokio::task::JoinHandle<()>);

impl Typing {
    /// Starts at once.
    pub fn start(api: DiscordApi, channel: u64) -> Self {
        let show = async move {
            loop {
                let route = Route::ChannelTyping { channel_id: channel.into() };
                if let Err(error) = api.send(LightMethod::Post, route, &json!({})).await {
                    tracing::debug!(channel, %error, "the typing sign could not be shown");
                }
                tokio::time::sleep(EVERY).await;
            }
        };
        Self(tokio::spawn(async move {
            let _ = tokio::time::timeout(MAX_SHOWN, show).await;
        }))
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        self.0.abort();
    }
}
