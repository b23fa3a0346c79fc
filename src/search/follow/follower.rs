//! Follows the vault in the daemon: commits changes, and proves to other processes that the index is fresh.
//!
//! The file `live` lists the changed files that are not committed yet. A query in another process trusts `live` if:
//! - the follower holds `live.lock`, as it does while it lives;
//! - `live` is fresh: the follower's thread writes it about every two seconds;
//! - the watcher has reported all events before the question. The query makes a cookie, a file in [`cookies`]; the
//!   follower removes the cookie when all earlier events are reported and published.
//!
//! The proof is valid for one build of the index, because an index that was rebuilt since may be empty. Without the
//! proof a query checks every file itself, so a dead or late watcher costs only time (`freshness`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::config::json_file;
use crate::search::follow::UnreadPath;
use crate::search::store::{Lock, catalog};
use crate::search::{Index, IndexError, Result};

pub use crate::search::follow::freshness::{cookies, is_held};
pub use crate::search::store::seal::signed;

/// The follower says at least so often that it lives.
const BEAT: Duration = Duration::from_secs(2);
/// The interval of full scans, which don't depend on the watcher.
const SWEEP: Duration = Duration::from_secs(300);
/// After so many beats without a change the memory that changes took is given back.
const QUIET: u32 = 5;
/// Merges of at most so many living documents; a larger one would keep what is saved meanwhile waiting.
const MERGE: u64 = 300_000;

/// Gives the calling thread's free memory back to the system. Set by the program, which alone knows its allocator.
pub static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// The state of a follower, for `status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Following {
    /// Whether the index is as the vault is, but for `behind` files.
    pub following: bool,
    /// Files that changed and are not committed.
    pub behind: usize,
    /// The last error, in a person's words.
    pub error: Option<String>,
}

/// A process that only checks whether a follower lives holds the lock for an instant, so it is tried more than once.
fn take_lock(root: &Path) -> Result<Lock> {
    for _ in 0..20 {
        if let Some(lock) = Lock::try_take(&root.join("live.lock"))? {
            return Ok(lock);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err(IndexError::Busy)
}

/// The stage of a file's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is changing, and not settled yet.
    Changing,
    /// It changed, and isn't being committed.
    Dirty,
    /// It is being committed.
    Working,
    /// It is a folder or file that can't be read: others look at it themselves, and say so.
    Unread,
}

#[derive(Debug, Default)]
struct State {
    /// The files that are not as committed.
    behind: BTreeMap<String, Stage>,
    /// The watcher doesn't see everything, so nothing can be vouched for.
    misses_events: bool,
    /// The number of events after which only a full scan helps. A scan that began before the last time proves nothing.
    distrusted: u64,
    /// The making of the index at the last whole look at every file, and the last commit that is known of it.
    commit: Option<(i64, u64)>,
    following: Following,
}

impl State {
    /// The files of one stage are of another from now on; which they are.
    fn step(&mut self, from: Stage, to: Stage) -> Vec<String> {
        let of_stage = self.behind.iter_mut().filter(|(_, stage)| **stage == from);
        let step = |(path, stage): (&String, &mut Stage)| {
            *stage = to;
            path.clone()
        };
        of_stage.map(step).collect()
    }

    /// The files that were being committed are clean after a success, and dirty again after a failure.
    fn worked(&mut self, is_done: bool) {
        if is_done {
            self.behind.retain(|_, stage| *stage != Stage::Working);
        } else {
            self.step(Stage::Working, Stage::Dirty);
        }
    }
}

#[derive(Debug)]
struct Shared {
    index: Arc<Index>,
    state: Mutex<State>,
}

/// Follows the vault in a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Follower {
    shared: Arc<Shared>,
    /// Whether every file is to be looked at, or those that are known to have changed.
    tasks: mpsc::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Begins to follow: first a look at every file, then what [`Follower::changed`] says. Returns at once.
    ///
    /// # Errors
    /// Another process follows already, or the cache can't be used.
    pub fn start(index: Arc<Index>) -> Result<Self> {
        let lock = take_lock(index.cache())?;
        let shared = Arc::new(Shared { index, state: Mutex::default() });
        shared.publish();
        let (tasks, received) = mpsc::channel();
        let _ = tasks.send(true);
        let thread = std::thread::Builder::new()
            .name("index".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || follow(&shared, &received, lock)
            })
            .map_err(|error| IndexError::cache(shared.index.cache(), error))?;
        Ok(Self { shared, tasks, thread: Some(thread) })
    }

    /// Reports that these files are changing; [`Follower::changed`] or [`Follower::rescan`] will follow. Other
    /// processes read them directly from now on.
    pub fn changing(&self, paths: impl IntoIterator<Item = String>) {
        self.shared.mark(paths, Stage::Changing);
    }

    /// Reports that these files changed on disk (a folder stands for all below it). Returns at once; from then on other
    /// processes know of the change.
    pub fn changed(&self, paths: impl IntoIterator<Item = String>) {
        self.shared.mark(paths, Stage::Dirty);
        let _ = self.tasks.send(false);
    }

    /// Removes these cookies, because the watcher has reported all events before they were made.
    pub fn caught_up<'a>(&self, names: impl IntoIterator<Item = &'a String>) {
        // Earlier reports are published.
        for name in names {
            let _ = std::fs::remove_file(cookies(self.shared.index.cache()).join(name));
        }
    }

    /// Scans every file, because the watcher may have missed an event.
    pub fn rescan(&self, why: &str) {
        tracing::debug!(why, "every file is to be looked at");
        self.shared.distrust();
        let _ = self.tasks.send(true);
    }

    /// Reports that the watcher can't see every change. From now on other processes scan every file themselves.
    pub fn unwatched(&self, why: &str) {
        let mut state = self.shared.state();
        state.misses_events = true;
        state.following.error = Some(format!("not every change is seen: {why}"));
        drop(state);
        self.rescan(why);
    }

    /// Reports that the vault is missing at the moment. The index stays as it is, and its state says so.
    pub fn vault_gone(&self) {
        self.shared.distrust();
        let _ = self.tasks.send(false);
    }

    /// Its present state.
    pub fn following(&self) -> Following {
        let state = self.shared.state();
        let behind = state.behind.values().filter(|stage| **stage != Stage::Unread).count();
        Following { behind, ..state.following.clone() }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.index.stopping.store(true, Ordering::Relaxed);
        let _ = self.tasks.send(false);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(self.shared.index.cache().join("live"));
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These files are not as committed.
    fn mark(&self, paths: impl IntoIterator<Item = String>, stage: Stage) {
        self.state().behind.extend(paths.into_iter().map(|path| (path, stage)));
        self.publish();
    }

    /// Withholds the proof of freshness until the next full scan is done.
    fn distrust(&self) {
        {
            let mut state = self.state();
            state.step(Stage::Changing, Stage::Dirty);
            state.distrusted += 1;
            state.following.following = false;
        }
        self.publish();
    }

    /// Tells other processes how things stand.
    fn publish(&self) {
        let state = self.state();
        // A very long list is no help: others had better look themselves.
        let is_known = state.following.following && !state.misses_events && state.behind.len() <= 1000;
        let following = |(epoch, generation)| format!("following {epoch} {generation}");
        let commit = state.commit.filter(|_| is_known);
        let mut text = commit.map_or_else(|| "catching up".to_owned(), following);
        text.extend(state.behind.keys().filter(|_| is_known).flat_map(|path| ["\n", path]));
        // Under the lock, so that an older word never replaces a newer one.
        let live = self.index.cache().join("live");
        if json_file::replace(&live, signed(&text).as_bytes(), false).is_err() {
            let _ = std::fs::remove_file(live);
        }
    }

    /// The build (epoch) of the index on disk, and its last commit.
    fn last_commit(&self) -> Option<(i64, u64)> {
        let conn = self.index.store().and_then(|store| store.conn());
        let last = catalog::last_commit(&conn.ok()?).ok()?;
        Some((last.epoch, last.generation))
    }

    /// Whether it is to end.
    fn is_stopping(&self) -> bool {
        self.index.stopping.load(Ordering::Relaxed)
    }

    /// Whether the index is another one than that of the last whole look at every file.
    fn is_anew(&self) -> bool {
        let known = self.state().commit;
        known.is_some() && !is_later(known, self.last_commit())
    }

    /// Looks at every file, and again where the index was made anew meanwhile; the commit that has them all.
    fn catch_up(&self) -> Option<(i64, u64)> {
        loop {
            let before = self.last_commit();
            if !self.note(self.index.catch_up()) || self.is_stopping() {
                return None;
            }
            let after = self.last_commit();
            if before == after || is_later(before, after) {
                return after;
            }
        }
    }

    fn note(&self, result: Result<Vec<UnreadPath>>) -> bool {
        let mut state = self.state();
        match result {
            Ok(unread) => {
                if !state.misses_events {
                    state.following.error = None;
                }
                for (path, _) in unread {
                    // The watcher's report of it since then is newer.
                    let stage = state.behind.entry(path).or_insert(Stage::Unread);
                    *stage = if *stage == Stage::Working { Stage::Unread } else { *stage };
                }
                true
            }
            // The caller that stops it knows.
            Err(IndexError::Interrupted) => false,
            // Tried again with each beat, and told once.
            Err(error) => {
                let text = Some(error.to_string());
                if std::mem::replace(&mut state.following.error, text.clone()) != text {
                    tracing::warn!(%error, "the index could not follow the vault");
                }
                false
            }
        }
    }
}

/// Whether a commit is of the same making of the index, and none before the known one. An older copy of the database
/// that was put back has lost commits.
fn is_later(known: Option<(i64, u64)>, now: Option<(i64, u64)>) -> bool {
    known.zip(now).is_some_and(|(known, now)| known.0 == now.0 && known.1 <= now.1)
}

fn follow(shared: &Arc<Shared>, tasks: &mpsc::Receiver<bool>, lock: Lock) {
    let (mut lock, mut rescan) = (Some(lock), false);
    let mut swept = Instant::now();
    let mut quiet = QUIET;
    loop {
        let mut wait = BEAT;
        loop {
            match tasks.recv_timeout(wait) {
                Ok(is_rescan) => rescan |= is_rescan,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // Take all that waits, then work.
            wait = Duration::ZERO;
        }
        if shared.is_stopping() {
            break;
        }
        if shared.is_anew() {
            tracing::debug!("the index was made anew");
            shared.distrust();
            rescan = true;
        }
        if !is_held(shared.index.cache()) {
            tracing::debug!("the cache was deleted, and the lock with it");
            shared.distrust();
            let _ = std::fs::create_dir_all(shared.index.cache());
            lock = None;
            lock = Lock::try_take(&shared.index.cache().join("live.lock")).ok().flatten().or(lock);
            rescan = true;
        }
        rescan |= swept.elapsed() > SWEEP;
        let is_there = shared.index.vault().is_present();
        let committed = if rescan && is_there {
            tracing::debug!("looking at every file");
            rescan = false;
            let distrusted = {
                let mut state = shared.state();
                state.step(Stage::Dirty, Stage::Working);
                state.step(Stage::Unread, Stage::Working);
                state.distrusted
            };
            let commit = shared.catch_up();
            if let Ok(store) = shared.index.store() {
                let _ = store.sweep();
            }
            swept = Instant::now();
            let mut state = shared.state();
            state.worked(commit.is_some());
            state.commit = commit;
            state.following.following = commit.is_some() && state.distrusted == distrusted;
            true
        } else if is_there {
            commit_dirty(shared)
        } else {
            shared.distrust();
            rescan = true;
            false
        };
        shared.publish();
        quiet = if committed { 0 } else { quiet + 1 };
        if committed {
            let merged = shared.index.store().and_then(|store| store.compact(MERGE));
            if let Err(error) = merged {
                tracing::warn!(%error, "segments could not be merged");
            }
        }
        if let Some(give_back) = GIVE_BACK.get().filter(|_| quiet == QUIET) {
            give_back();
        }
    }
    drop(lock);
}

/// Commits the dirty files; they stay dirty for others until it is done, and longer if they change again
/// meanwhile. Whether anything was committed.
fn commit_dirty(shared: &Shared) -> bool {
    let paths = shared.state().step(Stage::Dirty, Stage::Working);
    if paths.is_empty() {
        return false;
    }
    let is_done = shared.note(shared.index.update(&paths));
    let now = shared.last_commit();
    let mut state = shared.state();
    state.worked(is_done);
    if is_later(state.commit, now) {
        state.commit = now;
    }
    is_done
}
