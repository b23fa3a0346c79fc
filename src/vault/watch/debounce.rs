//! Debounces file events. A path is reported at its first event. All changed paths are reported when no event has come
//! for the time `settle`, or after five times that time at the latest. If a rescan is due, the collected events are
//! dropped and the rescan is reported instead. Pure; time is an argument.

use crate::vault::prelude::*;
use crate::vault::{NotePath, WatchEvent, WatchTimes};

/// The changes that are not reported yet.
#[derive(Debug)]
pub(super) struct Collector {
    times: WatchTimes,
    dirty: BTreeSet<NotePath>,
    /// Of these, the ones that aren't reported yet.
    unreported: BTreeSet<NotePath>,
    /// The first and the last change since the last report.
    burst: Option<(Instant, Instant)>,
    rescan: Option<String>,
    last_rescan: Instant,
    is_gone: bool,
}

impl Collector {
    pub(super) fn new(times: WatchTimes, now: Instant) -> Self {
        let (dirty, unreported) = (BTreeSet::new(), BTreeSet::new());
        Self { times, dirty, unreported, burst: None, rescan: None, last_rescan: now, is_gone: false }
    }

    /// Records that a note or a folder has changed, appeared or vanished.
    pub(super) fn dirty(&mut self, path: NotePath, now: Instant) {
        if self.dirty.insert(path.clone()) {
            self.unreported.insert(path);
        }
        self.burst.get_or_insert((now, now)).1 = now;
    }

    /// Records that events may be missing, so that a rescan is due.
    pub(super) fn rescan(&mut self, why: impl Into<String>) {
        self.rescan.get_or_insert_with(|| why.into());
    }

    /// Records that not everything can be watched, so that a rescan is due every minute.
    pub(super) fn limit(&mut self) {
        self.times.rescan_every = self.times.rescan_every.min(Duration::from_secs(60));
    }

    /// Records that the vault has vanished, and drops the collected changes.
    pub(super) fn vault_gone(&mut self) {
        self.is_gone = true;
        self.forget();
        self.rescan = None;
    }

    /// Records that the vault is back.
    pub(super) fn vault_back(&mut self) {
        self.is_gone = false;
        self.rescan("the vault is there again");
    }

    /// The changes that are about to be reported.
    pub(super) fn pending(&self) -> impl Iterator<Item = &NotePath> {
        self.dirty.iter()
    }

    /// The event to report at `now`.
    pub(super) fn take(&mut self, now: Instant) -> Option<WatchEvent> {
        if self.is_gone {
            return None;
        }
        if now.duration_since(self.last_rescan) >= self.times.rescan_every {
            self.rescan("it is time for a full look");
        }
        if let Some(why) = self.rescan.take() {
            self.last_rescan = now;
            self.forget();
            return Some(WatchEvent::Rescan(why));
        }
        if !self.unreported.is_empty() {
            return Some(WatchEvent::FirstChange(std::mem::take(&mut self.unreported)));
        }
        let (first, last) = self.burst?;
        if now.duration_since(last) < self.times.settle && now.duration_since(first) < self.times.settle * 5 {
            return None;
        }
        self.burst = None;
        Some(WatchEvent::Dirty(std::mem::take(&mut self.dirty)))
    }

    fn forget(&mut self) {
        self.dirty.clear();
        self.unreported.clear();
        self.burst = None;
    }

    /// The time until the next report, if no event comes.
    pub(super) fn idle_for(&self, now: Instant) -> Duration {
        let until = |at: Instant| at.saturating_duration_since(now);
        let mut idle = self.times.presence_every.min(until(self.last_rescan + self.times.rescan_every));
        if let Some((first, last)) = self.burst {
            idle = idle.min(until(last + self.times.settle)).min(until(first + self.times.settle * 5));
        }
        idle.max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> NotePath {
        NotePath::new(name).unwrap()
    }

    #[test]
    fn changes_are_gathered_until_they_pause_but_not_for_ever() {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let mut collector = Collector::new(WatchTimes::default(), start);
        let unreported = |name: &str| Some(WatchEvent::FirstChange(BTreeSet::from([path(name)])));
        collector.dirty(path("a.md"), at(0));
        assert_eq!(collector.take(at(0)), unreported("a.md"));
        assert_eq!(collector.take(at(40)), None);
        collector.dirty(path("a.md"), at(40));
        collector.dirty(path("b.md"), at(40));
        assert_eq!(collector.take(at(40)), unreported("b.md"));
        assert_eq!(collector.take(at(60)), None);
        assert_eq!(
            collector.take(at(90)),
            Some(WatchEvent::Dirty(BTreeSet::from([path("a.md"), path("b.md")])))
        );
        assert_eq!(collector.take(at(1_000)), None);
        for millis in (1_000..1_250).step_by(10) {
            collector.dirty(path("a.md"), at(millis));
            assert_eq!(collector.take(at(millis)).is_some(), millis == 1_000);
        }
        assert!(matches!(collector.take(at(1_251)), Some(WatchEvent::Dirty(_))));
    }

    #[test]
    fn a_rescan_stands_for_everything_and_comes_every_hour() {
        let start = Instant::now();
        let mut collector = Collector::new(WatchTimes::default(), start);
        collector.dirty(path("a.md"), start);
        collector.rescan("overflow");
        assert_eq!(collector.take(start), Some(WatchEvent::Rescan("overflow".into())));
        assert_eq!(collector.take(start + Duration::from_secs(60)), None);
        let hour = start + Duration::from_secs(3_600);
        assert!(matches!(collector.take(hour), Some(WatchEvent::Rescan(_))));
        assert_eq!(collector.take(hour), None);
    }

    #[test]
    fn nothing_is_told_of_a_vault_that_is_gone() {
        let start = Instant::now();
        let mut collector = Collector::new(WatchTimes::default(), start);
        collector.vault_gone();
        collector.dirty(path("a.md"), start);
        assert_eq!(collector.take(start + Duration::from_secs(7_200)), None);
        collector.vault_back();
        assert!(matches!(collector.take(start + Duration::from_secs(7_201)), Some(WatchEvent::Rescan(_))));
    }
}
