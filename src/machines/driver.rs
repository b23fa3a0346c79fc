//! Communicates with the engine (the shared store) for [`Machines`]. Reads entries, makes and renews claims, and marks
//! claims as sent or dropped. Sleeps until the next step is due.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::engine::{EngineError, Result};
use super::handle::{Machines, Member};
use super::protocol::ChangeAttempt;

/// No sleep is longer, in real time: the machine may have been suspended meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);
/// How long an engine that failed is left alone at first; the time doubles.
const PAUSE: Duration = Duration::from_secs(5);
/// It is asked again after this at the latest.
const PAUSE_MOST: Duration = Duration::from_secs(60);
/// The same while something that was sent is to be marked: other machines would take it over.
const PAUSE_UNMARKED: Duration = Duration::from_secs(10);

/// The next step.
enum DriverStep {
    Read,
    Swap(ChangeAttempt),
    /// Nothing before so much time has gone by.
    Rest(Duration),
}

impl Machines {
    /// Talks to the engine until `stop`. Returns at once where there are no other machines.
    pub async fn drive(&self, stop: CancellationToken) {
        let Some(member) = self.member() else { return };
        tokio::select! {
            () = stop.cancelled() => {}
            () = member.drive() => {}
        }
    }

    /// Makes all steps that are due now, and returns: for a process that ends soon, and for tests. An error is in
    /// [`Machines::problem`].
    pub async fn catch_up(&self) {
        let Some(member) = self.member() else { return };
        if member.read().await.is_err() {
            return;
        }
        loop {
            let step = member.next_step();
            if matches!(step, DriverStep::Rest(_)) || member.take(step).await.is_err() {
                return;
            }
        }
    }
}

impl Member {
    async fn drive(&self) {
        let mut failures = 0_u32;
        loop {
            let step = self.next_step();
            // A store that can be read may refuse what is written.
            let is_read = matches!(step, DriverStep::Read);
            let done = self.take(step).await;
            let most = if self.state().protocol.has_unmarked() { PAUSE_UNMARKED } else { PAUSE_MOST };
            let pause = PAUSE.saturating_mul(1 << failures.min(8)).min(most);
            match done {
                Ok(()) => {
                    failures = if is_read { failures } else { 0 };
                    continue;
                }
                // The outcome of the change is read at once, before rights run out.
                Err(EngineError::Unknown(_)) if failures == 0 => {
                    failures = 1;
                    continue;
                }
                Err(_) => failures = failures.saturating_add(1),
            }
            // Messages that are sent meanwhile are to be marked.
            tokio::select! {
                () = tokio::time::sleep(self.joining.clock.sleep(pause)) => {}
                () = self.wake.notified() => {}
            }
        }
    }

    fn next_step(&self) -> DriverStep {
        self.report_changes();
        let now = self.now();
        let mut state = self.state();
        if state.protocol.must_read(now.clock) {
            return DriverStep::Read;
        }
        let wanted = state.wanted(now);
        let mut nonce = super::identity::random;
        match state.protocol.attempt(now, &wanted, &mut nonce) {
            Some(attempt) => DriverStep::Swap(attempt),
            None => DriverStep::Rest(state.protocol.next_wake(now.clock, &wanted).saturating_sub(now.clock)),
        }
    }

    async fn take(&self, step: DriverStep) -> Result<()> {
        match step {
            DriverStep::Read => self.read().await,
            DriverStep::Swap(attempt) => self.swap(attempt).await,
            DriverStep::Rest(length) => self.rest(length).await,
        }
    }

    async fn read(&self) -> Result<()> {
        let read = self.joining.engine.read().await;
        let entries = self.noted(read)?;
        let clock = self.now().clock;
        let mut state = self.state();
        state.protocol.record_entries(entries, clock);
        self.keep(&mut state);
        drop(state);
        self.report_changes();
        Ok(())
    }

    async fn swap(&self, attempt: ChangeAttempt) -> Result<()> {
        let swapped = self.joining.engine.swap(&attempt.changes).await;
        let standing = if swapped.is_ok() { self.joining.engine.standing().await } else { None };
        let clock = self.now().clock;
        let mut state = self.state();
        state.protocol.record_outcome(attempt, swapped.clone(), clock);
        standing.into_iter().for_each(|entries| state.protocol.record_entries(entries, clock));
        self.keep(&mut state);
        drop(state);
        self.noted(swapped).map(drop)
    }

    /// Waits so long, or until something is wanted or changed.
    async fn rest(&self, length: Duration) -> Result<()> {
        let length = self.joining.clock.sleep(length).min(LONGEST_SLEEP).max(Duration::from_millis(1));
        let changed = tokio::select! {
            () = self.wake.notified() => return Ok(()),
            changed = self.joining.engine.changed(length) => changed,
        };
        match changed {
            Ok(true) => self.read().await,
            // Says nothing of an engine that failed before.
            Ok(false) => Ok(()),
            Err(error) => self.noted(Err(error)),
        }
    }

    /// Remembers what goes wrong with the engine, and says it once.
    fn noted<T>(&self, result: Result<T>) -> Result<T> {
        let mut state = self.state();
        match &result {
            Ok(_) if state.error.take().is_some() => {
                tracing::info!("the machines' engine answers again");
            }
            Ok(_) => {}
            Err(error) => {
                state.protocol.record_failure();
                if state.error.as_ref() != Some(error) {
                    tracing::warn!("the machines' engine: {error}");
                }
                state.error = Some(error.clone());
            }
        }
        drop(state);
        self.report_changes();
        result
    }

    /// Keeps the highest epoch on disk before anything is done with it.
    fn keep(&self, state: &mut super::handle::MemberState) {
        let highest = state.protocol.highest();
        if highest <= state.identity.highest {
            return;
        }
        state.identity.highest = highest;
        if let Err(error) = state.identity.keep(&self.joining.state) {
            tracing::warn!("the machines' epoch can't be kept: {error}");
        }
    }
}
