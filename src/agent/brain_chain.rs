//! The brains of a chain as they are asked: keys, permits, prices, and what is remembered of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::brain_clients::{HarnessContext, PreparedBrain};
use crate::brain::failover::{self, Attempt, BrainId, FailedAttempt};
use crate::brain::health::{BrainHealth, HealthStore};
use crate::brain::{Brain, BrainError, BrainEvent, Harness, HarnessTask, Host, Reply, Request, Usage};
use crate::clock::Clock;
use crate::turn::{Conversation, assemble};

/// Events of a stream that wait to be heard.
const EVENTS: usize = 64;

/// Who may call a brain now, for as long as the program runs: each channel asks once at a time, so the order of
/// asking is fair between them.
#[derive(Debug, Default)]
pub struct CallPermits(Mutex<HashMap<(String, usize), Arc<Semaphore>>>);

impl CallPermits {
    /// So many calls of one brain run at once; who waits is served in the order of asking.
    fn of(&self, brain: &str, at_once: usize) -> Arc<Semaphore> {
        let mut permits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(Semaphore::new(at_once));
        Arc::clone(permits.entry((brain.to_owned(), at_once)).or_insert_with(made))
    }
}

/// All brains of the settings, ready to be asked.
pub(super) struct Brains {
    seats: Vec<ChainBrain>,
    health: HealthStore,
    permits: Arc<CallPermits>,
    clock: Arc<dyn Clock>,
}

pub(super) struct ChainBrain {
    pub prepared: PreparedBrain,
    calls: Vec<Arc<dyn Brain>>,
    harnesses: Vec<Arc<dyn Harness>>,
}

/// The walk along one turn's chain: what was tried, and how it ended.
#[derive(Default)]
pub(super) struct FailoverWalk {
    tried: Vec<FailedAttempt>,
    /// Name and error of each that failed, in order.
    pub failed: Vec<(String, BrainError)>,
    /// Nobody waits for the answer: an account that was found empty within the hour isn't tried as the last resort.
    unattended: bool,
}

/// What was heard of a call so far: it was paid for, also where no answer comes of it.
#[derive(Default)]
pub(super) struct CallListener<'a> {
    place: Option<&'a dyn Conversation>,
    so_far: Mutex<CallProgress>,
}

#[derive(Default)]
struct CallProgress {
    /// By the provider's last word.
    usage: Option<Usage>,
    chars: usize,
}

impl<'a> CallListener<'a> {
    /// For a call whose words are shown at a place as they come.
    pub fn at(place: &'a dyn Conversation) -> Self {
        Self { place: Some(place), ..Self::default() }
    }

    async fn listen(&self, mut events: mpsc::Receiver<BrainEvent>) {
        while let Some(event) = events.recv().await {
            if let (BrainEvent::Text(text), Some(place)) = (&event, self.place) {
                place.said(text);
            }
            let mut so_far = self.so_far();
            match event {
                BrainEvent::Text(text) => so_far.chars += text.chars().count(),
                BrainEvent::ToolCall(call) => {
                    so_far.chars += call.name.chars().count() + call.arguments.chars().count();
                }
                BrainEvent::Usage(usage) => so_far.usage = Some(usage),
                BrainEvent::Done { .. } => {}
            }
        }
    }

    fn so_far(&self) -> MutexGuard<'_, CallProgress> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the call used, by the provider's last word. Where it never said one, it is estimated from what was asked and
    /// said; a call that brought nothing at all used nothing.
    pub fn usage(&self, request: &Request, answered: &Result<Reply, BrainError>) -> Usage {
        let so_far = self.so_far();
        let told = answered.as_ref().ok().map(|reply| reply.usage).filter(|usage| *usage != Usage::default());
        match told.or(so_far.usage.filter(|usage| *usage != Usage::default())) {
            Some(usage) => usage,
            None if answered.is_ok() || so_far.chars > 0 => {
                let output = u64::try_from(so_far.chars.div_ceil(4)).unwrap_or(u64::MAX);
                Usage { input: assemble::tokens(request), output, ..Usage::default() }
            }
            None => Usage::default(),
        }
    }
}

impl Brains {
    pub fn new(
        prepared: Vec<PreparedBrain>,
        around: &HarnessContext,
        client: &reqwest::Client,
        health: HealthStore,
        permits: Arc<CallPermits>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let seat = |prepared: PreparedBrain| {
            let harness = prepared.settings.kind.is_harness();
            let calls = prepared.alone(around, client, &clock);
            let harnesses = if harness { prepared.harnesses(around) } else { vec![] };
            ChainBrain { prepared, calls, harnesses }
        };
        let seats = prepared.into_iter().map(seat).collect();
        Self { seats, health, permits, clock }
    }

    /// The brains with these names, in this order.
    pub fn chain(&self, names: &[String]) -> Vec<&ChainBrain> {
        names.iter().filter_map(|name| self.seats.iter().find(|seat| seat.prepared.name() == name)).collect()
    }

    pub fn named(&self, name: &str) -> Option<&ChainBrain> {
        self.seats.iter().find(|seat| seat.prepared.name() == name)
    }

    fn links(chain: &[&ChainBrain]) -> Vec<BrainId> {
        chain.iter().map(|seat| seat.prepared.link.clone()).collect()
    }

    /// Whom to ask next.
    pub fn next(&self, chain: &[&ChainBrain], walk: &FailoverWalk) -> Option<Attempt> {
        let (links, health, now) = (Self::links(chain), self.health.load(), self.clock.now());
        let next = failover::next(&links, &health, &walk.tried, now)?;
        let in_vain = next.last_resort && failover::was_just_empty(&health, &links[next.link], now);
        (!(walk.unattended && in_vain)).then_some(next)
    }

    /// Who was passed over because it rests, and until when, where nobody answered.
    pub fn skipped(&self, chain: &[&ChainBrain], walk: &FailoverWalk) -> Vec<(String, Option<Timestamp>)> {
        let asked: Vec<usize> = walk.tried.iter().map(|tried| tried.attempt.link).collect();
        let health = self.health.load();
        failover::skipped(&Self::links(chain), &health, &asked, false, self.clock.now())
    }

    /// What a brain said when it failed last, scrubbed.
    pub fn last_error(&self, name: &str) -> Option<String> {
        self.health.load().seen.get(name)?.last_error.clone()
    }

    /// Asks once, and remembers how it went; `heard` knows what was used, also of a call that is dropped.
    pub async fn ask(
        &self,
        seat: &ChainBrain,
        attempt: &Attempt,
        request: &Request,
        heard: &CallListener<'_>,
        stop: &CancellationToken,
    ) -> Result<Reply, BrainError> {
        let permits = self.permits(seat);
        let _permit = permits.acquire().await;
        let Some(brain) = seat.calls.get(attempt.key) else {
            return Err(BrainError::new(crate::brain::FailureClass::Auth, "it has no key"));
        };
        let (events, coming) = mpsc::channel(EVENTS);
        let asking = brain.call(request, events, stop.child_token());
        let (answered, ()) = tokio::join!(asking, heard.listen(coming));
        self.remember(seat, attempt, &answered);
        answered
    }

    /// Lets a harness run once, and remembers how it went.
    pub async fn run(
        &self,
        seat: &ChainBrain,
        attempt: &Attempt,
        task: &HarnessTask<'_>,
        host: &dyn Host,
        end: &CancellationToken,
    ) -> Result<Reply, BrainError> {
        let permits = self.permits(seat);
        let _permit = tokio::select! {
            biased;
            () = end.cancelled() => return Err(BrainError::cancelled()),
            permit = permits.acquire() => permit,
        };
        let Some(harness) = seat.harnesses.get(attempt.key) else {
            return Err(BrainError::new(crate::brain::FailureClass::Auth, "it has no key"));
        };
        let answered = harness.run(task, host, end.clone()).await;
        self.remember(seat, attempt, &answered);
        answered
    }

    fn permits(&self, seat: &ChainBrain) -> Arc<Semaphore> {
        self.permits.of(seat.prepared.name(), seat.prepared.settings.at_once())
    }

    fn remember(&self, seat: &ChainBrain, attempt: &Attempt, answered: &Result<Reply, BrainError>) {
        let now = self.clock.now();
        let links: Vec<BrainId> = self.seats.iter().map(|seat| seat.prepared.link.clone()).collect();
        let at = links.iter().position(|link| link.brain == seat.prepared.name()).unwrap_or_default();
        // A brain that says nothing isn't well.
        let went = answered.as_ref().map_err(Clone::clone).and_then(Reply::usable);
        let change = |health: &mut BrainHealth| match &went {
            Ok(()) => failover::succeeded(health, &links, at, attempt.key, now),
            Err(error) => failover::failed(health, &links, at, attempt.key, error, now),
        };
        if let Err(error) = self.health.update(change) {
            tracing::warn!("what is known of the brains can't be kept: {error}");
        }
    }
}

impl FailoverWalk {
    /// A walk that nobody, or somebody, waits for.
    pub fn new(unattended: bool) -> Self {
        Self { unattended, ..Self::default() }
    }

    /// Notes that an attempt brought no answer.
    pub fn note(&mut self, attempt: Attempt, name: &str, error: BrainError) {
        self.tried.push(FailedAttempt { attempt, class: error.class, too_long: error.too_long });
        self.failed.push((name.to_owned(), error));
    }
}
