//! The index of a test's vault, and followers of its changes.

use std::ops::Deref;
use std::thread::JoinHandle;

pub use crate::support::prelude::*;
use vault_agent::search::follow::follower;
pub use vault_agent::search::follow::follower::Follower;
pub use vault_agent::search::{Answer, CheckedBy, Index, IndexError, Query};
use vault_agent::vault::{WatchEvent, WatchTimes, Watcher};

impl TestVault {
    pub fn index(&self) -> Index {
        self.index_at(&self.cache())
    }

    pub fn index_at(&self, cache: &Path) -> Index {
        self.index_with(cache, "UTC", SystemClock)
    }

    pub fn index_with(&self, cache: &Path, zone: &str, clock: impl Clock + 'static) -> Index {
        let settings = Settings { timezone: zone.to_owned(), ..Settings::default() };
        Index::of(Vault::open(&self.root()).unwrap(), &settings, cache, Arc::new(clock)).unwrap()
    }

    pub fn find(&self, query: &str) -> Vec<String> {
        show(&self.index().search(&Query::new(query)).unwrap())
    }
}

/// A follower of a watcher that says what the test says and nothing else, and takes every cookie at once.
pub struct Told {
    follower: Arc<Follower>,
    stop: Arc<AtomicBool>,
    taker: Option<JoinHandle<()>>,
}

impl Told {
    pub fn start(index: &Arc<Index>) -> Self {
        let follower = Arc::new(Follower::start(Arc::clone(index)).unwrap());
        let folder = follower::cookies(index.cache());
        std::fs::create_dir_all(&folder).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let taker = std::thread::spawn({
            let (follower, stop) = (Arc::clone(&follower), Arc::clone(&stop));
            move || {
                while !stop.load(Ordering::Relaxed) {
                    follower.caught_up(&names_in(&folder));
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        Self { follower, stop, taker: Some(taker) }
    }
}

impl Deref for Told {
    type Target = Follower;

    fn deref(&self) -> &Follower {
        &self.follower
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.taker.take().unwrap().join().unwrap();
    }
}

/// A watcher and a follower, wired as in the daemon.
pub struct Daemon {
    _watcher: Watcher,
    pub follower: Arc<Follower>,
}

impl Daemon {
    /// One that has looked at everything once.
    pub fn start(vault: &TestVault) -> Self {
        let index = Arc::new(vault.index());
        let follower = Arc::new(Follower::start(Arc::clone(&index)).unwrap());
        let hears = Arc::clone(&follower);
        let names = |paths: BTreeSet<NotePath>| paths.into_iter().map(|path| path.to_string());
        let on = move |event| match event {
            WatchEvent::FirstChange(paths) => hears.changing(names(paths)),
            WatchEvent::Dirty(paths) => hears.changed(names(paths)),
            WatchEvent::Rescan(why) => hears.rescan(&why),
            WatchEvent::CaughtUp(cookies) => hears.caught_up(&cookies),
            // What a look found is told beside it.
            WatchEvent::Polled { .. } => {}
            event => panic!("{event:?}"),
        };
        let cookies = follower::cookies(index.cache());
        let watcher = Watcher::start_with(index.vault(), WatchTimes::default(), Some(&cookies), on).unwrap();
        until("the first look", || follower.following().following);
        Self { _watcher: watcher, follower }
    }
}

/// The answer that a daemon vouches for: a busy machine may keep a cookie for longer than a question waits.
pub fn beside_a_daemon(index: &Index, query: &str) -> Answer {
    let mut found = None;
    until("an answer that the daemon vouches for", || {
        let answer = index.search(&Query::new(query)).unwrap();
        found = Some(answer).filter(|answer| answer.freshness.checked_by == CheckedBy::Daemon);
        found.is_some()
    });
    found.unwrap()
}

/// `path:line kind snippet` of each hit.
pub fn show(answer: &Answer) -> Vec<String> {
    answer.hits.iter().map(|hit| format!("{}:{} {} {}", hit.path, hit.line, hit.kind, hit.snippet)).collect()
}
