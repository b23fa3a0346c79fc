//! Schedules and takes the daemon's snapshots.
//!
//! [`PendingChanges`] is the policy, pure: changes of people are committed after two quiet seconds, and at least every five minutes
//! under steady typing; the whole vault is compared at start, hourly, and when the watcher lost events. [`Snapshotter`]
//! carries it out, packs now and then, and pushes in the background. It never sleeps: the daemon asks when to call it next.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::remote::Pusher;
use crate::history::error::Result;
use crate::history::take::{Deletions, History, SnapshotResult};
use crate::vault::NotePath;

/// The time without changes before a snapshot.
const QUIET_PERIOD: SignedDuration = SignedDuration::from_secs(2);
/// The longest time between two snapshots while a person types.
const MAX_INTERVAL: SignedDuration = SignedDuration::from_mins(5);
/// The interval of full scans.
const FULL_SCAN_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// The time until a failed snapshot is tried again.
const RETRY_DELAY: SignedDuration = SignedDuration::from_secs(30);

/// The work that is due now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DueComparison {
    /// Compare these.
    Some(BTreeSet<NotePath>),
    /// Compare everything.
    All,
}

/// Changes that wait to become a snapshot.
#[derive(Debug, Clone, Default)]
pub struct PendingChanges {
    dirty: BTreeSet<NotePath>,
    all: bool,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    swept: Option<Timestamp>,
    /// After a failure: when it happened and when to try again.
    retry: Option<(Timestamp, Timestamp)>,
}

impl PendingChanges {
    /// Notes that these paths changed at `now`.
    pub fn dirty(&mut self, paths: impl IntoIterator<Item = NotePath>, now: Timestamp) {
        let before = self.dirty.len();
        self.dirty.extend(paths);
        if before == 0 && self.dirty.is_empty() {
            return;
        }
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// Notes that anything may have changed.
    pub fn rescan(&mut self, now: Timestamp) {
        self.all = true;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// When there is something to do next; in the past where it is due.
    pub fn next(&self) -> Timestamp {
        let sweep = self.swept.map_or(Timestamp::MIN, |at| later(at, FULL_SCAN_INTERVAL));
        let next = match (self.first, self.last) {
            (Some(first), Some(last)) => later(last, QUIET_PERIOD).min(later(first, MAX_INTERVAL)).min(sweep),
            _ => sweep,
        };
        self.retry.map_or(next, |(_, again)| next.max(again))
    }

    /// Takes what is due at `now`. A clock that went backwards makes everything due.
    pub fn take_due(&mut self, now: Timestamp) -> Option<DueComparison> {
        let failed = self.retry.map(|(failed, _)| failed);
        let backwards =
            [self.first, self.swept, failed].into_iter().flatten().any(|at| at > later(now, QUIET_PERIOD));
        if self.next() > now && !backwards {
            return None;
        }
        let sweep = backwards || self.swept.is_none_or(|at| later(at, FULL_SCAN_INTERVAL) <= now);
        let dirty = std::mem::take(&mut self.dirty);
        let all = std::mem::take(&mut self.all) || sweep;
        (self.first, self.last, self.retry) = (None, None, None);
        if all {
            self.swept = Some(now);
            return Some(DueComparison::All);
        }
        (!dirty.is_empty()).then_some(DueComparison::Some(dirty))
    }

    /// Puts back what could not be done, to be tried again after a while.
    pub fn put_back(&mut self, work: DueComparison, now: Timestamp) {
        match work {
            DueComparison::Some(paths) => self.dirty.extend(paths),
            DueComparison::All => self.all = true,
        }
        self.first.get_or_insert(now);
        self.last.get_or_insert(now);
        self.swept.get_or_insert(now);
        self.retry = Some((now, later(now, RETRY_DELAY)));
    }

    /// Whether something waits that no snapshot holds yet.
    pub fn is_pending(&self) -> bool {
        self.all || !self.dirty.is_empty()
    }
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// The daemon's snapshots: fed by the watcher, asked by the loop.
#[derive(Debug)]
pub struct Snapshotter {
    history: Arc<History>,
    batch: PendingChanges,
    pusher: Option<Pusher>,
}

impl Snapshotter {
    /// Snapshots into `history`, pushed to `remote` where one is set.
    pub fn new(history: Arc<History>, remote: Option<&str>) -> Self {
        let pusher = remote.map(|remote| Pusher::new(history.dir().to_owned(), remote.to_owned()));
        Self { history, batch: PendingChanges::default(), pusher }
    }

    /// Adds paths that the watcher reported.
    pub fn dirty(&mut self, paths: impl IntoIterator<Item = NotePath>, now: Timestamp) {
        let kept: Vec<NotePath> = paths.into_iter().collect();
        self.batch.dirty(kept, now);
    }

    /// Marks everything as possibly changed: the watcher lost events.
    pub fn rescan(&mut self, now: Timestamp) {
        self.batch.rescan(now);
    }

    /// When to call [`Snapshotter::run`] next.
    pub fn next(&self) -> Timestamp {
        self.batch.next()
    }

    /// Does the work that is due at `now`: call it from a thread that may block for a moment.
    ///
    /// # Errors
    /// The snapshot could not be taken; it is tried again half a minute later.
    pub fn run(&mut self, now: Timestamp) -> Result<Option<SnapshotResult>> {
        let Some(work) = self.batch.take_due(now) else { return Ok(None) };
        let done = match &work {
            DueComparison::All => self.history.snapshot_all(Deletions::Hold),
            DueComparison::Some(paths) => self.history.snapshot_paths(paths, Deletions::Hold),
        };
        let snapshot = match done {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.batch.put_back(work, now);
                return Err(error);
            }
        };
        if work == DueComparison::All
            && let Err(error) = self.history.maintain()
        {
            tracing::warn!(%error, "the history could not be packed; it works on");
        }
        if let Some(pusher) = &mut self.pusher {
            pusher.push_if_behind(now);
        }
        Ok(Some(snapshot))
    }

    /// A message for the person about the repository, returned once.
    pub fn take_notice(&self) -> Option<String> {
        self.history.take_notice()
    }

    /// Takes what waits, whatever the time: before the daemon ends.
    ///
    /// # Errors
    /// The snapshot could not be taken.
    pub fn flush(&mut self) -> Result<Option<SnapshotResult>> {
        if !self.batch.is_pending() {
            return Ok(None);
        }
        self.history.snapshot_all(Deletions::Hold).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn note(name: &str) -> NotePath {
        NotePath::new(name).unwrap()
    }

    fn swept() -> PendingChanges {
        let mut batch = PendingChanges::default();
        assert_eq!(batch.take_due(at(0)), Some(DueComparison::All));
        batch
    }

    #[test]
    fn two_quiet_seconds_end_a_batch() {
        let mut batch = swept();
        batch.dirty([note("a.md")], at(10));
        batch.dirty([note("b.md")], at(11));
        assert_eq!(batch.take_due(at(12)), None);
        assert_eq!(batch.next(), at(13));
        assert_eq!(batch.take_due(at(13)), Some(DueComparison::Some([note("a.md"), note("b.md")].into())));
        assert_eq!(batch.take_due(at(20)), None);
    }

    #[test]
    fn steady_typing_is_kept_every_five_minutes() {
        let mut batch = swept();
        let mut taken = Vec::new();
        for second in 1..=700 {
            batch.dirty([note("a.md")], at(second));
            if batch.take_due(at(second)).is_some() {
                taken.push(second);
            }
        }
        assert_eq!(taken, [301, 602]);
    }

    #[test]
    fn everything_is_compared_at_start_hourly_and_when_count_was_lost() {
        let mut batch = swept();
        batch.rescan(at(100));
        assert_eq!(batch.take_due(at(102)), Some(DueComparison::All));
        assert_eq!(batch.take_due(at(3_701)), None);
        assert_eq!(batch.take_due(at(3_702)), Some(DueComparison::All));
    }

    #[test]
    fn a_clock_that_goes_back_delays_nothing() {
        let mut batch = swept();
        batch.dirty([note("a.md")], at(5_000));
        assert_eq!(batch.take_due(at(-9_000)), Some(DueComparison::All));
    }

    #[test]
    fn what_failed_is_tried_again_later() {
        let mut batch = swept();
        batch.put_back(DueComparison::Some([note("a.md")].into()), at(10));
        assert_eq!(batch.take_due(at(20)), None);
        assert!(batch.take_due(at(43)).is_some());
    }
}
