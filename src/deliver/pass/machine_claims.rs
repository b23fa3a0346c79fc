//! Limits a pass to the messages that this machine may send, if several machines share one vault.
//!
//! The pass announces to the other machines the messages that it would send now or within a minute
//! ([`announce_sends`]). [`allowed`] keeps the due messages whose claims this machine has; a claim is the right to send
//! one message. Directly before a message is sent, its claims are checked once more ([`MessageClaims`]).
//!
//! If only one machine has the vault, nothing is limited.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::notes::PassNotes;
use super::planned::{PassPlan, PendingSend, recipient};
use super::{Pass, PassReport, messages, plan};
use crate::deliver::delivery_journal::{JournalMessage, LineHash, NewMessage, Recipient, voice_claim};
use crate::deliver::notifier::{MessageKind, MessageLookup, NotifiedItem, OutgoingMessage, nonce};
use crate::machines::protocol::{SendRight, claim_key};
use crate::machines::{IntendedSend, Machines};
use crate::sqlite::Result;

/// How far ahead the next occurrences are claimed.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);
/// The source that the pass's intended sends are listed under.
const SOURCE: &str = "deliveries";
/// How long before an item was due another machine may have sent it, because its clock differs.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_hours(1);

/// A delivery: its key, the hash of its line, its fact.
type KeyedFact = (String, LineHash, NotifiedItem);

/// Filters the due messages for those that this machine may send. Deliveries of another machine are recorded in the
/// journal; deliveries of a machine that was cut off are looked up at their place first.
pub(super) async fn allowed(
    pass: Pass<'_>,
    due: Vec<NewMessage>,
    report: &mut PassReport,
) -> Result<Vec<NewMessage>> {
    if pass.machines.is_alone() {
        return Ok(due);
    }
    let mut out = Vec::new();
    for message in due {
        let Some(place) = pass.delivery_order.name(&message.to) else { continue };
        let judged = DeliveriesByRight::of(pass.machines, &message, place);
        for delivery in judged.never.iter().filter(|_| !message.to.is_copy()) {
            // Another machine told it, or it is not to be told. A copy that is settled is left out.
            if let Some(name) = pass.machines.dropped_by(&claim_key(&delivery.0, place)) {
                let why = format!(
                    "`{name}` lacks its line: it was removed there, or that copy is incomplete; change its time here to have it delivered"
                );
                waits(pass, delivery, &why, report)?;
            } else if are_copies_settled(pass, delivery)? {
                record_sender(pass, delivery, place)?;
            }
        }
        let obstacle = pass.delivery_order.obstacle(&message.to).map(str::to_owned);
        let why = obstacle.or_else(|| pass.machines.problem());
        let why = why.map(|why| format!("it waits for the other machines: {why}"));
        let waits = |deliveries: &[KeyedFact], report: &mut PassReport| {
            let mut counting = deliveries.iter().filter(|_| !message.to.is_copy());
            let Some(why) = &why else { return Ok(()) };
            counting.try_for_each(|delivery| waits(pass, delivery, why, report))
        };
        waits(&judged.elsewhere, report)?;
        if !judged.waiting.is_empty() {
            // Those of a digest go together or not yet.
            waits(&judged.waiting, report)?;
            waits(&judged.fresh, report)?;
            waits(&judged.asked, report)?;
            continue;
        }
        let is_whole = judged.fresh.len() == message.deliveries.len();
        let is_claimed =
            message.kind != MessageKind::Digest || judged.is_within(pass.machines, &message, place);
        if is_whole && is_claimed {
            out.push(message);
            continue;
        }
        let found = ask_for_digests(pass, &message, &judged.asked, place).await?;
        let keys =
            |deliveries: &[KeyedFact]| deliveries.iter().map(|one| one.0.clone()).collect::<HashSet<_>>();
        let (fresh, asked) = (keys(&judged.fresh), keys(&judged.asked));
        for mut one in messages::split_message(&message, pass.today()) {
            let (key, _, fact) = &one.deliveries[0];
            if asked.contains(key) && !found.contains(key) {
                let since = fact.due.min(pass.now).saturating_sub(CLOCKS_DIFFER);
                one.lookup_since = Some(since.unwrap_or(fact.due));
            }
            if fresh.contains(key) || one.lookup_since.is_some() {
                // The words that were composed for one alone.
                out.push(if message.deliveries.len() == 1 {
                    NewMessage { lookup_since: one.lookup_since, ..message.clone() }
                } else {
                    one
                });
            }
        }
    }
    Ok(out)
}

/// The deliveries of a message by their rights.
#[derive(Default)]
struct DeliveriesByRight {
    fresh: Vec<KeyedFact>,
    asked: Vec<KeyedFact>,
    waiting: Vec<KeyedFact>,
    /// Another machine holds their claims, and sends them.
    elsewhere: Vec<KeyedFact>,
    never: Vec<KeyedFact>,
}

impl DeliveriesByRight {
    fn of(machines: &Machines, message: &NewMessage, place: &str) -> Self {
        let mut judged = Self::default();
        for delivery in &message.deliveries {
            let claim = claim_key(&delivery.0, place);
            let list = match machines.send_right(&claim) {
                SendRight::Yes { ask: false, .. } => &mut judged.fresh,
                SendRight::Yes { ask: true, .. } => &mut judged.asked,
                SendRight::Wait if machines.is_claimed_elsewhere(&claim) => &mut judged.elsewhere,
                SendRight::Wait => &mut judged.waiting,
                SendRight::Never => &mut judged.never,
            };
            list.push(delivery.clone());
        }
        judged
    }

    /// Whether all fresh deliveries were claimed for this very message.
    fn is_within(&self, machines: &Machines, message: &NewMessage, place: &str) -> bool {
        let is_it = |delivery: &KeyedFact| {
            machines.digest_key(&claim_key(&delivery.0, place)).as_deref() == Some(message.key.as_str())
        };
        self.fresh.iter().all(is_it)
    }
}

/// Records which machine sent a delivery, where that is known, and the hash of the line that it told: this machine's
/// copy may have other words, which nobody was told.
pub(super) fn record_sender(pass: Pass<'_>, delivery: &KeyedFact, place: &str) -> Result<()> {
    let claim = claim_key(&delivery.0, place);
    let Some((sender, at)) = pass.machines.sender_of(&claim) else {
        return Ok(());
    };
    let (key, line, fact) = delivery.clone();
    // A task's line isn't rewritten.
    let told = pass.machines.sent_line(&claim).filter(|_| fact.kind != MessageKind::Task);
    let told = told.and_then(|told| LineHash::parse(&told));
    let other = Some(sender.as_str()).filter(|name| pass.machines.is_other(name));
    pass.journal.record_other_machine(&(key, told.unwrap_or(line), fact), place, other, at, None)
}

/// Whether no further notifier waits for its copy: the machine that sent the counting message may have died before it
/// sent the copies.
fn are_copies_settled(pass: Pass<'_>, (key, _, fact): &KeyedFact) -> Result<bool> {
    for name in pass.settings.notify_rules.kinds(&fact.msg).into_iter().skip(1) {
        let is_settled = pass.machines.send_right(&claim_key(key, name)) == SendRight::Never;
        if !is_settled && !pass.journal.is_copied(key, name)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Records and reports why a due item isn't sent yet.
fn waits(pass: Pass<'_>, (key, line, fact): &KeyedFact, why: &str, report: &mut PassReport) -> Result<()> {
    if pass.journal.record_wait(key, line, fact, why)? {
        report.failed(std::slice::from_ref(fact), None, why);
    }
    Ok(())
}

/// Asks the place for the digests in which other machines may have sent these items. Returns the keys of the items that
/// aren't sent again now: the digest was found, or the place can't be asked at present.
async fn ask_for_digests(
    pass: Pass<'_>,
    message: &NewMessage,
    asked: &[KeyedFact],
    place: &str,
) -> Result<HashSet<String>> {
    let mut digests: BTreeMap<String, Vec<&KeyedFact>> = BTreeMap::new();
    for delivery in asked {
        if let Some(within) = pass.machines.digest_key(&claim_key(&delivery.0, place)) {
            digests.entry(within).or_default().push(delivery);
        }
    }
    let mut settled = HashSet::new();
    for (within, deliveries) in digests {
        let Some(at) = pass.delivery_order.place(&message.to, 0, message.scope) else { continue };
        // A place that keeps no nonces finds the same words.
        let text = if message.key == within { message.body.clone() } else { within.clone() };
        let nonce = nonce(MessageKind::Digest, &within, 0, 0);
        let outgoing = OutgoingMessage {
            nonce,
            scope: at.scope,
            facts: deliveries.iter().map(|(_, _, fact)| fact.clone()).collect(),
            ..OutgoingMessage::whole(MessageKind::Digest, within.clone(), text)
        };
        let since = deliveries.iter().map(|(_, _, fact)| fact.due).min().unwrap_or(pass.now).min(pass.now);
        let since = since.saturating_sub(CLOCKS_DIFFER).unwrap_or(since);
        let found = match at.notifier.find(&outgoing, since, &|_| true).await {
            MessageLookup::Found { message_id } => Some(message_id),
            MessageLookup::NotFound => continue,
            MessageLookup::Later { .. } => None,
        };
        settled.extend(deliveries.iter().map(|one| one.0.clone()));
        let Some(id) = found else { continue };
        for delivery in deliveries {
            pass.machines.mark_sent(&claim_key(&delivery.0, place), None);
            if !message.to.is_copy() {
                pass.journal.record_other_machine(delivery, place, None, pass.now, Some(&id))?;
            }
        }
    }
    Ok(settled)
}

/// Tells the other machines which messages this one would send now or within a minute: due ones, coming ones, and those
/// on their way.
pub(super) fn announce_sends(pass: Pass<'_>, notes: &PassNotes, plan: Option<&PassPlan>) -> Result<()> {
    if pass.machines.is_alone() {
        return Ok(());
    }
    let mut wants: Vec<IntendedSend> = Vec::new();
    let mut push = |key: String, due: Timestamp, within: Option<String>| {
        if wants.iter().all(|want| want.key != key) {
            wants.push(IntendedSend { key, due: Some(due), within });
        }
    };
    let none = std::collections::HashMap::new();
    let mut add = |pass: Pass<'_>, fires: &[PendingSend]| -> Result<()> {
        let mut messages = messages::counting(pass, fires, &none)?;
        messages.extend(messages::copies(pass, fires, &none)?);
        for message in messages {
            let Some(place) = pass.delivery_order.usable_name(&message.to) else { continue };
            let within = (message.kind == MessageKind::Digest).then_some(message.key);
            for (key, _, fact) in &message.deliveries {
                push(claim_key(key, place), fact.due, within.clone());
            }
        }
        Ok(())
    };
    if let Some(plan) = plan {
        add(pass, &plan.fires)?;
        let ahead = pass.dry_run_at(pass.later(AHEAD));
        let known: HashSet<&str> = plan.fires.iter().map(|fire| fire.key.as_str()).collect();
        let mut next = plan::plan(ahead, notes)?.fires;
        next.retain(|fire| !known.contains(fire.key.as_str()));
        add(ahead, &next)?;
    }
    for message in pass.journal.messages()? {
        // A message that waits for another attempt is free until then: another machine may get through.
        let is_ready = message.waits_until(pass.now).is_none();
        if let Some(place) = pass.delivery_order.usable_name(&message.to).filter(|_| is_ready) {
            for (key, _, fact) in pass.journal.deliveries_in(&message.key)? {
                push(claim_key(&key, place), fact.due, None);
            }
        }
    }
    pass.machines.set_intended_sends(SOURCE, wants);
    Ok(())
}

/// Marks claims from before a restart whose deliveries the journal knows to be sent.
pub(super) fn mark_left_open(pass: Pass<'_>) -> Result<()> {
    let open: HashSet<String> = pass.machines.left_open().into_iter().collect();
    if open.is_empty() {
        return Ok(());
    }
    for (key, fact, copy) in pass.journal.sent_here()? {
        let to = match copy {
            Some(name) => Recipient::Copy(name),
            None => recipient(pass.settings, &fact),
        };
        let claim = pass.delivery_order.name(&to).map(|place| claim_key(&key, place));
        if let Some(claim) = claim.filter(|claim| open.contains(claim)) {
            mark_claim_sent(pass, &key, &claim)?;
        }
    }
    Ok(())
}

/// Marks a claim as sent whose delivery the journal knows to be sent.
pub(super) fn mark_claim_sent(pass: Pass<'_>, key: &str, claim: &str) -> Result<()> {
    let row = pass.journal.row(key)?;
    pass.machines.mark_sent(claim, row.map(|row| row.line.text()));
    Ok(())
}

/// The claims that a message needs. A message that a person at this machine asked for needs none, and neither does an
/// approval, which only the voice sends.
#[derive(Debug, Default)]
pub(super) struct MessageClaims {
    claims: Vec<String>,
    /// The hashes of the lines, in the order of the claims; none for a message without lines.
    lines: Vec<LineHash>,
    /// Whether only the voice may send it.
    of_voice: bool,
}

impl MessageClaims {
    /// The claims that `message` needs.
    pub fn of(pass: Pass<'_>, message: &JournalMessage) -> Result<Self> {
        if pass.machines.is_alone() {
            return Ok(Self::default());
        }
        if message.facts.is_empty() {
            let of_voice = message.kind == MessageKind::Approval;
            let claims = voice_claim(&message.key).into_iter().collect();
            return Ok(Self { claims, of_voice, ..Self::default() });
        }
        let Some(place) = pass.delivery_order.name(&message.to) else { return Ok(Self::default()) };
        let carried = pass.journal.deliveries_in(&message.key)?;
        let (claims, lines) = carried.iter().map(|(key, line, _)| (claim_key(key, place), *line)).unzip();
        Ok(Self { claims, lines, of_voice: false })
    }

    /// How long all claims are held from now on: the send must have ended by then. None if the send may not begin.
    pub fn left(&self, pass: Pass<'_>) -> Option<Duration> {
        let voice = if self.of_voice { pass.machines.voice_left() } else { Duration::MAX };
        let mut all = Some(voice).filter(|left| !left.is_zero())?;
        for claim in &self.claims {
            match pass.machines.send_right(claim) {
                SendRight::Yes { left, .. } => all = all.min(left),
                SendRight::Never | SendRight::Wait => return None,
            }
        }
        Some(all)
    }

    /// Returns when the claims are no longer held: not before `until`, and later where they were renewed meanwhile.
    pub async fn end(&self, pass: Pass<'_>, mut until: Duration) {
        loop {
            // Only this clock goes on while the machine is suspended.
            let clock = pass.clock.boot();
            if clock >= until {
                let Some(left) = self.left(pass) else { return };
                until = clock.saturating_add(left);
            }
            tokio::time::sleep(pass.clock.sleep(until - clock).min(Duration::from_secs(1))).await;
        }
    }

    /// Whether a message whose turn has come may be sent. If other machines sent all of it, or a part, it is split.
    pub async fn may_send_now(&self, pass: Pass<'_>, message: &JournalMessage) -> Result<bool> {
        let machines = pass.machines;
        let may: Vec<SendRight> = self.claims.iter().map(|claim| machines.send_right(claim)).collect();
        let is_mine = |may: &SendRight| matches!(may, SendRight::Yes { .. });
        // A part whose claims another machine holds is told by that one.
        let is_elsewhere = self.claims.iter().zip(&may).all(|(claim, may)| match may {
            SendRight::Wait => machines.is_claimed_elsewhere(claim),
            SendRight::Yes { .. } | SendRight::Never => true,
        });
        if may.iter().all(is_mine) || !is_elsewhere || may.iter().all(|may| *may == SendRight::Wait) {
            return Ok(self.left(pass).is_some());
        }
        let is_mixed = may.iter().any(|may| *may != SendRight::Never);
        // It may have been sent as it is, before a part of it was another machine's: then it is found once more.
        if is_mixed && !self.is_absent(pass, message).await {
            return Ok(true);
        }
        if !message.to.is_copy() {
            let place = pass.delivery_order.name(&message.to).unwrap_or_default();
            for delivery in pass.journal.deliveries_in(&message.key)? {
                record_sender(pass, &delivery, place)?;
            }
        }
        pass.journal.drop_message(&message.key)?;
        Ok(false)
    }

    /// Whether the place surely doesn't have the message, or can't be asked.
    async fn is_absent(&self, pass: Pass<'_>, message: &JournalMessage) -> bool {
        let Some(place) = pass.delivery_order.place(&message.to, message.route, message.scope) else {
            return true;
        };
        for (at, chunk) in message.chunks.iter().enumerate() {
            let Some(first) = chunk.first else { continue };
            let outgoing = message.outgoing(at, place.scope);
            let found = place.notifier.find(&outgoing, first, &|_| true).await;
            if found != MessageLookup::NotFound {
                return false;
            }
        }
        true
    }

    /// Marks the claims as sent: the place took all of the message.
    pub fn mark_sent(&self, pass: Pass<'_>) {
        for (at, claim) in self.claims.iter().enumerate() {
            pass.machines.mark_sent(claim, self.lines.get(at).map(LineHash::text));
        }
    }
}
