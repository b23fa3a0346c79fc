//! Claims messages for this machine: those that are due and may be sent by it, and those that it would send within a
//! minute.

use std::collections::{BTreeMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use super::AHEAD;
use crate::deliver::journal::{LineHash, NewMessage, Recipient};
use crate::deliver::notifier::{Fact, MessageKind, MessageLookup, OutgoingMessage, nonce};
use crate::deliver::pass::notes::PassNotes;
use crate::deliver::pass::planned::{PassPlan, PendingSend};
use crate::deliver::pass::{PassContext, PassMode, PassReport, messages, plan};
use crate::machines::protocol::{SendRight, claim_key};
use crate::machines::{IntendedSend, Machines};
use crate::sqlite::Result;

/// The source that the pass's intended sends are listed under.
const SOURCE: &str = "deliveries";
/// So long before it was due something may have been sent by another machine's clock.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_hours(1);

/// A delivery: its key, the hash of its line, its fact.
type KeyedFact = (String, LineHash, Fact);

/// Filters the due messages for those that this machine may send. Deliveries of another machine are recorded in the
/// journal; those of a machine that was cut off are looked for at their place first.
pub(in crate::deliver::pass) async fn allowed(
    context: &PassContext<'_>,
    due: Vec<NewMessage>,
    now: Timestamp,
    report: &mut PassReport,
) -> Result<Vec<NewMessage>> {
    if context.machines.is_alone() {
        return Ok(due);
    }
    let today = context.settings.zone.tz().to_datetime(now).date();
    let mut out = Vec::new();
    for message in due {
        let Some(place) = context.delivery_order.name(&message.to) else { continue };
        let judged = DeliveriesByRight::of(context.machines, &message, place);
        for delivery in &judged.never {
            // Another machine told it, or it is not to be told. A copy that is settled is left out.
            if !message.to.is_copy() && are_copies_settled(context, delivery)? {
                record_sender(context, delivery, place)?;
            }
        }
        let waits = |deliveries: &[KeyedFact], report: &mut PassReport| {
            let mut counting = deliveries.iter().filter(|_| !message.to.is_copy());
            counting.try_for_each(|delivery| waits(context, delivery, report))
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
            message.kind != MessageKind::Digest || judged.is_within(context.machines, &message, place);
        if is_whole && is_claimed {
            out.push(message);
            continue;
        }
        let found = ask_for_digests(context, &message, &judged.asked, place, now).await?;
        let keys =
            |deliveries: &[KeyedFact]| deliveries.iter().map(|one| one.0.clone()).collect::<HashSet<_>>();
        let (fresh, asked) = (keys(&judged.fresh), keys(&judged.asked));
        for mut one in messages::split_message(&message, today) {
            let (key, _, fact) = &one.deliveries[0];
            if asked.contains(key) && !found.contains(key) {
                let since = fact.due.min(now).saturating_sub(CLOCKS_DIFFER);
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
    /// Another machine holds their claims, and tells them.
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

    /// Whether all were claimed for this very message.
    fn is_within(&self, machines: &Machines, message: &NewMessage, place: &str) -> bool {
        let is_it = |delivery: &KeyedFact| {
            machines.digest_key(&claim_key(&delivery.0, place)).as_deref() == Some(message.key.as_str())
        };
        self.fresh.iter().all(is_it)
    }
}

/// Records which machine sent a delivery, where that is known.
pub(super) fn record_sender(context: &PassContext<'_>, delivery: &KeyedFact, place: &str) -> Result<()> {
    let Some((sender, at)) = context.machines.sender_of(&claim_key(&delivery.0, place)) else {
        return Ok(());
    };
    let other = Some(sender.as_str()).filter(|name| context.machines.is_other(name));
    context.journal.record_other_machine(delivery, place, other, at, None)
}

/// Whether no further notifier waits for it: a machine that told what counts may have died before it sent the copies.
fn are_copies_settled(context: &PassContext<'_>, (key, _, fact): &KeyedFact) -> Result<bool> {
    for name in context.settings.notify_rules.kinds(&fact.msg).into_iter().skip(1) {
        let is_settled = context.machines.send_right(&claim_key(key, name)) == SendRight::Never;
        if !is_settled && !context.journal.copied_deliveries([key.as_str()], name)?.contains(key) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says why something that is due isn't told yet, where the machines can't agree.
fn waits(context: &PassContext<'_>, (key, line, fact): &KeyedFact, report: &mut PassReport) -> Result<()> {
    let Some(why) = context.machines.problem() else { return Ok(()) };
    let why = format!("it waits for the other machines: {why}");
    if context.journal.record_wait(key, line, fact, &why)? {
        report.failed(std::slice::from_ref(fact), &why);
    }
    Ok(())
}

/// Asks the place for the messages within which other machines may have told these: the keys of those that aren't to be told
/// again now, found or not known.
async fn ask_for_digests(
    context: &PassContext<'_>,
    message: &NewMessage,
    asked: &[KeyedFact],
    place: &str,
    now: Timestamp,
) -> Result<HashSet<String>> {
    let mut digests: BTreeMap<String, Vec<&KeyedFact>> = BTreeMap::new();
    for delivery in asked {
        if let Some(within) = context.machines.digest_key(&claim_key(&delivery.0, place)) {
            digests.entry(within).or_default().push(delivery);
        }
    }
    let mut settled = HashSet::new();
    for (within, deliveries) in digests {
        let Some(at) = context.delivery_order.place(&message.to, 0, message.scope) else { continue };
        // A place that keeps no nonces finds the same words.
        let text = if message.key == within { message.body.clone() } else { within.clone() };
        let nonce = nonce(MessageKind::Digest, &within, 0, 0);
        let outgoing = OutgoingMessage {
            nonce,
            scope: at.scope,
            ..OutgoingMessage::whole(MessageKind::Digest, within.clone(), text)
        };
        let since = deliveries.iter().map(|(_, _, fact)| fact.due).min().unwrap_or(now).min(now);
        let since = since.saturating_sub(CLOCKS_DIFFER).unwrap_or(since);
        let found = match at.notifier.find(&outgoing, since).await {
            MessageLookup::Found { message_id } => Some(message_id),
            MessageLookup::NotFound | MessageLookup::CannotAsk => continue,
            MessageLookup::Later { .. } => None,
        };
        settled.extend(deliveries.iter().map(|one| one.0.clone()));
        let Some(id) = found else { continue };
        for delivery in deliveries {
            context.machines.mark_sent(&claim_key(&delivery.0, place));
            if !message.to.is_copy() {
                context.journal.record_other_machine(delivery, place, None, now, Some(&id))?;
            }
        }
    }
    Ok(settled)
}

/// Tells the machines what this one would send now or within a minute: what is due, what comes, and what is on its way.
pub(in crate::deliver::pass) fn announce_sends(
    context: &PassContext<'_>,
    notes: &PassNotes,
    plan: Option<&PassPlan>,
    now: Timestamp,
) -> Result<()> {
    if context.machines.is_alone() {
        return Ok(());
    }
    let mut wants: Vec<IntendedSend> = Vec::new();
    let mut push = |key: String, due: Timestamp, within: Option<String>| {
        if wants.iter().all(|want| want.key != key) {
            wants.push(IntendedSend { key, due: Some(due), within });
        }
    };
    let none = std::collections::HashMap::new();
    let mut add = |fires: &[PendingSend], at: Timestamp| -> Result<()> {
        let mut messages = messages::counting(context, fires, &none, at)?;
        messages.extend(messages::copies(context, fires, &none, at)?);
        for message in messages {
            let Some(place) = context.delivery_order.name(&message.to) else { continue };
            let within = (message.kind == MessageKind::Digest).then_some(message.key);
            for (key, _, fact) in &message.deliveries {
                push(claim_key(key, place), fact.due, within.clone());
            }
        }
        Ok(())
    };
    if let Some(plan) = plan {
        add(&plan.fires, now)?;
        let ahead = now.saturating_add(AHEAD).unwrap_or(now);
        let known: HashSet<&str> = plan.fires.iter().map(|fire| fire.key.as_str()).collect();
        let mut next = plan::plan(context, notes, PassMode::DryRun, ahead)?.fires;
        next.retain(|fire| !known.contains(fire.key.as_str()));
        add(&next, ahead)?;
    }
    for message in context.journal.messages()? {
        // A message that waits for another attempt is free until then: another machine may get through.
        let is_ready = message.retry.is_none_or(|at| at <= now);
        if let Some(place) = context.delivery_order.name(&message.to).filter(|_| is_ready) {
            for (key, _, fact) in context.journal.deliveries_in(&message.key)? {
                push(claim_key(&key, place), fact.due, None);
            }
        }
    }
    context.machines.set_intended_sends(SOURCE, wants);
    Ok(())
}

/// Marks claims from before a restart whose deliveries the journal knows to be sent.
pub(in crate::deliver::pass) fn mark_left_open(context: &PassContext<'_>) -> Result<()> {
    let open: HashSet<String> = context.machines.left_open().into_iter().collect();
    if open.is_empty() {
        return Ok(());
    }
    for (key, fact, copy) in context.journal.sent_here()? {
        let to = match copy {
            Some(name) => Recipient::Copy(name),
            None => messages::recipient(context.settings, &fact),
        };
        let claim = context.delivery_order.name(&to).map(|place| claim_key(&key, place));
        if let Some(claim) = claim.filter(|claim| open.contains(claim)) {
            context.machines.mark_sent(&claim);
        }
    }
    Ok(())
}
