//! Decides about reminder lines that several machines share: lines that vanish before their notification, and lines
//! whose notification another machine sent.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use crate::deliver::journal::{DeliveryRow, DeliveryState};
use crate::deliver::notifier::MessageKind;
use crate::deliver::pass::Result;
use crate::deliver::pass::notes::Notes;
use crate::deliver::pass::planned::{DAY, Fire, Occurrence, Plan};
use crate::deliver::pass::{Mode, PassContext, PassReport, messages, plan};
use crate::machines::protocol::claim_key;

/// A line that is missing for this long wasn't just being saved.
const STILL: SignedDuration = SignedDuration::from_secs(5);

/// A line that another machine told is waited for no longer.
pub(in crate::deliver::pass) const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// Looks at what is due within a day: a line that went since the last look is not to be told, one that came back may be.
pub(in crate::deliver::pass) fn look(
    context: &PassContext<'_>,
    near: &mut Option<HashMap<String, Occurrence>>,
    notes: &Notes,
    now: Timestamp,
    report: &mut PassReport,
) -> Result<()> {
    if context.machines.is_alone() {
        return Ok(());
    }
    let mut found: HashMap<String, Occurrence> = HashMap::new();
    let mut open: HashSet<String> = HashSet::new();
    for at in [now, now.saturating_add(DAY).unwrap_or(now)] {
        let plan = plan::compare(context, notes, Mode::DryRun, at, false)?;
        for fire in &plan.fires {
            found.entry(fire.key.clone()).or_insert_with(|| occurrence(context, fire));
        }
        open.extend(plan.open);
    }
    let before = near.replace(HashMap::new());
    let came =
        found.iter().filter(|(key, _)| before.as_ref().is_some_and(|before| !before.contains_key(*key)));
    came.flat_map(|(_, one)| &one.claims).for_each(|claim| context.machines.line_came_back(claim));
    for (key, mut one) in before.into_iter().flatten() {
        if found.contains_key(&key) {
            continue;
        }
        if open.contains(&key) || !was_read(notes, one.kind) {
            found.insert(key, one);
        } else if one.due.duration_until(now).abs() <= DAY && !was_sent(context, &key)? {
            let gone_at = one.missing_since.get_or_insert(now).saturating_add(STILL).unwrap_or(now);
            if gone_at <= now {
                one.claims.iter().for_each(|claim| context.machines.line_went(claim));
            } else {
                report.request_pass(gone_at);
                found.insert(key, one);
            }
        }
    }
    *near = Some(found);
    Ok(())
}

fn occurrence(context: &PassContext<'_>, fire: &Fire) -> Occurrence {
    let counting = context.delivery_order.name(&messages::recipient(context.settings, &fire.fact));
    let copies = context.settings.notify_rules.kinds(&fire.fact.msg).into_iter().skip(1);
    let claims = counting.into_iter().chain(copies).map(|place| claim_key(&fire.key, place)).collect();
    Occurrence { kind: fire.fact.kind, due: fire.fact.due, claims, missing_since: None }
}

fn was_read(notes: &Notes, kind: MessageKind) -> bool {
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

/// Whether this machine rewrites the line of a delivery: its own, and as the voice that of a machine that is away.
pub(in crate::deliver::pass) fn is_ours(context: &PassContext<'_>, row: &DeliveryRow) -> bool {
    let machines = context.machines;
    let Some(sender_machine) = &row.sender_machine else { return true };
    machines.is_alone() || machines.is_voice() && machines.is_away(sender_machine)
}

/// When other machines told, or are at telling, lines that still stand here: they are there and rewrite these in their copies,
/// and this copy lags. What was told later is written down here once that came: the sync tool would find the note changed on
/// both sides. A machine that has just started and not yet looked waits, too.
pub(in crate::deliver::pass) fn awaited(
    context: &PassContext<'_>,
    plan: &Plan,
    now: Timestamp,
) -> Vec<Timestamp> {
    let machines = context.machines;
    if machines.is_alone() {
        return Vec::new();
    }
    if !machines.has_looked() {
        return vec![Timestamp::MIN];
    }
    let rows = plan.settles.iter().map(|settle| &settle.row);
    let rows = rows.chain(plan.delivered.iter().map(|settle| &settle.row));
    let of_machines_there = rows.filter(|row| {
        row.sender_machine.as_ref().is_some_and(|sender_machine| !machines.is_away(sender_machine))
    });
    let told = of_machines_there.filter(|row| {
        // The mark of a delivery that was late is younger than its due time.
        let marked = row.attempted.map_or(row.fact.due, |at| at.max(row.fact.due));
        marked.duration_until(now).abs() <= PATIENCE
    });
    let is_others = |fire: &&Fire| {
        occurrence(context, fire).claims.iter().any(|claim| machines.is_claimed_elsewhere(claim))
    };
    let begun = plan.fires.iter().filter(is_others).map(|fire| fire.fact.due);
    // A mark that a machine made late says nothing of when it told: that was not before it was due.
    told.map(|row| row.fact.due).chain(begun).collect()
}

/// Tells the others which notes this machine has.
pub(in crate::deliver::pass) fn set_notes(context: &PassContext<'_>, notes: &Notes) {
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
