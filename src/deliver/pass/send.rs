//! Sends messages: each chunk once, after its row in the delivery journal is on disk.
//!
//! A chunk that may have arrived is searched for at its destination before it is sent again. The search is skipped as
//! long as the service itself drops a second copy (within its nonce window). After an attempt without an answer, a
//! requested pause, or three failures in a row (for copies one failure), a destination gets nothing more in this pass.
//! A notification that a destination refuses for good goes to the next destination; an answer or an approval waits.

use std::time::{Duration, Instant};

use super::machine_claims::{self, MessageClaims};
use super::planned::DAY;
use super::{Pass, PassReport};
use crate::deliver::delivery_journal::{ChunkState, JournalMessage};
use crate::deliver::delivery_order::Destination;
use crate::deliver::notifier::{MessageKind, MessageLookup, NotifiedItem, SendOutcome};
use crate::deliver::prelude::*;
use crate::machines::protocol::claim_key;
use crate::sqlite::Result;

/// How far before the first attempt a lookup begins: clocks differ.
const LOOKUP_SKEW: SignedDuration = SignedDuration::from_mins(10);
/// A send that doesn't answer in this time has an unknown outcome.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// After so many failures in a row a place is left alone for the rest of the pass.
const FAILURES: u32 = 3;
/// How long an answer waits after its place refused it, because a person has to fix the permissions.
const ANSWER_PAUSE: Duration = Duration::from_secs(5 * 60);

/// A queue: messages to one notifier with one scope wait for each other.
type SendQueue = super::messages::Place;

fn lane(message: &JournalMessage) -> SendQueue {
    (message.to.clone(), message.scope)
}

/// The messages that [`Sender::resume`] continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageSelection {
    /// Those that count.
    Counting,
    /// Copies to further notifiers.
    Copies,
    /// Both, those that count first.
    All,
    /// Confirmations that no place has refused. One that is refused now stays for the daemon or `tick`: a console of
    /// this process is not the user's.
    Confirmations,
}

/// Sends messages during one pass.
pub(crate) struct Sender<'c> {
    pass: Pass<'c>,
    selection: MessageSelection,
    deadline: Instant,
    pub report: &'c mut PassReport,
    failures: HashMap<SendQueue, u32>,
    /// The recipients that took something in this pass, and for whom nothing waits any more.
    back: HashSet<SendQueue>,
    /// Whether messages or deliveries that waited were released.
    pub has_released: bool,
    /// Whether the time for sending is used up; the rest comes in the next pass.
    pub out_of_time: bool,
}

/// How one message ended.
enum SendEnd {
    /// All of it arrived.
    Sent,
    NotSent,
    /// It isn't this machine's turn, or another process sent it meanwhile.
    Passed,
}

impl<'c> Sender<'c> {
    /// Sends for at most `budget` from now on.
    pub fn new(pass: Pass<'c>, budget: Duration, report: &'c mut PassReport) -> Self {
        let (deadline, failures, back) = (Instant::now() + budget, HashMap::new(), HashSet::new());
        let selection = MessageSelection::All;
        Self { pass, selection, deadline, report, failures, back, has_released: false, out_of_time: false }
    }

    /// Skips places with a running pause; messages that they refused come before all others.
    fn keep_pauses(&mut self) -> Result<()> {
        for (to, scope, until) in self.pass.journal.pauses(self.pass.now)? {
            self.failures.insert((to, scope), FAILURES);
            self.report.request_pass(until);
        }
        Ok(())
    }

    /// Continues messages of the last pass, and confirmations. Items that aren't urgent wait for the end of the quiet
    /// hours, and all items while nothing fires here.
    pub async fn resume(&mut self, which: MessageSelection) -> Result<()> {
        self.keep_pauses()?;
        self.selection = which;
        loop {
            self.has_released = false;
            let ready = self.ready()?;
            self.deliver(ready).await?;
            if !self.has_released || self.out_of_time {
                return Ok(());
            }
        }
    }

    /// The messages on their way that may be tried now, those that count first.
    fn ready(&mut self) -> Result<Vec<JournalMessage>> {
        let settings = self.pass.context.settings;
        let quiet = settings.notify_rules.quiet_until(&settings.zone, self.pass.now);
        let is_silent = settings.reason_for_silence(self.pass.now).is_some();
        let mut ready = Vec::new();
        for message in self.pass.journal.messages()? {
            let is_due = match self.selection {
                MessageSelection::All => true,
                MessageSelection::Counting => !message.to.is_copy(),
                MessageSelection::Copies => message.to.is_copy(),
                MessageSelection::Confirmations => {
                    message.kind == MessageKind::Confirmation && message.route == 0
                }
            };
            let held = quiet
                .filter(|_| !message.facts.is_empty() && !settings.notify_rules.is_urgent(&message.facts));
            match message.waits_until(self.pass.now) {
                _ if !is_due || is_silent && !message.facts.is_empty() => {}
                _ if held.is_some() => held.into_iter().for_each(|until| self.report.request_pass(until)),
                Some(at) => self.report.request_pass(at),
                None => ready.push(message),
            }
        }
        ready.sort_by_key(|message| message.to.is_copy());
        Ok(ready)
    }

    /// A place took a message: messages that wait for the place are tried again, each after its own pause.
    fn is_back(&mut self, message: &JournalMessage, place: &str) -> Result<()> {
        if self.back.insert(lane(message)) {
            self.has_released |= self.pass.journal.release(place, &message.to, message.scope)?;
        }
        Ok(())
    }

    /// Sends messages in order.
    pub async fn deliver(&mut self, messages: Vec<JournalMessage>) -> Result<()> {
        for message in messages {
            if Instant::now() >= self.deadline {
                self.out_of_time = true;
                self.report.request_pass(self.pass.now);
                return Ok(());
            }
            if self.failures.get(&lane(&message)).is_some_and(|count| *count >= FAILURES) {
                continue;
            }
            let (lane, is_copy) = (lane(&message), message.to.is_copy());
            let Some(message) = super::messages::with_lateness(self.pass, message)? else { continue };
            match self.deliver_one(message).await? {
                SendEnd::Sent => drop(self.failures.remove(&lane)),
                SendEnd::NotSent => {
                    *self.failures.entry(lane).or_default() += if is_copy { FAILURES } else { 1 };
                }
                SendEnd::Passed => {}
            }
        }
        Ok(())
    }

    async fn deliver_one(&mut self, mut message: JournalMessage) -> Result<SendEnd> {
        let journal = self.pass.context.journal;
        let rights = MessageClaims::of(self.pass, &message)?;
        if self.is_told(&message)? {
            return Ok(SendEnd::Sent);
        }
        if !rights.may_send_now(self.pass, &message).await? {
            return Ok(SendEnd::Passed);
        }
        let mut chunk = 0;
        while chunk < message.chunks.len() {
            if message.chunks[chunk].state == ChunkState::Sent {
                chunk += 1;
                continue;
            }
            let Some(place) =
                self.pass.context.delivery_order.place(&message.to, message.route, message.scope)
            else {
                if message.to.is_copy() && message.route == 0 {
                    tracing::info!(
                        to = message.to.name(),
                        "the settings name it no more: its copy is dropped"
                    );
                    journal.drop_message(&message.key)?;
                    return Ok(SendEnd::Sent);
                }
                return self.give_up(&message, "every notifier refused it");
            };
            let Some(outcome) = self.attempt(&message, chunk, &place, &rights).await? else {
                return Ok(SendEnd::Passed);
            };
            match outcome {
                SendOutcome::Sent { message_id } => {
                    fail::fail_point!("deliver::before-sent-row");
                    let is_whole = journal.sent(
                        &message.key,
                        (message.route, chunk),
                        message_id.as_deref(),
                        &place.name(),
                    )?;
                    fail::fail_point!("deliver::after-sent-row");
                    journal.accepted(&place.name())?;
                    if is_whole {
                        rights.mark_sent(self.pass);
                        self.is_back(&message, &place.name())?;
                    }
                    chunk += 1;
                }
                SendOutcome::Unknown { reason } => {
                    let retry = message.retry_at(chunk, None, self.pass.clock.now());
                    tracing::warn!(
                        place = place.name(),
                        key = message.key,
                        reason,
                        "it isn't known whether a notification arrived"
                    );
                    journal.unknown(&message.key, retry, &reason)?;
                    // One message that waits for its answer is enough: no other one should wait for it.
                    self.failures.insert(lane(&message), FAILURES);
                    return Ok(self.not_sent(&message, retry, &reason));
                }
                SendOutcome::Retry { after, reason } => {
                    return self.postponed(&message, chunk, &place.name(), after, &reason);
                }
                SendOutcome::Never { reason } => return self.give_up(&message, &reason),
                SendOutcome::Refused { reason } => {
                    let rerouted = self.refused(&message, chunk, &place.name(), &reason)?;
                    let Some(rerouted) = rerouted else { return Ok(SendEnd::NotSent) };
                    if self.is_told(&rerouted)? {
                        return Ok(SendEnd::Sent);
                    }
                    (message, chunk) = (rerouted, 0);
                }
            }
        }
        message.facts.iter().for_each(|fact| self.report_fired(&message, fact));
        Ok(SendEnd::Sent)
    }

    /// Whether the notifier already got the items of this message, or some of them, in another message; the other items
    /// are free again.
    fn is_told(&mut self, message: &JournalMessage) -> Result<bool> {
        let order = self.pass.delivery_order;
        let (Some(claimed), Some(place)) =
            (order.name(&message.to), order.place(&message.to, message.route, message.scope))
        else {
            return Ok(false);
        };
        if message.chunks.iter().any(|chunk| chunk.state == ChunkState::Sent) {
            return Ok(false);
        }
        let told = self.pass.journal.end_already_sent(message, place.notifier.name())?;
        for (key, fact) in &told {
            machine_claims::mark_claim_sent(self.pass, key, &claim_key(key, claimed))?;
            self.report_fired(message, fact);
        }
        let is_told = !told.is_empty();
        self.has_released |= is_told && told.len() < message.facts.len();
        Ok(is_told)
    }

    fn report_fired(&mut self, message: &JournalMessage, fact: &NotifiedItem) {
        if !message.to.is_copy() {
            self.report.fired(fact, self.pass);
        }
    }

    /// A place could not take a chunk yet: it is tried again later.
    fn postponed(
        &mut self,
        message: &JournalMessage,
        chunk: usize,
        place: &str,
        after: Option<Duration>,
        reason: &str,
    ) -> Result<SendEnd> {
        let journal = self.pass.context.journal;
        let retry = message.retry_at(chunk, after, self.pass.clock.now());
        tracing::warn!(place, key = message.key, reason, "a notification could not be sent yet");
        // An earlier attempt may have arrived, whatever became of this one.
        if message.chunks[chunk].state == ChunkState::Sending {
            journal.unknown(&message.key, retry, reason)?;
        } else {
            journal.not_sent(&message.key, chunk, retry, reason, place)?;
        }
        if after.is_some() {
            // The place asks for a pause: its other messages wait too, also in later passes.
            self.failures.insert(lane(message), FAILURES);
            journal.pause(&message.to, message.scope, self.pass.now, retry)?;
        }
        Ok(self.not_sent(message, retry, reason))
    }

    /// Moves a message that a place refused for good to the next place, except for one that belongs beside its
    /// question.
    fn refused(
        &mut self,
        message: &JournalMessage,
        chunk: usize,
        place: &str,
        reason: &str,
    ) -> Result<Option<JournalMessage>> {
        let journal = self.pass.context.journal;
        tracing::error!(place, key = message.key, reason, "a notification was refused");
        let at = self.pass.clock.now();
        journal.refused(place, at, reason, &self.pass.settings.notifiers)?;
        if matches!(message.kind, MessageKind::Answer | MessageKind::Approval) {
            let retry = message.retry_at(chunk, Some(ANSWER_PAUSE), self.pass.clock.now());
            journal.unknown(&message.key, retry, reason)?;
            self.not_sent(message, retry, reason);
            return Ok(None);
        }
        if self.selection == MessageSelection::Confirmations {
            self.postponed(message, chunk, place, None, reason)?;
            return Ok(None);
        }
        let route = message.route + 1;
        let Some(other) = self.pass.context.delivery_order.place(&message.to, route, message.scope) else {
            self.give_up(message, reason)?;
            return Ok(None);
        };
        journal.reroute(&message.key, route, other.notifier.limit())
    }

    /// Makes one attempt at one chunk: looks for it first if an earlier attempt may have delivered it.
    async fn attempt(
        &self,
        message: &JournalMessage,
        chunk: usize,
        place: &Destination<'_>,
        rights: &MessageClaims,
    ) -> Result<Option<SendOutcome>> {
        let (now, outgoing) = (self.pass.clock.now(), message.outgoing(chunk, place.scope));
        let state = &message.chunks[chunk];
        if let (ChunkState::Sending, Some(first)) = (state.state, state.first) {
            let age = first.duration_until(now);
            if age.is_negative() || age >= place.notifier.nonce_window() {
                // A clock that went back was ahead, and says nothing of when the attempt was.
                let back = if age.is_negative() { DAY } else { LOOKUP_SKEW };
                let since = first.min(now).saturating_sub(back).unwrap_or(first);
                let journal = self.pass.context.journal;
                // A failed read is reported below.
                let is_free = |id: &str| !journal.belongs_to_delivery(id).unwrap_or_default();
                match place.notifier.find(&outgoing, since, &is_free).await {
                    MessageLookup::Found { message_id } if !journal.belongs_to_delivery(&message_id)? => {
                        return Ok(Some(SendOutcome::Sent { message_id: Some(message_id) }));
                    }
                    MessageLookup::Later { reason } => return Ok(Some(SendOutcome::Unknown { reason })),
                    MessageLookup::Found { .. } | MessageLookup::NotFound => {}
                }
            }
        }
        fail::fail_point!("deliver::before-sending-row");
        if !self.pass.journal.sending(&message.key, chunk, now)? {
            return Ok(None);
        }
        fail::fail_point!("deliver::before-send");
        let Some(left) = rights.left(self.pass) else {
            let reason = "the machine's claim ran out before it was sent".to_owned();
            return Ok(Some(SendOutcome::Unknown { reason }));
        };
        let (began, until) = (tokio::time::Instant::now(), self.pass.clock.boot().saturating_add(left));
        let answer = tokio::select! {
            biased;
            answer = tokio::time::timeout(SEND_TIMEOUT, place.notifier.send(&outgoing)) => answer.ok(),
            () = rights.end(self.pass, until) => None,
        };
        fail::fail_point!("deliver::after-send");
        Ok(Some(answer.unwrap_or_else(|| SendOutcome::Unknown {
            reason: format!("{} did not answer in {} s", place.name(), began.elapsed().as_secs()),
        })))
    }

    fn not_sent(&mut self, message: &JournalMessage, retry: Timestamp, reason: &str) -> SendEnd {
        self.failed(message, reason);
        self.report.request_pass(retry);
        SendEnd::NotSent
    }

    fn failed(&mut self, message: &JournalMessage, reason: &str) {
        let copy = message.to.name().filter(|_| message.to.is_copy());
        self.report.failed(&message.facts, copy, reason);
    }

    fn give_up(&mut self, message: &JournalMessage, reason: &str) -> Result<SendEnd> {
        self.failed(message, reason);
        if message.facts.is_empty() {
            self.pass.journal.drop_message(&message.key)?;
        } else {
            self.pass.journal.failed(&message.key, reason, &self.pass.settings.notifiers)?;
        }
        Ok(SendEnd::NotSent)
    }
}
