//! Defines the plan of a pass (one run over all that is due): the notifications to send and the lines to rewrite. Also
//! decides by the delivery journal whether a due item is to be sent now, has to wait, or was sent already, so that only
//! its line is to be rewritten.

use super::{Pass, PassSettings};
use crate::deliver::delivery_journal::{self, DeliveryRow, DeliveryState, Journal, LineHash, Recipient};
use crate::deliver::prelude::*;
use crate::machines::protocol::claim_key;
use crate::sqlite::Result;

/// The work of one pass.
#[derive(Debug, Default)]
pub(super) struct PassPlan {
    /// To be sent, in the order of the notes.
    pub fires: Vec<PendingSend>,
    /// Sent reminders whose lines have to be rewritten.
    pub settles: Vec<PendingRewrite<LineRewrite>>,
    /// Follow-ups that were sent and whose blocks are to be marked delivered.
    pub delivered: Vec<PendingRewrite<LineHash>>,
    /// To be tried again at these instants.
    pub waiting: Vec<Timestamp>,
    /// The keys of all that is due and not sent.
    pub open: HashSet<String>,
    /// One-offs whose words changed after they were sent.
    pub changed: Vec<ChangedAfterSend>,
    /// Whether due lines wait because they were just written.
    pub has_young: bool,
}

/// A one-off or follow-up whose words changed after it was sent: it stays, and waits for the person.
#[derive(Debug, Clone)]
pub(super) struct ChangedAfterSend {
    pub kind: MessageKind,
    /// The line in the note, from 1.
    pub line: usize,
    pub key: String,
    /// What was sent.
    pub row: Box<DeliveryRow>,
    /// Whether its line has no id, so that it is known by the journal alone.
    pub without_id: bool,
}

/// One notification that is due and not sent, or will be due within a minute, so that a brain may put it into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSend {
    /// The delivery's key.
    pub key: String,
    /// The hash of the line or block that it stands in.
    pub line: LineHash,
    /// The item.
    pub fact: NotifiedItem,
    /// Its destination.
    pub scope: Option<MessageScope>,
}

/// A sent item whose note isn't rewritten yet.
#[derive(Debug, Clone)]
pub(super) struct PendingRewrite<T> {
    pub key: String,
    pub row: Box<DeliveryRow>,
    /// The target of the rewrite.
    pub target: T,
}

/// The rewrite of a line.
#[derive(Debug, Clone)]
pub(super) struct LineRewrite {
    pub line: Vec<u8>,
    /// The line with its next date, and an id if it had none; `None` if the line goes.
    pub with: Option<Vec<u8>>,
    /// The id that it gets.
    pub id: Option<ReminderId>,
}

/// The journal's verdict on a due item.
pub(super) enum Readiness {
    Fire,
    Wait(Option<Timestamp>),
    Sent(Box<DeliveryRow>),
}

pub(super) fn readiness(pass: Pass<'_>, row: Option<DeliveryRow>) -> Readiness {
    let Some(row) = row else { return Readiness::Fire };
    let now = pass.now;
    let is_restored = row.settings.as_deref() == Some(delivery_journal::RESTORED);
    let is_refused = row.settings.as_ref() == Some(&pass.settings.notifiers);
    match row.state {
        // A recurring one moves on.
        DeliveryState::Done | DeliveryState::Failed if is_restored && !row.fact.recurring => {
            Readiness::Wait(None)
        }
        DeliveryState::Sent | DeliveryState::Done => Readiness::Sent(Box::new(row)),
        DeliveryState::Sending => Readiness::Wait(row.retry.filter(|at| *at > now)),
        DeliveryState::Failed if is_refused => Readiness::Wait(None),
        DeliveryState::Failed => Readiness::Fire,
        // A clock that was put back to before the attempt makes the wait meaningless.
        DeliveryState::Due => match (row.retry, row.attempted) {
            (Some(at), attempted) if at > now && attempted.is_none_or(|then| then <= now) => {
                Readiness::Wait(Some(at))
            }
            _ => Readiness::Fire,
        },
    }
}

/// The hash in a delivery's key, which tells differing lines with one id apart; none for a plain key. A line whose
/// plain key was sent before the other line came keeps the plain key. A line that is alone again keeps the key of its
/// claim. `hashes` are those under which the line may be known, the preferred one first.
pub(super) fn marks(
    journal: &Journal,
    id: &str,
    local: civil::DateTime,
    hashes: &[LineHash],
    disputed: bool,
) -> Result<Option<LineHash>> {
    for hash in hashes {
        if journal.row(&delivery_journal::key(id, local, Some(hash)))?.is_some() {
            return Ok(Some(*hash));
        }
    }
    if !disputed {
        return Ok(None);
    }
    let plain = journal.row(&delivery_journal::key(id, local, None))?;
    let was_first = plain.is_some_and(|row| hashes.contains(&row.line));
    Ok(hashes.first().copied().filter(|_| !was_first))
}

/// The recipient of the counting message.
pub(super) fn recipient(settings: &PassSettings, fact: &NotifiedItem) -> Recipient {
    let first = settings.notify_rules.kinds.first();
    match settings.notify_rules.kinds(&fact.msg).first() {
        Some(kind) if Some(kind) != first => Recipient::Named((*kind).to_owned()),
        _ => Recipient::Primary,
    }
}

/// The claim for the notifier that counts.
pub(super) fn counting_claim(pass: Pass<'_>, key: &str, fact: &NotifiedItem) -> Option<String> {
    let to = recipient(pass.settings, fact);
    Some(claim_key(key, pass.delivery_order.name(&to)?))
}

/// Whether a machine told this very line under this key.
pub(super) fn is_line_sent(pass: Pass<'_>, key: &str, fact: &NotifiedItem, line: LineHash) -> bool {
    let told = counting_claim(pass, key, fact).and_then(|claim| pass.machines.sent_line(&claim));
    told.is_some_and(|told| told == line.text())
}

/// Among several machines: a line that vanishes or is rescheduled this long before or after its occurrence is sent by
/// no machine.
pub(super) const DAY: SignedDuration = SignedDuration::from_hours(24);

/// An occurrence within a day of now that was not sent yet.
#[derive(Debug, Clone)]
pub(super) struct UnsentOccurrence {
    pub kind: MessageKind,
    pub due: Timestamp,
    /// The keys of its claims, one for each notifier.
    pub claims: Vec<String>,
    /// Since when its line isn't in the note.
    pub missing_since: Option<Timestamp>,
}

/// Whole seconds from `due` to `now`, never negative.
pub(super) fn late_seconds(due: Timestamp, now: Timestamp) -> i64 {
    due.duration_until(now).as_secs().max(0)
}
