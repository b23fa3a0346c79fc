//! Sending an answer: the same steps as any notification, for the channel that waits for it.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::pass::{PassContext, PassError, PassReport, Sender};

/// Chunks of one answer may take so long in one go.
const IN_ONE_GO: Duration = Duration::from_secs(60);

/// How far an answer came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Every chunk arrived.
    Sent,
    /// Not all of it arrived; not to be tried before this instant.
    Later(Timestamp),
    /// Every place refused it: why.
    Refused(String),
}

/// Sends what is left of the answer with this key, each chunk once.
///
/// # Errors
/// The delivery journal can't be used.
pub async fn send_answer(context: &PassContext<'_>, key: &str) -> Result<Progress, PassError> {
    let now = context.clock.now();
    let Some(message) = context.journal.answer(key)? else {
        return Ok(Progress::Refused("it isn't in the delivery journal".to_owned()));
    };
    if message.is_sent() {
        return Ok(Progress::Sent);
    }
    if let Some(at) = message.retry.filter(|at| *at > now) {
        return Ok(Progress::Later(at));
    }
    let mut report = PassReport::default();
    let mut sender = Sender::new(context, now, Instant::now() + IN_ONE_GO);
    sender.deliver(vec![message], &mut report).await?;
    match context.journal.answer(key)? {
        Some(message) if message.is_sent() => Ok(Progress::Sent),
        Some(message) => {
            let soon = now.saturating_add(SignedDuration::from_secs(1)).unwrap_or(now);
            Ok(Progress::Later(message.retry.unwrap_or(soon)))
        }
        None => Ok(Progress::Refused("every place refused it".to_owned())),
    }
}
