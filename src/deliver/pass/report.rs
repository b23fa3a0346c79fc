//! Defines the report of a pass: the JSON of `tick --json`, except for the parts of the inbox and of the routines.

use serde::Serialize;

use super::Pass;
use super::planned::{PendingSend, late_seconds};
use crate::deliver::prelude::*;

/// The report of one pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PassReport {
    /// The instant of the pass.
    pub now: String,
    /// Each reminder and follow-up that was delivered, also where they went out together; with
    /// `--dry-run` those that would be.
    pub fired: Vec<DeliveredItem>,
    /// The reminders that got an id.
    pub ids_added: Vec<String>,
    /// Near misses that were not reported before.
    pub near_misses: Vec<PlacedFinding>,
    /// Deliveries that failed in this pass.
    pub failed: Vec<FailedItem>,
    /// How long the pass took, in milliseconds.
    pub took_ms: u64,
    /// How many deliveries wait for another attempt.
    pub waiting: usize,
    /// Lines that came back after they had fired, and were taken out again.
    pub removed_again: Vec<String>,
    /// Problems with the notes themselves: unreadable, not writable.
    pub problems: Vec<String>,
    /// Why nothing fires here, where another machine does.
    pub read_only: Option<String>,
    /// Whether nothing was sent or written on purpose.
    pub dry_run: bool,
    /// When another pass has something to do before the next minute: an attempt, a rewrite that
    /// waits for the note to be still.
    #[serde(skip)]
    pub next_pass: Option<Timestamp>,
    /// Items that are due within a minute, if phrases are asked for.
    #[serde(skip)]
    pub upcoming: Vec<PendingSend>,
    /// Whether the pass took longer than it may.
    #[serde(skip)]
    pub over_time: bool,
}

/// One delivered reminder or follow-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeliveredItem {
    /// `reminder`, `commitment`, or `task` for a line of another plugin.
    pub kind: MessageKind,
    /// Its id.
    pub id: String,
    /// The instant that it was due.
    pub due: String,
    /// How late it came.
    pub late_seconds: i64,
    /// How many occurrences were folded into it besides its own.
    pub missed: u32,
    /// Its message.
    pub text: String,
    /// The local date that it moved to.
    pub next: Option<civil::Date>,
}

impl DeliveredItem {
    /// An item that is as late as it says, in local time.
    pub(in crate::deliver) fn of(fact: &NotifiedItem, tz: &TimeZone) -> Self {
        Self {
            kind: fact.kind,
            id: fact.id.clone(),
            due: rfc3339(fact.due, tz),
            late_seconds: fact.late_seconds,
            missed: fact.missed,
            text: fact.msg.clone(),
            next: fact.next.map(civil::DateTime::date),
        }
    }
}

/// One that could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedItem {
    /// Its id.
    pub id: String,
    /// The reason.
    pub error: String,
    /// The further notifier that could not take its copy; the item itself was or will be sent all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

/// The most ids that are named for one reason.
const NAMED: usize = 3;

impl PassReport {
    /// The failures, one sentence for each reason: a place that is down gives the same reason for all its messages.
    pub fn failures(&self) -> Vec<String> {
        let mut reasons: Vec<(&FailedItem, Vec<&str>)> = Vec::new();
        for failed in &self.failed {
            let is_same = |(other, _): &&mut (&FailedItem, _)| {
                (&other.error, &other.copy) == (&failed.error, &failed.copy)
            };
            match reasons.iter_mut().find(is_same) {
                Some((_, ids)) => ids.push(&failed.id),
                None => reasons.push((failed, vec![&failed.id])),
            }
        }
        let sentence = |(FailedItem { error, copy, .. }, ids): (&FailedItem, Vec<&str>)| {
            let named = ids[..ids.len().min(NAMED)].join(", ");
            let more = ids.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let what = copy.as_ref().map(|name| format!("not also by {name}"));
            format!("{}: {named}{more}: {error}", what.as_deref().unwrap_or("not delivered"))
        };
        reasons.into_iter().map(sentence).collect()
    }

    pub(super) fn fired(&mut self, fact: &NotifiedItem, pass: Pass<'_>) {
        let late_seconds = late_seconds(fact.due, pass.now);
        self.fired.push(DeliveredItem { late_seconds, ..DeliveredItem::of(fact, pass.settings.zone.tz()) });
    }

    pub(super) fn failed(&mut self, facts: &[NotifiedItem], copy: Option<&str>, error: &str) {
        self.failed.extend(facts.iter().map(|fact| {
            let (id, error, copy) = (fact.id.clone(), error.to_owned(), copy.map(str::to_owned));
            FailedItem { id, error, copy }
        }));
    }

    /// Drops the failures of items that were delivered after all.
    pub(super) fn forget_mended(&mut self) {
        let fired = &self.fired;
        self.failed.retain(|failed| failed.copy.is_some() || fired.iter().all(|it| it.id != failed.id));
    }

    /// Asks for another pass at `at`, if none is asked for earlier.
    pub(super) fn request_pass(&mut self, at: Timestamp) {
        self.next_pass = Some(self.next_pass.map_or(at, |next_pass| next_pass.min(at)));
    }

    /// Adds the deliveries and rewrites of a pass that was made directly before, and its failures that are still true.
    pub fn follow(&mut self, before: Self) {
        self.fired.splice(0..0, before.fired);
        self.ids_added.splice(0..0, before.ids_added);
        self.removed_again.splice(0..0, before.removed_again);
        self.failed.splice(0..0, before.failed);
        self.forget_mended();
    }

    /// Whether a person has to look at something: exit code 1.
    pub fn has_problem(&self) -> bool {
        !self.failed.is_empty() || !self.problems.is_empty()
    }
}
