//! The index of a test's vault, and followers of its changes.

use std::ops::Deref;
use std::thread::JoinHandle;
pub use std::time::SystemTime;

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
        index_of(&self.root(), cache, "UTC", SystemClock)
    }

    pub fn find(&self, query: &str) -> Vec<String> {
        self.index().found(query)
    }
}

/// A vault, and its index.
pub fn indexed(fixture: &str) -> (TestVault, Index) {
    let vault = TestVault::new(fixture);
    let index = vault.index();
    (vault, index)
}

/// A vault with a cache, which a search for `first` made.
pub fn searched(fixture: &str) -> TestVault {
    let vault = TestVault::new(fixture);
    assert!(!vault.find("first").is_empty());
    vault
}

/// The index of the vault at `root`.
pub fn index_of(root: &Path, cache: &Path, zone: &str, clock: impl Clock + 'static) -> Index {
    let settings = Settings { timezone: zone.to_owned(), ..Settings::default() };
    Index::of(Vault::open(root).unwrap(), &settings, cache, Arc::new(clock)).unwrap()
}

/// Sets the time of a file's last change.
pub fn set_modified(path: &Path, at: SystemTime) -> std::io::Result<()> {
    fs::File::options().write(true).open(path)?.set_modified(at)
}

/// What a test asks an index with the words of a query.
pub trait Ask {
    fn ask(&self, query: impl Into<String>) -> Answer;

    /// `path:line kind snippet` of each hit.
    fn found(&self, query: &str) -> Vec<String> {
        show(&self.ask(query))
    }

    /// How many hits there are, and how many notes were read directly for them.
    fn directly(&self, query: &str) -> (usize, usize) {
        let answer = self.ask(query);
        (answer.hits.len(), answer.freshness.read_directly)
    }

    /// How many hits there are, and what vouches for them.
    fn checked(&self, query: &str) -> (usize, CheckedBy) {
        let answer = self.ask(query);
        (answer.hits.len(), answer.freshness.checked_by)
    }
}

impl Ask for Index {
    #[track_caller]
    fn ask(&self, query: impl Into<String>) -> Answer {
        self.search(&Query::new(query)).unwrap()
    }
}

/// A follower of a watcher that says what the test says and nothing else, and takes every cookie at once.
pub struct Told {
    follower: Arc<Follower>,
    stop: Arc<AtomicBool>,
    taker: Option<JoinHandle<()>>,
}

impl Told {
    /// One that has looked at everything once.
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
        let this = Self { follower, stop, taker: Some(taker) };
        this.looked();
        this
    }

    /// Waits until it has looked at everything, and committed what it knows of.
    pub fn looked(&self) {
        until("a look at everything", || self.following().following && self.following().behind == 0);
    }

    /// Tells it of what changed, and waits until that is committed.
    pub fn commit(&self, paths: &[&str]) {
        self.changed(paths.iter().map(|path| (*path).to_owned()));
        until("the commit", || self.following().behind == 0);
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
        found = Some(index.ask(query)).filter(|answer| answer.freshness.checked_by == CheckedBy::Daemon);
        found.is_some()
    });
    found.unwrap()
}

/// `path:line kind snippet` of each hit.
pub fn show(answer: &Answer) -> Vec<String> {
    answer.hits.iter().map(|hit| format!("{}:{} {} {}", hit.path, hit.line, hit.kind, hit.snippet)).collect()
}
