//! Reads past deliveries of some days from the delivery journal: when, how late, by which notifier.

use std::collections::HashSet;

use super::entry::{AgendaEntry, DeliveryDetail, EntryKind, EntryState};
use super::window::DaySpan;
use crate::deliver::MessageKind;
use crate::deliver::journal::{PastDelivery, PastDeliveryState};
use crate::reminders::rfc3339;
use crate::sqlite::DatabaseError;
use crate::tasks::is_task_id;
use crate::workspace::Workspace;

/// The journal's deliveries in a window, and their keys, which no other source lists again.
///
/// # Errors
/// The journal can't be read.
pub(super) fn past_items(
    window: &DaySpan<'_>,
    most: usize,
) -> Result<(Vec<AgendaEntry>, HashSet<String>), DatabaseError> {
    let DaySpan { workspace, .. } = window;
    let rows = workspace.journal()?.past_deliveries(window.from, window.to, most)?;
    let keys = rows.iter().map(|row| row.key.clone()).collect();
    Ok((rows.into_iter().map(|row| entry(workspace, row)).collect(), keys))
}

fn entry(workspace: &Workspace, row: PastDelivery) -> AgendaEntry {
    let paths = &workspace.settings.paths;
    let fact = row.fact;
    let (kind, own) = match fact.kind {
        _ if is_task_id(&fact.id) => (EntryKind::Task, &paths.reminders),
        MessageKind::Commitment => (EntryKind::FollowUp, &paths.commitments),
        _ => (EntryKind::Reminder, &paths.reminders),
    };
    let tz = workspace.zone.tz();
    let told = DeliveryDetail {
        at: row.at.map(|at| rfc3339(at, tz)),
        late_seconds: row.at.map_or(fact.late_seconds, |at| at.duration_since(fact.due).as_secs().max(0)),
        missed: fact.missed,
        by: row.places,
        outcome: row.error,
    };
    AgendaEntry {
        path: fact.note.unwrap_or_else(|| own.clone()),
        recur: fact.recurring.then(|| "recurring".to_owned()),
        state: match row.state {
            PastDeliveryState::Told => EntryState::Told,
            PastDeliveryState::Waiting => EntryState::Late,
            PastDeliveryState::NotTold => EntryState::NotTold,
        },
        told: Some(told),
        ..AgendaEntry::new(kind, Some(fact.id), fact.msg, fact.due, tz)
    }
}
