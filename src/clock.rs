//! Provides the program's clocks. Every "now" that decides about notes comes from here; only the ages of files, and
//! waits and durations within a process, are measured by the system's own clocks.
//!
//! Code that needs the time takes a [`Clock`]. [`from_env`] chooses the process's clock at the start. Only the
//! history's ledger and its scan use [`SystemClock`] directly. Tests use [`ManualClock`].
//!
//! The environment variable `VAULT_AGENT_NOW` sets the clock of a process. With an instant (`2026-12-01T09:30:00Z`) the
//! clock stands still, so that a command prints the same bytes each time. With an instant and a factor
//! (`2026-12-01T09:30:00Z@60`) the clock starts at the instant and runs sixty times as fast as real time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The environment variable that sets [`from_env`]'s clock: an RFC 3339 instant, which may be followed by `@` and a
/// speed, a whole multiple of real time.
pub const NOW_VARIABLE: &str = "VAULT_AGENT_NOW";

/// A source of the current instant.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The current instant.
    fn now(&self) -> Timestamp;

    /// The time of a monotonic clock, since a start of its own. The clock goes on while the machine is suspended, if
    /// the system has such a clock.
    fn boot(&self) -> Duration {
        boot()
    }

    /// The real time to sleep until this much time has passed on this clock.
    fn sleep(&self, duration: Duration) -> Duration {
        duration
    }
}

/// Whether a clock can be right: before this program was made none was. A computer without a clock of its own begins in
/// 1970, or when its system was made, until the network gives the time.
pub fn is_plausible(now: Timestamp) -> bool {
    /// 2026-01-01.
    const MADE: i64 = 1_767_225_600;
    now.as_second() >= MADE
}

/// `CLOCK_BOOTTIME`; on Apple's systems `CLOCK_MONOTONIC`, which counts suspension there.
fn boot() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = rustix::time::ClockId::Monotonic;
    Duration::try_from(rustix::time::clock_gettime(clock)).unwrap_or_default()
}

/// The operating system's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until it is set.
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

    /// Counts from 1970, and moves with the instant.
    fn boot(&self) -> Duration {
        since_1970(self.now())
    }
}

fn since_1970(instant: Timestamp) -> Duration {
    Duration::try_from(instant.duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default()
}

/// A clock that runs a number of times as fast as time does.
#[derive(Debug)]
pub struct FastClock {
    start: Timestamp,
    since: Duration,
    times: u32,
}

impl FastClock {
    /// A clock that shows `start` now and runs `times` as fast; 0 counts as 1.
    pub fn new(start: Timestamp, times: u32) -> Self {
        Self { start, since: boot(), times: times.max(1) }
    }

    /// The time that has passed on it.
    fn elapsed(&self) -> SignedDuration {
        let elapsed = boot().saturating_sub(self.since).saturating_mul(self.times);
        SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX)
    }
}

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        self.start.saturating_add(self.elapsed()).unwrap_or(Timestamp::MAX)
    }

    /// Counts from 1970, as fast as the instant runs.
    fn boot(&self) -> Duration {
        since_1970(self.now())
    }

    fn sleep(&self, duration: Duration) -> Duration {
        duration / self.times
    }
}

/// The process's clock: frozen or fast where `VAULT_AGENT_NOW` holds an instant, else the system's.
///
/// # Errors
/// The variable's value, where it is set but is no RFC 3339 instant.
pub fn from_env() -> Result<Arc<dyn Clock>, String> {
    match std::env::var(NOW_VARIABLE) {
        Ok(text) => parse(&text).ok_or(text),
        Err(_) => Ok(Arc::new(SystemClock)),
    }
}

fn parse(text: &str) -> Option<Arc<dyn Clock>> {
    match text.split_once('@') {
        None => Some(Arc::new(ManualClock::new(text.parse().ok()?))),
        Some((start, times)) => Some(Arc::new(FastClock::new(start.parse().ok()?, times.parse().ok()?))),
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

    #[test]
    fn a_fast_clock_runs_ahead_and_sleeps_less() {
        let clock = parse("2026-12-01T09:00:00Z@1000").unwrap();
        assert_eq!(clock.sleep(Duration::from_secs(60)), Duration::from_millis(60));
        let start: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        assert!(clock.now() >= start && clock.boot() >= since_1970(start));
        assert!(SystemClock.boot() <= SystemClock.boot());
        assert!(parse("2026-12-01T09:00:00Z@fast").is_none() && parse("today").is_none());
    }
}
