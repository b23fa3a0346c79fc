//! Decides whether this machine now rewrites the line of a sent notification, if several machines share a vault. Also
//! drops the claims of lines that vanish before their notification, and restores the claims of lines that come back.
//!
//! Each machine has its own copy of a note, and a sync tool carries the copies. If two copies change at once, the tool
//! makes a conflict copy. So machines rewrite their lines one after the other, in the order in which the machines'
//! shared store recorded the deliveries as `sent`.
//!
//! A machine waits until its own delivery is recorded, and until its copy has no line of an earlier delivery of another
//! machine. That other machine rewrites the line, and the sync tool brings the change. The wait ends after [`PATIENCE`]
//! without a change. The voice (the machine that does shared work) rewrites the lines of a machine that is away.

use super::notes::PassNotes;
use super::planned::{DAY, PassPlan, PendingSend, UnsentOccurrence, counting_claim, recipient};
use super::{Pass, PassMode, PassReport, PassState, plan};
use crate::deliver::delivery_journal::{DeliveryRow, DeliveryState};
use crate::deliver::prelude::*;
use crate::machines::protocol::{SenderMark, claim_key};
use crate::sqlite::Result;

/// How long a line must be missing to count as removed: a note may lack it for a moment while it is saved.
const STILL: SignedDuration = SignedDuration::from_secs(5);

/// The interval between checks of a line that is missing from a note that may lack lines.
const DOUBT: SignedDuration = SignedDuration::from_secs(30);

/// The longest wait for lines of other machines, if they stay the same. Long before that, the voice has rewritten the
/// lines of a machine that is away, see [`AWAY`](crate::machines::protocol::AWAY).
const PATIENCE: SignedDuration = SignedDuration::from_mins(20);
/// A machine that sends without the store also writes without it after this time.
const UNMARKED: SignedDuration = SignedDuration::from_mins(10);

/// The place of this machine's lines among those of other machines.
pub(super) struct WriteOrder<'c> {
    pub pass: Pass<'c>,
    /// The lowest order of a line that still stands here and that another machine is to rewrite.
    awaited: Option<u64>,
}

impl<'c> WriteOrder<'c> {
    pub fn new(pass: Pass<'c>, memory: &mut PassState, plan: &PassPlan) -> Self {
        let now = pass.now;
        let mut order = Self { pass, awaited: None };
        if pass.machines.is_alone() {
            return order;
        }
        let settles = plan.settles.iter().map(|settle| (&settle.key, &settle.row.fact));
        let delivered = plan.delivered.iter().map(|settle| (&settle.key, &settle.row.fact));
        let fires = plan.fires.iter().map(|fire| (&fire.key, &fire.fact));
        // A copy with other words may lag, or a person's words stay in it for ever.
        let is_new = |at: Timestamp| at.duration_until(now).abs() <= PATIENCE;
        let changed = plan.changed.iter().filter(|changed| changed.row.attempted.is_some_and(is_new));
        let changed = changed.map(|changed| (&changed.key, &changed.row.fact));
        let standing = settles.chain(delivered).chain(fires).chain(changed);
        let awaited = standing.filter_map(|(key, fact)| order.awaits(key, fact));
        let awaited: BTreeSet<(u64, String)> = awaited.collect();
        let first = awaited.first().map(|(order, _)| *order);
        let since = match pass.mode {
            // A `tick` remembers nothing: the marks tell, by the clocks of the machines that made them.
            PassMode::Tick => {
                let made = awaited.iter().filter_map(|(_, claim)| Some(pass.machines.sender_of(claim)?.1));
                made.max().unwrap_or(now)
            }
            PassMode::Daemon | PassMode::DryRun => memory.awaited_since(awaited, now),
        };
        order.awaited = first.filter(|_| since.duration_until(now).abs() <= PATIENCE);
        order
    }

    /// The order and the claim of a line that another machine sent and is to rewrite.
    fn awaits(&self, key: &str, fact: &NotifiedItem) -> Option<(u64, String)> {
        let claim = counting_claim(self.pass, key, fact).filter(|_| fact.kind != MessageKind::Task)?;
        match self.pass.machines.sender_mark(&claim) {
            SenderMark::Sent { by: Some(by), order } if !self.stands_in_for(&by) => {
                Some((order.unwrap_or(0), claim))
            }
            _ => None,
        }
    }

    /// Whether this machine rewrites the lines of another one: the voice does, when that machine is away.
    fn stands_in_for(&self, name: &str) -> bool {
        self.pass.machines.is_voice() && self.pass.machines.is_away(name)
    }

    /// Whether this machine rewrites the line of a delivery now; `None` if it never does.
    pub fn may_write(&self, key: &str, row: &DeliveryRow) -> Option<bool> {
        let machines = self.pass.context.machines;
        if machines.is_alone() {
            return Some(true);
        }
        let claim = counting_claim(self.pass, key, &row.fact);
        let (teller, order) = match claim.map_or(SenderMark::None, |claim| machines.sender_mark(&claim)) {
            SenderMark::Open => {
                let since = row.attempted.map(|at| at.duration_until(self.pass.now).abs());
                let is_over = machines.sends_when_cut_off() && since.is_some_and(|since| since > UNMARKED);
                return row.sender_machine.is_none().then_some(is_over && self.is_free());
            }
            SenderMark::Sent { by, order } => (by, order),
            SenderMark::None => (row.sender_machine.clone(), None),
        };
        let is_ours = teller.is_none_or(|teller| self.stands_in_for(&teller));
        is_ours.then(|| self.awaited.is_none_or(|awaited| order.is_some_and(|order| order < awaited)))
    }

    /// Whether no line stands here that another machine is to rewrite.
    pub fn is_free(&self) -> bool {
        self.awaited.is_none() && self.pass.machines.has_read_entries()
    }
}

/// Checks the lines that are due within a day: drops the claims of a line that was removed since the last check, and
/// restores those of a line that came back.
pub(super) fn check_lines(
    pass: Pass<'_>,
    near: &mut Option<HashMap<String, UnsentOccurrence>>,
    notes: &PassNotes,
    report: &mut PassReport,
) -> Result<()> {
    let now = pass.now;
    if pass.machines.is_alone() {
        return Ok(());
    }
    let mut found: HashMap<String, UnsentOccurrence> = HashMap::new();
    let mut open: HashSet<String> = HashSet::new();
    for at in [now, pass.later(DAY)] {
        let plan = plan::compare(pass.dry_run_at(at), notes)?;
        for fire in &plan.fires {
            found.entry(fire.key.clone()).or_insert_with(|| occurrence(pass, fire));
        }
        open.extend(plan.open);
    }
    let [reminders, commitments] =
        [&pass.settings.reminders, &pass.settings.commitments].map(|path| pass.editor.may_lack_lines(path));
    let is_in_doubt = |kind: MessageKind| match kind {
        MessageKind::Commitment => commitments,
        MessageKind::Task => false,
        _ => reminders,
    };
    let before = near.replace(HashMap::new());
    let came =
        found.iter().filter(|(key, _)| before.as_ref().is_some_and(|before| !before.contains_key(*key)));
    came.flat_map(|(_, one)| &one.claims).for_each(|claim| pass.machines.line_restored(claim));
    for (key, mut one) in before.into_iter().flatten() {
        if found.contains_key(&key) {
            continue;
        }
        if open.contains(&key) || !was_read(notes, one.kind) {
            found.insert(key, one);
        } else if one.due.duration_until(now).abs() <= DAY && !was_sent(pass, &key)? {
            let gone_at = one.missing_since.get_or_insert(now).saturating_add(STILL).unwrap_or(now);
            if is_in_doubt(one.kind) {
                report.request_pass(pass.later(DOUBT));
                found.insert(key, one);
            } else if gone_at <= now {
                one.claims.iter().for_each(|claim| pass.machines.line_removed(claim));
            } else {
                report.request_pass(gone_at);
                found.insert(key, one);
            }
        }
    }
    *near = Some(found);
    Ok(())
}

fn occurrence(pass: Pass<'_>, fire: &PendingSend) -> UnsentOccurrence {
    let counting = pass.delivery_order.name(&recipient(pass.settings, &fire.fact));
    let copies = pass.settings.notify_rules.kinds(&fire.fact.msg).into_iter().skip(1);
    let claims = counting.into_iter().chain(copies).map(|place| claim_key(&fire.key, place)).collect();
    UnsentOccurrence { kind: fire.fact.kind, due: fire.fact.due, claims, missing_since: None }
}

fn was_read(notes: &PassNotes, kind: MessageKind) -> bool {
    match kind {
        MessageKind::Commitment => notes.commitments.is_some(),
        MessageKind::Task => notes.tasks.is_some(),
        // A note that isn't there at all is on its way.
        _ => notes.reminders.as_ref().is_some_and(|note| note.is_there),
    }
}

fn was_sent(pass: Pass<'_>, key: &str) -> Result<bool> {
    let row = pass.journal.row(key)?;
    Ok(row.is_some_and(|row| matches!(row.state, DeliveryState::Sent | DeliveryState::Done)))
}

/// Tells the others which notes this machine has.
pub(super) fn set_notes(pass: Pass<'_>, notes: &PassNotes) {
    if pass.machines.is_alone() {
        return;
    }
    let mut hasher = blake3::Hasher::new();
    let reminders = notes.reminders.as_ref().map(|note| note.bytes.as_slice());
    let commitments = notes.commitments.as_ref().map(|note| note.bytes.as_slice());
    for bytes in [reminders, commitments] {
        hasher.update(blake3::hash(bytes.unwrap_or_default()).as_bytes());
    }
    pass.machines.set_notes(hasher.finalize().to_hex()[..16].to_owned());
}
