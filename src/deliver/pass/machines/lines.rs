//! Drops the claims of reminder lines that vanish before their notification, where several machines share a vault, and
//! takes that back for lines that come back.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use crate::deliver::journal::DeliveryState;
use crate::deliver::notifier::MessageKind;
use crate::deliver::pass::notes::PassNotes;
use crate::deliver::pass::planned::{DAY, PendingSend, UnsentOccurrence};
use crate::deliver::pass::{PassContext, PassMode, PassReport, messages, plan};
use crate::machines::protocol::claim_key;
use crate::sqlite::Result;

/// A line that is missing for this long wasn't just being saved.
const STILL: SignedDuration = SignedDuration::from_secs(5);

/// Looks at what is due within a day: a line that went since the last look is not to be told, one that came back may be.
pub(in crate::deliver::pass) fn check_lines(
    context: &PassContext<'_>,
    near: &mut Option<HashMap<String, UnsentOccurrence>>,
    notes: &PassNotes,
    now: Timestamp,
    report: &mut PassReport,
) -> Result<()> {
    if context.machines.is_alone() {
        return Ok(());
    }
    let mut found: HashMap<String, UnsentOccurrence> = HashMap::new();
    let mut open: HashSet<String> = HashSet::new();
    for at in [now, now.saturating_add(DAY).unwrap_or(now)] {
        let plan = plan::compare(context, notes, PassMode::DryRun, at, false)?;
        for fire in &plan.fires {
            found.entry(fire.key.clone()).or_insert_with(|| occurrence(context, fire));
        }
        open.extend(plan.open);
    }
    let before = near.replace(HashMap::new());
    let came =
        found.iter().filter(|(key, _)| before.as_ref().is_some_and(|before| !before.contains_key(*key)));
    came.flat_map(|(_, one)| &one.claims).for_each(|claim| context.machines.line_restored(claim));
    for (key, mut one) in before.into_iter().flatten() {
        if found.contains_key(&key) {
            continue;
        }
        if open.contains(&key) || !was_read(notes, one.kind) {
            found.insert(key, one);
        } else if one.due.duration_until(now).abs() <= DAY && !was_sent(context, &key)? {
            let gone_at = one.missing_since.get_or_insert(now).saturating_add(STILL).unwrap_or(now);
            if gone_at <= now {
                one.claims.iter().for_each(|claim| context.machines.line_removed(claim));
            } else {
                report.request_pass(gone_at);
                found.insert(key, one);
            }
        }
    }
    *near = Some(found);
    Ok(())
}

fn occurrence(context: &PassContext<'_>, fire: &PendingSend) -> UnsentOccurrence {
    let counting = context.delivery_order.name(&messages::recipient(context.settings, &fire.fact));
    let copies = context.settings.notify_rules.kinds(&fire.fact.msg).into_iter().skip(1);
    let claims = counting.into_iter().chain(copies).map(|place| claim_key(&fire.key, place)).collect();
    UnsentOccurrence { kind: fire.fact.kind, due: fire.fact.due, claims, missing_since: None }
}

fn was_read(notes: &PassNotes, kind: MessageKind) -> bool {
    match kind {
        MessageKind::Commitment => notes.commitments.is_some(),
        MessageKind::Task => notes.tasks.is_some(),
        // A note that isn't there at all is on its way.
        _ => notes.reminders.as_ref().is_some_and(|note| note.stat.is_some()),
    }
}

fn was_sent(context: &PassContext<'_>, key: &str) -> Result<bool> {
    let row = context.journal.row(key)?;
    Ok(row.is_some_and(|row| matches!(row.state, DeliveryState::Sent | DeliveryState::Done)))
}

/// Tells the others which notes this machine has.
pub(in crate::deliver::pass) fn set_notes(context: &PassContext<'_>, notes: &PassNotes) {
    if context.machines.is_alone() {
        return;
    }
    let mut hasher = blake3::Hasher::new();
    let reminders = notes.reminders.as_ref().map(|note| note.bytes.as_slice());
    let commitments = notes.commitments.as_ref().map(|note| note.bytes.as_slice());
    for bytes in [reminders, commitments] {
        hasher.update(blake3::hash(bytes.unwrap_or_default()).as_bytes());
    }
    context.machines.set_notes(hasher.finalize().to_hex()[..16].to_owned());
}
