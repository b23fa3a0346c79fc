//! Starts a process that updates the index, where the update would take longer than the 300 ms that a hook has.
//!
//! Without a daemon nothing else would update the index, and every prompt would be late. The process runs one `recall`,
//! which updates index and ranking, and ends. At most one is started in ten minutes, and none if a daemon runs.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::config::Dirs;
use crate::hooks::context::start_detached;
use crate::search::follow::follower;

const MIN_INTERVAL: Duration = Duration::from_secs(600);

/// Starts it, unless it was started just now or a daemon is at work. The hook does not wait for it.
pub(crate) fn start_if_due(vault: &Path) {
    let Ok(dirs) = Dirs::for_vault(vault) else { return };
    let mark = dirs.cache.join("hooks-behind");
    let age = std::fs::metadata(&mark).and_then(|meta| meta.modified()).ok();
    let is_young = |at| SystemTime::now().duration_since(at).is_ok_and(|age| age < MIN_INTERVAL);
    if age.is_some_and(is_young) || follower::is_held(&dirs.cache) || std::fs::write(&mark, "").is_err() {
        return;
    }
    start_detached(vault, ["recall", "index"]);
}
