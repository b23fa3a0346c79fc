//! Watches the folders of the vault: on Linux with one watch for each, elsewhere with one for all. A new folder with
//! the old name of a moved folder gets its own watch, too. Also detects a vault that is gone or replaced.

use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{FolderIdentity, Watch, WatchError, WatchEvent, WatchMessage, identity};
use crate::vault::prelude::*;
use crate::vault::{NotePath, WalkOptions};

/// The most walks of the vault after its folders have changed; a walk that finds no new folder is the last one.
const ROUNDS: usize = 10;

/// Whether the folder to watch was missing, though it may exist by now.
fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

impl Watch {
    /// Sets a watch on every folder, without keeping earlier watches.
    pub(super) fn watch_all(&mut self) -> Result<(), WatchError> {
        self.folders.clear();
        self.watcher = None;
        let sender = self.sender.clone();
        let handler = move |event: notify::Result<Event>| {
            // Reads are of no interest, and are most of the events.
            if !event.as_ref().is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                // If the thread has ended, the event has no receiver.
                drop(sender.send(WatchMessage::Event(event)));
            }
        };
        let mut watcher = RecommendedWatcher::new(handler, Config::default().with_follow_symlinks(false))?;
        let mode =
            if cfg!(target_os = "linux") { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
        watcher.watch(self.vault.root(), mode)?;
        if let Some(cookies) = &mut self.cookies {
            cookies.watch(&mut watcher, self.vault.root(), true);
        }
        self.watcher = Some(watcher);
        self.is_limited = false;
        self.follow_folders(true);
        Ok(())
    }

    /// Watches new folders, and stops watching deleted ones. Notes in a new folder are dirty; a deleted folder asks for
    /// a rescan.
    pub(super) fn follow_folders(&mut self, is_first: bool) {
        let options = WalkOptions { extensions: Vec::new(), ..WalkOptions::default() };
        // Writes into these before they had their watch have no event: the next walk finds them.
        let mut fresh: BTreeSet<NotePath> = BTreeSet::new();
        // A folder may appear in a new folder while that is being watched; a few rounds settle it.
        for _ in 0..ROUNDS {
            let Ok(walk) = self.vault.walk(&options) else {
                return self.collector.rescan("the vault's folders could not be listed");
            };
            let there: BTreeMap<NotePath, FolderIdentity> = walk
                .folders
                .into_iter()
                .map(|folder| (folder.path, (folder.stat.dev, folder.stat.inode)))
                .collect();
            let gone: Vec<NotePath> = self
                .folders
                .iter()
                .filter(|(path, id)| there.get(*path) != Some(*id))
                .map(|(path, _)| path.clone())
                .collect();
            for path in &gone {
                self.folders.remove(path);
                if cfg!(target_os = "linux")
                    && let Some(watcher) = &mut self.watcher
                {
                    // If the folder was deleted, its watch is gone already.
                    drop(watcher.unwatch(&self.vault.absolute(path)));
                }
                self.collector.rescan(format!("the folder `{path}` was moved or removed"));
            }
            // At the very start no promise has been made yet.
            if !is_first {
                let now = Instant::now();
                let is_fresh = |path: &NotePath| path.parent().is_some_and(|parent| fresh.contains(&parent));
                // An unreadable folder is reported when it is scanned.
                let skipped = walk.skipped.iter().filter_map(|one| NotePath::new(one.path.to_str()?).ok());
                let all = walk.entries.into_iter().map(|entry| entry.path).chain(skipped);
                all.filter(is_fresh).for_each(|path| self.collector.dirty(path, now));
            }
            fresh.clear();
            let new: Vec<_> =
                there.into_iter().filter(|(path, _)| !self.folders.contains_key(path)).collect();
            if new.is_empty() {
                return;
            }
            for (path, id) in new {
                if self.watch_folder(&path) {
                    self.folders.insert(path.clone(), id);
                    fresh.insert(path);
                }
            }
        }
        self.is_unsettled = true;
        self.collector.rescan("folders come faster than they can be watched");
    }

    /// Sets a watch, or reports that none can be set. `false` if the folder has just vanished; it may come back.
    pub(super) fn watch_folder(&mut self, path: &NotePath) -> bool {
        if !cfg!(target_os = "linux") || self.is_limited {
            return true;
        }
        let Some(watcher) = &mut self.watcher else { return true };
        let Err(error) = watcher.watch(&self.vault.absolute(path), RecursiveMode::NonRecursive) else {
            return true;
        };
        if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) {
            self.is_limited = true;
            self.collector.limit();
            (self.on)(WatchEvent::Error(
                "the system allows no more watched folders, so changes are looked for once a minute; raise it with `sysctl fs.inotify.max_user_watches=524288`".to_owned(),
            ));
        } else if is_gone(&error) || !self.vault.absolute(path).is_dir() {
            return false;
        } else {
            (self.on)(WatchEvent::Error(format!("the folder `{path}` can't be watched: {error}")));
        }
        true
    }

    /// Detects that the vault has vanished, has come back, or has been replaced by another folder.
    pub(super) fn check_presence(&mut self) {
        if let (Some(cookies), Some(watcher)) = (&mut self.cookies, &mut self.watcher) {
            cookies.watch(watcher, self.vault.root(), false);
        }
        let now = identity(self.vault.root());
        // The empty folder that an unmounted disk leaves behind is not the vault.
        let is_stub = |id: FolderIdentity| {
            self.identity != Some(id)
                && fs::read_dir(self.vault.root()).is_ok_and(|mut items| items.next().is_none())
        };
        let now = now.filter(|id| !is_stub(*id));
        if now == self.identity {
            return;
        }
        match (self.identity, now) {
            (Some(_), None) => {
                self.identity = None;
                self.watcher = None;
                self.folders.clear();
                self.collector.vault_gone();
                (self.on)(WatchEvent::VaultGone);
            }
            (was, Some(id)) => {
                if let Err(error) = self.watch_all() {
                    // Tried again at the next look.
                    tracing::debug!(%error, "the vault is there again but can't be watched yet");
                    return;
                }
                self.identity = Some(id);
                if was.is_none() {
                    (self.on)(WatchEvent::VaultBack);
                    self.collector.vault_back();
                } else {
                    self.collector.rescan("another folder stands in the vault's place");
                }
            }
            (None, None) => {}
        }
    }
}
