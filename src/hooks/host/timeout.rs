//! Runs a hook's work with a timeout, since the host waits for it.
//!
//! The work runs on a thread of its own; the caller gets its answer, or an error if it failed or is late. A thread that
//! is late is not stopped; it ends with the process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The time after which a hook answers nothing.
pub const PATIENCE: Duration = Duration::from_millis(300);
/// Another patience than [`PATIENCE`], in milliseconds: for slow disks, and for tests on busy machines.
pub const TIMEOUT_VARIABLE: &str = "VAULT_AGENT_HOOK_PATIENCE_MS";

/// The patience of this process.
pub fn from_env() -> Duration {
    let named = std::env::var(TIMEOUT_VARIABLE).ok().and_then(|text| text.parse().ok());
    named.map_or(PATIENCE, Duration::from_millis)
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// It took too long.
    #[error("no answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The work panicked, or its thread could not be started.
    #[error("the work ended without an answer")]
    Failed,
}

/// The result of `work`, if it comes within `patience`.
///
/// # Errors
/// It doesn't.
pub fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoAnswer> {
    let (say, hear) = mpsc::sync_channel(1);
    let spawned = std::thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let _ = say.send(work());
    });
    if spawned.is_err() {
        return Err(NoAnswer::Failed);
    }
    hear.recv_timeout(patience).map_err(|error| match error {
        RecvTimeoutError::Timeout => NoAnswer::Late(patience),
        RecvTimeoutError::Disconnected => NoAnswer::Failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_time_is_given_and_nobody_waits_for_a_late_one() {
        let ages = Duration::from_secs(3600);
        assert_eq!(within(ages, || 7), Ok(7));
        // Work that can't end before this test lets it.
        let (release, wait) = mpsc::channel::<()>();
        let late = within(Duration::ZERO, move || wait.recv());
        assert_eq!(late.unwrap_err(), NoAnswer::Late(Duration::ZERO));
        drop(release);
    }

    #[test]
    fn a_panic_is_no_answer() {
        let failed: Result<(), NoAnswer> = within(Duration::from_secs(3600), || {
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert_eq!(failed, Err(NoAnswer::Failed));
    }
}
