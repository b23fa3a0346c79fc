//! Calls the configured brains, and records each result in the health file.
//!
//! A request, and the next attempt of a [`FailoverWalk`], come in; a reply or an error goes out, with its duration and
//! token usage. [`CallPermits`] limit the parallel calls of each brain. The caller may set a time limit. A call that
//! this limit cut off counts as the brain's failure only if the brain had at least the silence timeout. Also lists the
//! brains that were skipped, and computes the cost of a turn's calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::brain_clients::{self, BrainClient, ClientContext, PreparedBrain};
use crate::brain::failover::{self, Availability, BrainAttempt, BrainId, FailedAttempt};
use crate::brain::health::HealthStore;
use crate::brain::wire::BrainTimeouts;
use crate::brain::{BrainError, CallProgress, FailureClass, HarnessHost, HarnessTask, Reply, Request, Usage};
use crate::clock::Clock;
use crate::turn::turn_journal::CallRow;
use crate::turn::{Facts, assemble};
use crate::workspace::Workspace;

/// The permits for calls of brains, for as long as the program runs. Each channel asks once at a time, so the order
/// is fair between channels.
#[derive(Debug, Default)]
pub struct CallPermits(Mutex<HashMap<(String, usize), Arc<Semaphore>>>);

/// All brains of the settings, ready to be asked.
pub(super) struct Brains {
    members: Vec<ChainBrain>,
    health: HealthStore,
    permits: Arc<CallPermits>,
    clock: Arc<dyn Clock>,
    /// How long a brain may be silent.
    silence: Duration,
}

pub(super) struct ChainBrain {
    pub prepared: PreparedBrain,
    clients: Vec<BrainClient>,
}

/// One try of one brain of a chain.
#[derive(Clone, Copy)]
pub(super) struct BrainCall<'c> {
    pub member: &'c ChainBrain,
    pub attempt: BrainAttempt,
}

impl BrainCall<'_> {
    /// The client with the key of the attempt.
    fn client(&self) -> Result<&BrainClient, BrainError> {
        let client = self.member.clients.get(self.attempt.key);
        client.ok_or_else(|| BrainError::new(FailureClass::Auth, "it has no key"))
    }
}

/// The progress along one turn's chain: the attempts, and their errors.
#[derive(Default)]
pub(super) struct FailoverWalk {
    /// The failed attempts.
    pub tried: Vec<FailedAttempt>,
    /// The name of each that failed and what its error says, in order.
    pub failed: Vec<(String, String)>,
    /// Whether no person waits for the answer. Then a brain whose account was found empty within the last hour isn't
    /// tried as the last resort.
    pub unattended: bool,
}

/// A call's usage, by the provider's last figures. Without figures it is estimated from the request and the text so
/// far; a call that brought nothing at all used nothing.
fn usage(progress: CallProgress, request: &Request, result: &Result<Reply, BrainError>) -> Usage {
    let reported = result.as_ref().ok().map(|reply| reply.usage).filter(|usage| *usage != Usage::default());
    match reported.unwrap_or(progress.usage) {
        usage if usage != Usage::default() => usage,
        _ if result.is_ok() || progress.chars > 0 => {
            let calls = result.iter().flat_map(|reply| &reply.tool_calls);
            let calls: usize =
                calls.map(|call| call.name.chars().count() + call.arguments.chars().count()).sum();
            let output = u64::try_from((progress.chars + calls).div_ceil(4)).unwrap_or(u64::MAX);
            Usage { input: assemble::tokens(request), output, ..Usage::default() }
        }
        _ => Usage::default(),
    }
}

/// A brain's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainAnswer {
    /// Its words.
    pub text: String,
    /// The brain.
    pub brain: String,
    /// The model, by its provider's word.
    pub model: String,
}

impl Brains {
    /// The brains of a workspace's settings. Nothing is opened but the HTTP client.
    ///
    /// # Errors
    /// The system has no TLS to offer.
    pub fn of(
        workspace: &Workspace,
        timeouts: BrainTimeouts,
        permits: Arc<CallPermits>,
    ) -> Result<Self, BrainError> {
        let (health, clock) = (HealthStore::new(&workspace.dirs.state), Arc::clone(&workspace.clock));
        let context = ClientContext::of(workspace, timeouts)?;
        let member = |prepared: PreparedBrain| ChainBrain { clients: prepared.clients(&context), prepared };
        let prepared = brain_clients::prepare(&workspace.settings, workspace.vault.root());
        let members = prepared.into_iter().map(member).collect();
        Ok(Self { members, health, permits, clock, silence: timeouts.silence })
    }

    /// The brains with these names, in this order.
    pub fn chain(&self, names: &[String]) -> Vec<&ChainBrain> {
        names.iter().filter_map(|name| self.named(name)).collect()
    }

    pub fn named(&self, name: &str) -> Option<&ChainBrain> {
        self.members.iter().find(|member| member.prepared.name() == name)
    }

    /// The count, usage and cost of calls, failed ones included; `costs` are those that a harness reported, by brain.
    /// Without a cost if the price of a brain is unknown.
    pub fn call_facts(&self, calls: &[CallRow], costs: &[(String, f64)]) -> Facts {
        let mut usage = Usage::default();
        calls.iter().for_each(|call| usage += call.usage);
        let is_priced = |call: &&CallRow| {
            call.usage != Usage::default() && !costs.iter().any(|(brain, _)| *brain == call.brain)
        };
        let price = |call: &CallRow| Some(self.named(&call.brain)?.prepared.settings.price?.of(&call.usage));
        let priced = calls.iter().filter(is_priced).map(price);
        let paid: Option<Vec<f64>> = priced.chain(costs.iter().map(|(_, usd)| Some(*usd))).collect();
        Facts {
            input: usage.input,
            cached: usage.cached,
            output: usage.output,
            usd: paid.filter(|paid| !paid.is_empty()).map(|paid| paid.iter().sum()),
            spent_by: calls
                .iter()
                .rfind(|call| call.usage != Usage::default())
                .map(|call| call.brain.clone()),
            calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            failed: calls.iter().filter_map(|call| Some((call.brain.clone(), call.class?))).collect(),
            ..Facts::default()
        }
    }

    fn ids(chain: &[&ChainBrain]) -> Vec<BrainId> {
        chain.iter().map(|member| member.prepared.id.clone()).collect()
    }

    /// The next attempt, if any brain is left.
    pub fn next<'c>(&self, chain: &[&'c ChainBrain], walk: &FailoverWalk) -> Option<BrainCall<'c>> {
        let (ids, health, now) = (Self::ids(chain), self.health.load(), self.clock.now());
        let next = failover::next(&ids, &health, &walk.tried, now)?;
        let pointless = next.last_resort && failover::was_just_empty(&health, &ids[next.index], now);
        let call = BrainCall { member: chain[next.index], attempt: next };
        (!(walk.unattended && pointless)).then_some(call)
    }

    /// The brains that were skipped because they are in cooldown, each with its last error, scrubbed, in words.
    pub fn skipped(&self, chain: &[&ChainBrain], walk: &FailoverWalk) -> Vec<String> {
        let (health, now) = (self.health.load(), self.clock.now());
        let rests = |(at, member): &(usize, &&ChainBrain)| {
            walk.tried.iter().all(|tried| tried.attempt.index != *at)
                && failover::availability(&health, &member.prepared.id, now) != Availability::Free
        };
        let in_words = |(_, member): (usize, &&ChainBrain)| {
            let name = member.prepared.name();
            let error = health.seen.get(name).and_then(|seen| seen.last_error.as_ref());
            error.map_or_else(|| name.to_owned(), |error| format!("{name} ({})", error.trim_end_matches('.')))
        };
        chain.iter().enumerate().filter(rests).map(in_words).collect()
    }

    /// Makes one call, and records its result in the health file. Gives its duration in milliseconds and its usage,
    /// also where it brought no answer, or none within `most`. That says nothing of a brain that had little time.
    pub async fn ask(
        &self,
        call: BrainCall<'_>,
        request: &Request,
        stop: &CancellationToken,
        most: Option<Duration>,
    ) -> (Result<Reply, BrainError>, u64, Usage) {
        let began = Instant::now();
        let mut progress = CallProgress::default();
        let mut asked = None;
        let asking = async {
            let permits = self.permits(call.member);
            let _permit = permits.acquire().await;
            asked = Some(Instant::now());
            let result = call.client()?.call(request, &mut progress, stop.child_token()).await;
            self.remember(call, &result);
            result
        };
        let answered = match most {
            None => asking.await,
            Some(most) => tokio::time::timeout(most, asking).await.unwrap_or_else(|_| {
                let late = BrainError::new(FailureClass::Timeout, "it took longer than there was time");
                let late = Err(late);
                if asked.is_some_and(|at| at.elapsed() >= self.silence) {
                    self.remember(call, &late);
                }
                late
            }),
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let used = usage(progress, request, &answered);
        (answered, ms, used)
    }

    /// Runs a harness once, and records its result in the health file.
    pub async fn run(
        &self,
        call: BrainCall<'_>,
        task: &HarnessTask<'_>,
        host: &dyn HarnessHost,
        end: &CancellationToken,
    ) -> Result<Reply, BrainError> {
        let permits = self.permits(call.member);
        let _permit = tokio::select! {
            biased;
            () = end.cancelled() => return Err(BrainError::cancelled()),
            permit = permits.acquire() => permit,
        };
        let result = call.client()?.run(task, host, end.clone()).await;
        self.remember(call, &result);
        result
    }

    /// The semaphore of one brain; waiting calls are served in order.
    fn permits(&self, member: &ChainBrain) -> Arc<Semaphore> {
        let (brain, at_once) = (member.prepared.name(), member.prepared.settings.at_once());
        let mut permits = self.permits.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(Semaphore::new(at_once));
        Arc::clone(permits.entry((brain.to_owned(), at_once)).or_insert_with(made))
    }

    fn remember(&self, BrainCall { member, attempt }: BrainCall<'_>, result: &Result<Reply, BrainError>) {
        let now = self.clock.now();
        let ids: Vec<BrainId> = self.members.iter().map(|member| member.prepared.id.clone()).collect();
        let at = ids.iter().position(|link| link.brain == member.prepared.name()).unwrap_or_default();
        // A brain that says nothing isn't well.
        let error = result.as_ref().map_err(Clone::clone).and_then(Reply::usable).err();
        let kept =
            self.health.update(|health| failover::record(health, &ids, at, attempt.key, error.as_ref(), now));
        if let Err(error) = kept {
            tracing::warn!("what is known of the brains can't be kept: {error}");
        }
    }
}

impl FailoverWalk {
    /// Records an attempt that brought no answer.
    pub fn record(&mut self, call: BrainCall<'_>, error: BrainError) {
        let BrainCall { member, attempt } = call;
        self.tried.push(FailedAttempt { attempt, class: error.class, too_long: error.too_long });
        self.failed.push((member.prepared.name().to_owned(), error.message));
    }
}
