//! Every "now" of the program comes from here.
//!
//! Code that needs the time takes a [`Clock`]; only the front doors choose the system's. Tests use
//! [`ManualClock`], and the environment variable `VAULT_AGENT_NOW` freezes the clock of a whole
//! process, so that what a command prints can be compared byte for byte.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The environment variable that freezes [`from_env`]'s clock at an RFC 3339 instant.
pub const NOW_VARIABLE: &str = "VAULT_AGENT_NOW";

/// A source of the current instant.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// The operating system's wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until it is told otherwise.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Sets the instant shown, forward or backward.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Moves the clock by `by`, which may be negative; it stops at the ends of representable time.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(by).unwrap_or(*now);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The process's clock: frozen where `VAULT_AGENT_NOW` holds an instant, else the system's.
///
/// # Errors
/// The variable's value, where it is set but is no RFC 3339 instant.
pub fn from_env() -> Result<Arc<dyn Clock>, String> {
    match std::env::var(NOW_VARIABLE) {
        Ok(text) => match text.parse() {
            Ok(now) => Ok(Arc::new(ManualClock::new(now))),
            Err(_) => Err(text),
        },
        Err(_) => Ok(Arc::new(SystemClock)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let start: Timestamp = "2026-03-29T00:59:00Z".parse().unwrap();
        let clock = ManualClock::new(start);
        assert_eq!(clock.now(), start);
        clock.advance(SignedDuration::from_mins(1));
        assert_eq!(clock.now().to_string(), "2026-03-29T01:00:00Z");
        clock.advance(SignedDuration::from_mins(-2));
        assert_eq!(clock.now().to_string(), "2026-03-29T00:58:00Z");
    }
}
