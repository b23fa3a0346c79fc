//! Compares the notes with the journal: decides which due items are sent, which wait, and which are only written down.
//!
//! An item that became due while the machine was off is due still (`schedule::due` computes that) and is planned like
//! any other; the journal tells which were sent already. Quiet hours keep all but urgent items waiting.

use std::collections::{HashMap, HashSet};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::notes::{CommitmentNote, PassNotes};
use super::planned::{
    ChangedAfterSend, PassPlan, PendingRewrite, PendingSend, Readiness, late_seconds, marks, readiness,
};
use super::reminders::Planner;
use super::{PassContext, PassMode, tasks};
use crate::deliver::journal::{self, LineHash};
use crate::deliver::notifier::{Fact, MessageKind};
use crate::deliver::words::phrase_check;
use crate::format::commitment::{Commitment, CommitmentStatus};
use crate::schedule::{DueInstant, Zone};
use crate::sqlite::Result;

/// Compares the notes with the journal. Except in a dry run, ids that are made up for lines without one are remembered
/// before anything is sent under them.
pub(super) fn plan(
    context: &PassContext<'_>,
    notes: &PassNotes,
    mode: PassMode,
    now: Timestamp,
) -> Result<PassPlan> {
    let mut plan = compare(context, notes, mode, now)?;
    let settings = context.settings;
    // All but urgent items wait until the quiet hours end.
    if let Some(until) = settings.notify_rules.quiet_until(&settings.zone, now) {
        let all = plan.fires.len();
        plan.fires.retain(|fire| settings.notify_rules.has_urgent_tag(&fire.fact.msg));
        plan.waiting.extend((plan.fires.len() < all).then_some(until));
    }
    Ok(plan)
}

/// The same, whatever the quiet hours say.
pub(super) fn compare(
    context: &PassContext<'_>,
    notes: &PassNotes,
    mode: PassMode,
    now: Timestamp,
) -> Result<PassPlan> {
    let mut plan = PassPlan::default();
    if let Some(note) = &notes.reminders {
        Planner { context, note, moment: DueInstant::new(&context.settings.zone, now), now }
            .run(mode != PassMode::DryRun, &mut plan)?;
    }
    if let Some(note) = &notes.commitments {
        commitments(context, note, now, &mut plan)?;
    }
    if let Some(found) = &notes.tasks {
        tasks::plan(context, found, mode, now, &mut plan)?;
    }
    Ok(plan)
}

/// The hash of a due follow-up's text, whatever stands between its words and the next block: copies that a merge left
/// are one.
pub(crate) fn text_hash(commitment: &Commitment) -> LineHash {
    let due = commitment.due.map(|due| due.to_string()).unwrap_or_default();
    let scope = commitment.scope.as_deref().unwrap_or_default();
    LineHash::of([&commitment.id, &due, scope, commitment.text.trim()].join("\0").as_bytes())
}

fn commitments(
    context: &PassContext<'_>,
    note: &CommitmentNote,
    now: Timestamp,
    plan: &mut PassPlan,
) -> Result<()> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for block in &note.parsed.blocks {
        *counts.entry(&block.commitment.id).or_default() += 1;
    }
    for block in &note.parsed.blocks {
        let commitment = &block.commitment;
        let Some(due) =
            commitment.due.filter(|due| commitment.status == CommitmentStatus::Pending && *due <= now)
        else {
            continue;
        };
        let hash = text_hash(commitment);
        // The second is the one that journals of earlier versions know it by.
        let hashes = [hash, LineHash::of(&note.bytes[block.range.clone()])];
        let utc = due.to_zoned(TimeZone::UTC).datetime();
        let disputed = counts[commitment.id.as_str()] > 1;
        let marks = marks(context.journal, &commitment.id, utc, &hashes, disputed)?;
        let key = journal::key(&commitment.id, utc, marks.as_ref());
        match readiness(context.journal.row(&key)?, now, &context.settings.notifiers) {
            Readiness::Wait(at) => {
                plan.waiting.extend(at);
                plan.open.insert(key);
            }
            // The present words were not sent to anyone.
            Readiness::Sent(row) if row.fact.msg != commitment.text.trim() => {
                plan.changed.push(ChangedAfterSend {
                    kind: MessageKind::Commitment,
                    line: block.line,
                    key,
                    without_id: false,
                });
            }
            Readiness::Sent(row) => {
                plan.delivered.push(PendingRewrite { key, row, target: hash });
            }
            Readiness::Fire if !plan.open.insert(key.clone()) => {}
            Readiness::Fire => {
                let scope = commitment.scope.as_deref().and_then(|scope| scope.parse().ok());
                let fact = commitment_fact(&context.settings.zone, commitment, due, now);
                plan.fires.push(PendingSend { key, line: hash, fact, scope });
            }
        }
    }
    Ok(())
}

/// The fact of a follow-up that was due at `due`.
pub(crate) fn commitment_fact(zone: &Zone, commitment: &Commitment, due: Timestamp, now: Timestamp) -> Fact {
    Fact {
        kind: MessageKind::Commitment,
        id: commitment.id.clone(),
        local: zone.tz().to_datetime(due),
        due,
        late_seconds: late_seconds(due, now),
        missed: 0,
        msg: commitment.text.trim().to_owned(),
        recurring: false,
        next: None,
        note: None,
    }
}

/// How far ahead phrases are asked for.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// Lists items that are due within a minute after `now` and are sent once, alone. Recurring and late items, and those
/// in a digest, keep the plain text.
pub(super) fn upcoming(
    context: &PassContext<'_>,
    notes: &PassNotes,
    now: Timestamp,
) -> Result<Vec<PendingSend>> {
    let ahead = now.saturating_add(AHEAD).unwrap_or(now);
    // A line gets its id within seconds, and a pass follows: until then it has no lasting key.
    let named: HashSet<String> = notes
        .reminders
        .iter()
        .flat_map(|note| &note.may_be_due)
        .filter_map(|line| line.reminder.id.map(|id| id.to_string()))
        .collect();
    let may = |fire: &PendingSend| {
        let fact = &fire.fact;
        let lasting = fact.kind == MessageKind::Commitment || named.contains(&fact.id);
        lasting && fact.due > now && !fact.recurring && fact.missed == 0 && phrase_check::fits(&fact.msg)
    };
    let mut fires = plan(context, notes, PassMode::DryRun, ahead)?.fires;
    fires.retain(may);
    Ok(fires)
}

/// The phrases that were ready in time for the items that are due now.
pub(super) fn phrases(context: &PassContext<'_>, fires: &[PendingSend]) -> Result<HashMap<String, String>> {
    if !context.settings.phrase {
        return Ok(HashMap::new());
    }
    let mut found = HashMap::new();
    for fire in fires.iter().filter(|fire| !fire.fact.recurring) {
        if let Some(phrase) = context.journal.phrase(&fire.key, &fire.line)? {
            found.insert(fire.key.clone(), phrase);
        }
    }
    Ok(found)
}
