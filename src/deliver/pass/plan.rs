//! Compares the notes with the journal: decides which due items are sent, which wait, and which sent items still need
//! an update of their notes.
//!
//! An item that became due while the machine was off is still due (`schedule::due` computes that) and is planned like
//! any other. In quiet hours all items wait except urgent ones.

use super::notes::{CommitmentNote, PassNotes};
use super::planned::{
    ChangedAfterSend, PassPlan, PendingRewrite, PendingSend, Readiness, late_seconds, marks, readiness,
};
use super::reminders::Planner;
use super::{Pass, PassContext, PassMode, tasks};
use crate::deliver::delivery_journal::{self, LineHash};
use crate::deliver::prelude::*;
use crate::deliver::words::phrase_check;
use crate::format::commitment::{Commitment, CommitmentStatus};
use crate::schedule::{DueInstant, Zone};
use crate::sqlite::Result;
use crate::tasks::Scanner;

/// Compares the notes with the journal. Except in a dry run, ids that are made up for lines without one are remembered
/// before anything is sent under them.
pub(super) fn plan(pass: Pass<'_>, notes: &PassNotes) -> Result<PassPlan> {
    let mut plan = compare(pass, notes)?;
    let settings = pass.settings;
    // All but urgent items wait until the quiet hours end.
    if let Some(until) = settings.notify_rules.quiet_until(&settings.zone, pass.now) {
        let all = plan.fires.len();
        plan.fires.retain(|fire| settings.notify_rules.has_urgent_tag(&fire.fact.msg));
        plan.waiting.extend((plan.fires.len() < all).then_some(until));
    }
    Ok(plan)
}

/// As `plan`, but without the quiet hours.
pub(super) fn compare(pass: Pass<'_>, notes: &PassNotes) -> Result<PassPlan> {
    let mut plan = PassPlan::default();
    if let Some(note) = &notes.reminders {
        Planner { pass, note, moment: DueInstant::new(&pass.context.settings.zone, pass.now) }
            .run(&mut plan)?;
    }
    if let Some(note) = &notes.commitments {
        commitments(pass, note, &mut plan)?;
    }
    if let Some(found) = &notes.tasks {
        tasks::plan(pass, found, &mut plan)?;
    }
    Ok(plan)
}

/// The keys of the tasks that are due and were not sent, also where quiet hours or a pause hold them back.
///
/// # Errors
/// The journal can't be used.
pub fn unsent_tasks(context: &PassContext<'_>) -> Result<HashSet<String>> {
    let pass = Pass::new(context, PassMode::DryRun);
    let tasks = tasks::read(pass, &mut Scanner::default(), &mut pass.report())?;
    let notes = PassNotes { tasks, reminders: None, commitments: None };
    Ok(compare(pass, &notes)?.open)
}

/// The hash of a due follow-up's text, without the lines between it and the next block, so that copies that a merge
/// left count as one.
pub(crate) fn text_hash(commitment: &Commitment) -> LineHash {
    let due = commitment.due.map(|due| due.to_string()).unwrap_or_default();
    let scope = commitment.scope.as_deref().unwrap_or_default();
    LineHash::of([&commitment.id, &due, scope, commitment.text.trim()].join("\0").as_bytes())
}

fn commitments(pass: Pass<'_>, note: &CommitmentNote, plan: &mut PassPlan) -> Result<()> {
    // A key has no seconds.
    let minute = |commitment: &Commitment| commitment.due.map(|due| due.as_second().div_euclid(60));
    let mut namesakes: HashMap<(&str, Option<i64>), HashSet<LineHash>> = HashMap::new();
    for commitment in note.parsed.blocks.iter().map(|block| &block.commitment) {
        namesakes.entry((&commitment.id, minute(commitment))).or_default().insert(text_hash(commitment));
    }
    for block in &note.parsed.blocks {
        let commitment = &block.commitment;
        let is_due = |due: &Timestamp| commitment.status == CommitmentStatus::Pending && *due <= pass.now;
        let Some(due) = commitment.due.filter(is_due) else { continue };
        let hash = text_hash(commitment);
        // The second is the one that journals of earlier versions know it by.
        let hashes = [hash, LineHash::of(&note.bytes[block.range.clone()])];
        let utc = due.to_zoned(TimeZone::UTC).datetime();
        // Copies are one, and another time has another key.
        let disputed = namesakes[&(commitment.id.as_str(), minute(commitment))].len() > 1;
        let marks = marks(pass.journal, &commitment.id, utc, &hashes, disputed)?;
        let key = delivery_journal::key(&commitment.id, utc, marks.as_ref());
        match readiness(pass, pass.journal.row(&key)?) {
            Readiness::Wait(at) => {
                plan.waiting.extend(at);
                plan.open.insert(key);
            }
            // The present words were not sent to anyone. Of what another machine sent the hash is known.
            Readiness::Sent(row)
                if row.fact.msg != commitment.text.trim()
                    || row.sender_machine.is_some() && !hashes.contains(&row.line) =>
            {
                plan.changed.push(ChangedAfterSend {
                    kind: MessageKind::Commitment,
                    line: block.line,
                    key,
                    row,
                    without_id: false,
                });
            }
            Readiness::Sent(row) => {
                plan.delivered.push(PendingRewrite { key, row, target: hash });
            }
            Readiness::Fire if !plan.open.insert(key.clone()) => {}
            Readiness::Fire => {
                let scope = commitment.scope.as_deref().and_then(|scope| scope.parse().ok());
                let fact = commitment_fact(&pass.settings.zone, commitment, due, pass.now);
                plan.fires.push(PendingSend { key, line: hash, fact, scope });
            }
        }
    }
    Ok(())
}

/// The fact of a follow-up that was due at `due`.
pub(crate) fn commitment_fact(
    zone: &Zone,
    commitment: &Commitment,
    due: Timestamp,
    now: Timestamp,
) -> NotifiedItem {
    NotifiedItem {
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

/// Lists items that are due within a minute after the instant of the pass and are sent once, alone. Recurring and late
/// items, and those in a digest, keep the plain text.
pub(super) fn upcoming(pass: Pass<'_>, notes: &PassNotes) -> Result<Vec<PendingSend>> {
    // A line gets its id within seconds, and a pass follows: until then it has no lasting key.
    let named: HashSet<String> = notes
        .reminders
        .iter()
        .flat_map(|note| &note.parsed.reminders)
        .filter_map(|line| line.reminder.id.map(|id| id.to_string()))
        .collect();
    let may = |fire: &PendingSend| {
        let fact = &fire.fact;
        let lasting = fact.kind == MessageKind::Commitment || named.contains(&fact.id);
        lasting && fact.due > pass.now && !fact.recurring && fact.missed == 0 && phrase_check::fits(&fact.msg)
    };
    let mut fires = plan(pass.dry_run_at(pass.later(AHEAD)), notes)?.fires;
    fires.retain(may);
    Ok(fires)
}

/// A brain's phrases, by the keys of deliveries.
pub(super) type Phrases = HashMap<String, String>;

/// The phrases that were ready in time for the items that are due now.
pub(super) fn phrases(pass: Pass<'_>, fires: &[PendingSend]) -> Result<Phrases> {
    if !pass.settings.phrase {
        return Ok(HashMap::new());
    }
    let mut found = HashMap::new();
    for fire in fires.iter().filter(|fire| !fire.fact.recurring) {
        if let Some(phrase) = pass.journal.phrase(&fire.key, &fire.line)? {
            found.insert(fire.key.clone(), phrase);
        }
    }
    Ok(found)
}
