//! Retries calls to an endpoint: bounded exponential backoff with jitter, or the wait that its `Retry-After` header
//! names.
//!
//! [`Backoff`] is pure; [`embed`] sleeps and draws the jitter.

use std::time::Duration;

use crate::embed::{EmbedPurpose, ModelError, Provider};

/// The number of tries, and the pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first pause.
    pub first: Duration,
    /// No pause is longer.
    pub most: Duration,
    /// Tries in all.
    pub tries: u32,
}

impl Backoff {
    /// For a question that a person waits for: a second try soon, then give up.
    pub const WAITING: Self =
        Self { first: Duration::from_millis(200), most: Duration::from_secs(1), tries: 2 };
    /// For work in the background.
    pub const BACKGROUND: Self =
        Self { first: Duration::from_secs(1), most: Duration::from_secs(60), tries: 5 };

    /// The pause before try number `tried + 1` after `error`, or `None` to give up. `jitter` in 0..1
    /// spreads the pause over its upper half.
    pub fn pause(&self, tried: u32, error: &ModelError, jitter: f64) -> Option<Duration> {
        if !error.is_temporary() || tried >= self.tries {
            return None;
        }
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(tried.saturating_sub(1))).min(self.most);
        let spread = doubled.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0));
        let asked = match error {
            ModelError::Unreachable { after, .. } => *after,
            _ => None,
        };
        Some(asked.map_or(spread, |asked| asked.min(self.most).max(spread)))
    }

    /// Seconds until a stored failure is tried again: 1 minute, doubling, at most a day.
    pub fn next_try(attempts: u32) -> i64 {
        (60_i64 << attempts.min(11)).min(86_400)
    }
}

/// Embeds with pauses between tries.
///
/// # Errors
/// The last try's.
pub async fn embed(
    provider: &dyn Provider,
    texts: &[String],
    purpose: EmbedPurpose,
    backoff: Backoff,
) -> Result<Vec<Vec<f32>>, ModelError> {
    let mut tried = 0;
    loop {
        let error = match provider.embed(texts, purpose).await {
            Ok(vectors) => return Ok(vectors),
            Err(error) => error,
        };
        tried += 1;
        let Some(pause) = backoff.pause(tried, &error, jitter()) else { return Err(error) };
        tracing::debug!(%error, ?pause, "embedding is tried again");
        tokio::time::sleep(pause).await;
    }
}

fn jitter() -> f64 {
    let mut bytes = [0; 2];
    // Without randomness pauses are merely regular.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(after: Option<u64>) -> ModelError {
        ModelError::Unreachable {
            provider: "x".into(),
            reason: "down".into(),
            after: after.map(Duration::from_secs),
        }
    }

    #[test]
    fn pauses_double_stop_and_honour_the_endpoint() {
        let backoff = Backoff::BACKGROUND;
        let pauses: Vec<_> = (1..=5).map(|tried| backoff.pause(tried, &down(None), 1.0)).collect();
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(pauses, [seconds(1), seconds(2), seconds(4), seconds(8), None]);
        assert_eq!(backoff.pause(1, &down(None), 0.0), Some(Duration::from_millis(500)));
        assert_eq!(backoff.pause(1, &down(Some(7)), 0.5), seconds(7));
        assert_eq!(backoff.pause(1, &down(Some(7000)), 0.5), seconds(60));
        let refused = ModelError::Refused { provider: "x".into(), reason: "no".into() };
        assert_eq!(backoff.pause(1, &refused, 0.5), None);
        assert_eq!(Backoff::next_try(0), 60);
        assert_eq!(Backoff::next_try(40), 86_400);
    }
}
