//! Schedules and takes the daemon's snapshots.
//!
//! [`PendingChanges`] decides when a snapshot is due. Pure. People's changes are committed after two quiet seconds, and
//! at least every five minutes under steady typing. The whole vault is compared at the start, hourly, and when the
//! watcher lost events.
//!
//! [`Snapshotter`] takes the due snapshots, packs now and then, and pushes in the background. It never sleeps: the
//! daemon asks when to call it next. Packing turns many loose objects into one pack. The pack is synced before these
//! objects are removed, so a kill leaves duplicates at worst.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::remote::Pusher;
use crate::history::prelude::*;
use crate::history::store::{HistoryStore, age, failpoint, sync_files};
use crate::history::{Deletions, History, HistoryError, Result, SnapshotResult};

/// The time without changes before a snapshot.
const QUIET_PERIOD: SignedDuration = SignedDuration::from_secs(2);
/// The longest time between two snapshots while a person types.
const MAX_INTERVAL: SignedDuration = SignedDuration::from_mins(5);
/// The interval of full scans.
const FULL_SCAN_INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// From so many loose objects on they are packed, as git does by itself.
pub const LOOSE_OBJECTS: usize = 6_700;

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
    /// Whether something else than logs waits.
    notes: bool,
    all: bool,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    swept: Option<Timestamp>,
    /// After a failure: when it happened and when to try again.
    retry: Option<(Timestamp, Timestamp)>,
}

impl PendingChanges {
    /// Notes that these paths changed at `now`. A log grows with each event of a conversation, and doesn't put off what a
    /// person changed.
    pub fn dirty(
        &mut self,
        paths: impl IntoIterator<Item = NotePath>,
        now: Timestamp,
        is_log: impl Fn(&NotePath) -> bool,
    ) {
        let (mut any, mut notes) = (false, false);
        for path in paths {
            (any, notes) = (true, notes || !is_log(&path));
            self.dirty.insert(path);
        }
        if any && (notes || !self.notes) {
            self.first.get_or_insert(now);
            self.last = Some(now);
        }
        self.notes |= notes;
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
        let next = self.first.zip(self.last).map_or(sweep, |(first, last)| {
            later(last, QUIET_PERIOD).min(later(first, MAX_INTERVAL)).min(sweep)
        });
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
        self.notes = false;
        (self.first, self.last, self.retry) = (None, None, None);
        if all {
            self.swept = Some(now);
            return Some(DueComparison::All);
        }
        (!dirty.is_empty()).then_some(DueComparison::Some(dirty))
    }

    /// Puts back work that failed, to be tried again later.
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
    /// The changes that the watcher reported, and the time of the next snapshot.
    pub batch: PendingChanges,
    pusher: Option<Pusher>,
}

impl Snapshotter {
    /// Snapshots into `history`, pushed to `remote` where one is set, as `machine` where there are several.
    pub fn new(history: Arc<History>, remote: Option<&str>, machine: Option<&str>) -> Self {
        let (dir, machine) = (history.dir().to_owned(), machine.map(str::to_owned));
        let pusher = remote.map(|remote| Pusher::new(dir, remote.to_owned(), machine));
        Self { history, batch: PendingChanges::default(), pusher }
    }

    /// Does the work that is due at `now`. The calling thread may block for a moment.
    ///
    /// # Errors
    /// The snapshot could not be taken; it is tried again half a minute later.
    pub fn run(&mut self, now: Timestamp) -> Result<Option<SnapshotResult>> {
        let Some(work) = self.batch.take_due(now) else { return Ok(None) };
        let done = match &work {
            DueComparison::All => self.history.snapshot_all(Deletions::Hold),
            DueComparison::Some(paths) => self.history.snapshot_paths(paths, Deletions::Hold),
        };
        if done.is_err() {
            self.batch.put_back(work, now);
            return done.map(Some);
        }
        if work == DueComparison::All
            && let Err(error) = self.history.pack_from(LOOSE_OBJECTS)
        {
            tracing::warn!(%error, "the history could not be packed; it works on");
        }
        if let Some(pusher) = &mut self.pusher {
            pusher.push_if_behind(now);
        }
        done.map(Some)
    }

    /// A message for the person about the repository, returned once.
    pub fn take_notice(&self) -> Option<String> {
        self.history.take_notice()
    }

    /// Takes the pending snapshot at once, before the daemon ends.
    pub fn flush(&mut self) -> Result<Option<SnapshotResult>> {
        self.batch.is_pending().then(|| self.history.snapshot_all(Deletions::Hold)).transpose()
    }
}

impl History {
    /// Packs the loose objects where there are at least `least` of them.
    ///
    /// # Errors
    /// The repository can't be written; it is as good as before.
    pub fn pack_from(&self, least: usize) -> Result<()> {
        let store = self.store();
        let lock = store.lock()?;
        remove_leftovers(store.dir());
        let loose = store.loose_objects()?;
        if loose.len() >= least {
            pack(&store, loose.iter().map(|(id, _)| *id))?;
            failpoint("history::packed");
            for (_, path) in &loose {
                let _ = fs::remove_file(path);
            }
        }
        drop(lock);
        store.refresh()
    }
}

/// Writes one pack with `ids`, durably.
fn pack(store: &HistoryStore, ids: impl Iterator<Item = Oid>) -> Result<()> {
    let git = |error| HistoryError::git("pack the history", store.dir())(error);
    let folder = store.dir().join("objects/pack");
    let mut builder = store.repo().packbuilder().map_err(git)?;
    builder.set_threads(1);
    for id in ids {
        builder.insert_object(id, None).map_err(git)?;
    }
    builder.write(&folder, 0o444).map_err(git)?;
    let name = builder.name().map_err(git)?.unwrap_or_default().to_owned();
    sync_files(&folder, &["pack", "idx"].map(|kind| folder.join(format!("pack-{name}.{kind}"))))
}

/// Temporary files that a killed process left, once they are a day old.
fn remove_leftovers(dir: &Path) {
    let old = |path: &Path| age(path).is_some_and(|age| age.as_secs() > 86_400);
    let folders = [dir.join("objects/pack"), dir.join("objects")];
    let inside = fs::read_dir(dir.join("objects")).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.into_iter().chain(inside.filter(|path| path.is_dir())) {
        for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let temporary = name.starts_with("tmp_") || name.contains("_git2_");
            if temporary && old(&file.path()) {
                let _ = fs::remove_file(file.path());
            }
        }
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
        batch.dirty([note("a.md")], at(10), |_| false);
        batch.dirty([note("b.md")], at(11), |_| false);
        assert_eq!(batch.take_due(at(12)), None);
        assert_eq!(batch.next(), at(13));
        assert_eq!(batch.take_due(at(13)), Some(DueComparison::Some([note("a.md"), note("b.md")].into())));
        assert_eq!(batch.take_due(at(20)), None);
    }

    #[test]
    fn a_lively_log_does_not_put_off_what_a_person_changed() {
        let mut batch = swept();
        let is_log = |path: &NotePath| path.as_str() == "log.md";
        batch.dirty([note("a.md")], at(10), is_log);
        batch.dirty([note("log.md")], at(11), is_log);
        assert_eq!(batch.take_due(at(12)), Some(DueComparison::Some([note("a.md"), note("log.md")].into())));
        batch.dirty([note("log.md")], at(13), is_log);
        batch.dirty([note("log.md")], at(14), is_log);
        assert_eq!(batch.next(), at(16), "a log alone waits until it is quiet");
    }

    #[test]
    fn steady_typing_is_kept_every_five_minutes() {
        let mut batch = swept();
        let mut taken = Vec::new();
        for second in 1..=700 {
            batch.dirty([note("a.md")], at(second), |_| false);
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
        batch.dirty([note("a.md")], at(5_000), |_| false);
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
