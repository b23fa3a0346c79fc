//! Recognises cookies: files by which another process learns that the watcher has seen all earlier events.
//!
//! That process makes a file in a folder that is watched like those of the vault, so the file's event enters the same
//! queue. When the watcher takes this event from the queue, it has taken all earlier events, and reports this
//! ([`WatchEvent::CaughtUp`]). If the folder can't be watched, there are no cookies.

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::ModifyKind};

use crate::vault::prelude::*;
use crate::vault::watch::{FolderIdentity, WatchEvent, identity};

/// The folder of cookies, and the cookies whose events have arrived but aren't reported yet.
#[derive(Debug)]
pub(super) struct Cookies {
    folder: PathBuf,
    /// The folder that has a watch.
    watched: Option<FolderIdentity>,
    seen: BTreeSet<String>,
}

impl Cookies {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), watched: None, seen: BTreeSet::new() }
    }

    /// Watches the folder, which is created if it is missing. With a `new` `watcher`, an earlier watch doesn't count.
    pub(super) fn watch(&mut self, watcher: &mut RecommendedWatcher, vault: &Path, new: bool) {
        if !new && self.watched.is_some() && identity(&self.folder) == self.watched {
            return;
        }
        self.watched = None;
        if let Err(error) = self.try_watch(watcher, vault) {
            tracing::debug!(%error, folder = %self.folder.display(), "without cookies no process can ask whether all changes were seen");
            // Without the folder no process asks in vain.
            drop(fs::remove_dir(&self.folder));
        }
    }

    fn try_watch(&mut self, watcher: &mut RecommendedWatcher, vault: &Path) -> notify::Result<()> {
        fs::create_dir_all(&self.folder)?;
        // Events name the real place.
        self.folder = self.folder.canonicalize()?;
        let id = identity(&self.folder).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        // Only inotify has one queue for all file systems.
        if !cfg!(target_os = "linux") && fs::metadata(vault)?.dev() != id.0 {
            return Err(notify::Error::generic("it is on another file system than the vault"));
        }
        watcher.watch(&self.folder, RecursiveMode::NonRecursive)?;
        self.watched = Some(id);
        Ok(())
    }

    /// Records the cookies that an event is about; `false` if it is about something else.
    pub(super) fn note_event(&mut self, event: &Event) -> bool {
        let mut names = event.paths.iter().map(|path| path.strip_prefix(&self.folder));
        if event.paths.is_empty() || !names.clone().all(|name| name.is_ok()) {
            return false;
        }
        if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
            // The folder is gone, and the next one may have its number.
            if event.paths.contains(&self.folder) {
                self.watched = None;
            }
        } else {
            self.seen.extend(names.by_ref().flatten().filter_map(Path::to_str).map(str::to_owned));
            self.seen.remove("");
        }
        true
    }

    /// Whether the event of a cookie has arrived.
    pub(super) fn has_arrived(&self) -> bool {
        !self.seen.is_empty()
    }

    /// The cookies to report, once all earlier events are reported.
    pub(super) fn take(&mut self) -> Option<WatchEvent> {
        self.has_arrived().then(|| WatchEvent::CaughtUp(std::mem::take(&mut self.seen)))
    }
}
