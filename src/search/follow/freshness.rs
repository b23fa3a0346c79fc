//! Reads, in another process, the follower's proof that the index is fresh.
//!
//! The cache's folder comes in. If a follower runs and has reported all events before the question, the changed and
//! uncommitted files go out. Otherwise nothing goes out.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::search::store::Lock;
use crate::search::store::seal::{read, unsigned};

/// A follower's word counts for so long.
const STALE: Duration = Duration::from_secs(10);

/// The time that a question waits for its cookie; a small vault is scanned as a whole in less.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often a question looks for its cookie.
const LOOK: Duration = Duration::from_micros(50);

/// The proof of a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreshnessProof {
    /// The making of the index that it is given for, and a commit of it
    /// ([`crate::search::store::catalog::last_commit`]): one that was made anew meanwhile, or lost that commit, may
    /// lack anything.
    pub commit: (i64, u64),
    /// Files that changed and are not committed; everything else is as committed.
    pub dirty: Vec<String>,
}

/// Whether a follower lives.
pub fn is_held(root: &Path) -> bool {
    Lock::is_held(&root.join("live.lock"))
}

/// Whether a follower's proof is too old for a running process, which then hangs or was stopped.
pub fn is_stale(root: &Path) -> bool {
    age(root).is_some_and(|age| age > STALE)
}

/// The age of the follower's proof; none without one.
fn age(root: &Path) -> Option<Duration> {
    let written = std::fs::metadata(root.join("live")).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(written).unwrap_or_default())
}

/// The folder of the cookies.
pub fn cookies(root: &Path) -> PathBuf {
    root.join("cookies")
}

/// The follower's proof that the index equals the vault but for some named files. It holds for all events before the
/// call.
pub fn prove_freshness(root: &Path) -> Option<FreshnessProof> {
    word(root)?;
    leave_cookie(root).then(|| word(root)).flatten()
}

/// The follower's present proof.
fn word(root: &Path) -> Option<FreshnessProof> {
    if age(root)? > STALE || !is_held(root) {
        return None;
    }
    let text = read(&root.join("live")).ok()?;
    // One that was cut or damaged proves nothing.
    let mut lines = unsigned(&text)?.split('\n');
    let (epoch, generation) = lines.next()?.strip_prefix("following ")?.split_once(' ')?;
    let commit = (epoch.parse().ok()?, generation.parse().ok()?);
    Some(FreshnessProof { commit, dirty: lines.map(str::to_owned).collect() })
}

/// Leaves a cookie, and waits until it is taken: everything before it is in the follower's word then.
fn leave_cookie(root: &Path) -> bool {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let cookie = cookies(root).join(name);
    // A second name for the lock's file: ext4 makes one in a twentieth of the time that a new file takes.
    let made = std::fs::hard_link(root.join("live.lock"), &cookie);
    // Without a watcher there is no folder for it.
    if made.or_else(|_| File::create_new(&cookie).map(drop)).is_err() {
        return false;
    }
    let left = Instant::now();
    while left.elapsed() < PATIENCE {
        if std::fs::symlink_metadata(&cookie).is_err() {
            return true;
        }
        std::thread::sleep(LOOK);
    }
    // Removed at the last moment: the first to remove it decides.
    std::fs::remove_file(&cookie).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
