//! Watches the vault and reports changes soon; its events are hints, not facts.
//!
//! An event says that something may have changed, not what: the receiver of [`WatchEvent::Dirty`] reads the note and
//! compares. Folders are watched, not files, so that a save by rename or exchange is seen like any other. A new folder
//! is watched first and walked then, because early writes into it have no event.
//!
//! A process that must not miss earlier events leaves a [cookie](cookies). If events may have been missed, a rescan is
//! asked for, for example when the queue overflowed, a folder was moved, or an hour has gone by. A write through a hard
//! link or a mapped file causes no event, so the sizes and times of all files are compared every three minutes. A vault
//! that vanishes is reported as such and never as the removal of its notes.
//!
//! A folder that can't be watched is reported. If the system allows no more watches, a rescan follows every minute.
//! Only [`Watcher::start`] can fail.
//!
//! - `folders`: the watched folders, and the vault's presence; `debounce`: debouncing of events;
//! - `stat_poll`: changes without an event;
//! - `cookies`: files that prove that all earlier events were seen.

mod cookies;
mod debounce;
mod folders;
mod stat_poll;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

use notify::event::{CreateKind, ModifyKind, RemoveKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher};

use self::stat_poll::{FileStamp, StatPoll};
use self::{cookies::Cookies, debounce::Collector};
use super::{NotePath, Vault, WalkEntry, WalkOptions, conflict};
use crate::defaults::defaults;
use crate::vault::prelude::*;

/// A possible change in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// These notes are changing: reported at the first sign, before the [`WatchEvent::Dirty`] that follows once they
    /// have settled (or the [`WatchEvent::Rescan`] in its place).
    FirstChange(BTreeSet<NotePath>),
    /// These notes, or folders, may have changed, appeared or vanished.
    Dirty(BTreeSet<NotePath>),
    /// Anything may have changed, for the reason given.
    Rescan(String),
    /// All files were polled: so many had changed or vanished without an event, and are reported with this.
    Polled {
        /// How many; 0 where the watcher and the look agree.
        unseen: usize,
    },
    /// All events before these cookies have been reported.
    CaughtUp(BTreeSet<String>),
    /// The vault's folder is not there any more, or its disk is unmounted.
    VaultGone,
    /// It is there again; a [`WatchEvent::Rescan`] follows.
    VaultBack,
    /// Watching does not work as it should.
    Error(String),
}

defaults! {
    /// The watcher's intervals.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct WatchTimes {
        /// Changes are reported after so long without another one, or after five times as long.
        pub settle: Duration = Duration::from_millis(50),
        /// A rescan comes at least so often.
        pub rescan_every: Duration = Duration::from_secs(3_600),
        /// How often it is checked that the vault is there.
        pub presence_every: Duration = Duration::from_secs(1),
        /// The interval at which all files are polled for changes without an event; longer if a poll is slow.
        pub look_every: Duration = Duration::from_secs(180),
    }
}

/// A running watcher, until dropped.
#[derive(Debug)]
pub struct Watcher {
    stop: Sender<WatchMessage>,
    thread: Option<JoinHandle<()>>,
}

/// A watcher could not be started: the system gives no watches, or no threads.
#[derive(Debug, thiserror::Error)]
#[error("the vault can't be watched: {0}")]
pub struct WatchError(#[from] notify::Error);

enum WatchMessage {
    Event(notify::Result<Event>),
    Stop,
}

impl Watcher {
    /// Watches `vault` and calls `on` from a thread of its own, with the usual [`WatchTimes`]. When it returns, every
    /// later change will be reported.
    pub fn start(vault: &Vault, on: impl FnMut(WatchEvent) + Send + 'static) -> Result<Self, WatchError> {
        Self::start_with(vault, WatchTimes::default(), None, on)
    }

    /// As [`Watcher::start`], with other times, and with a folder of ours for cookies: after the name of each file that
    /// a process makes in there, [`WatchEvent::CaughtUp`] says that all earlier events are reported.
    pub fn start_with(
        vault: &Vault,
        times: WatchTimes,
        cookies: Option<&Path>,
        on: impl FnMut(WatchEvent) + Send + 'static,
    ) -> Result<Self, WatchError> {
        let (sender, receiver) = channel();
        let mut watch = Watch {
            vault: vault.clone(),
            sender: sender.clone(),
            watcher: None,
            folders: BTreeMap::new(),
            cookies: cookies.map(Cookies::new),
            identity: identity(vault.root()),
            collector: Collector::new(times, Instant::now()),
            stat_poll: StatPoll::default(),
            next_look: Instant::now() + times.presence_every,
            poll_settles: None,
            is_limited: false,
            is_unsettled: false,
            times,
            on: Box::new(on),
        };
        watch.watch_all()?;
        let thread = std::thread::Builder::new().name("vault-watch".to_owned());
        let thread = thread.spawn(move || watch.run(&receiver)).map_err(notify::Error::from)?;
        Ok(Self { stop: sender, thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The thread may have ended by itself; then there is nothing to stop.
        drop(self.stop.send(WatchMessage::Stop));
        if let Some(thread) =
            self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id())
        {
            drop(thread.join());
        }
    }
}

type FolderIdentity = (u64, u64);

fn identity(folder: &Path) -> Option<FolderIdentity> {
    fs::metadata(folder).ok().filter(fs::Metadata::is_dir).map(|metadata| (metadata.dev(), metadata.ino()))
}

/// A look takes at most one part in so many of the time.
const LOOKS_AT_MOST: u32 = 100;

/// No caller waits for a look: one thread is enough.
fn every_file() -> WalkOptions {
    WalkOptions { wide: false, ..WalkOptions::every_file() }
}

fn seen(entry: &WalkEntry) -> (&NotePath, FileStamp) {
    let stat = &entry.stat;
    (&entry.path, (stat.size, stat.mtime_ns, stat.dev, stat.inode))
}

fn seen_of(meta: &fs::Metadata) -> FileStamp {
    let mtime = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
    (meta.size(), mtime, meta.dev(), meta.ino())
}

struct Watch {
    vault: Vault,
    sender: Sender<WatchMessage>,
    watcher: Option<RecommendedWatcher>,
    /// The watched folders, each with its identity when its watch was set.
    folders: BTreeMap<NotePath, FolderIdentity>,
    cookies: Option<Cookies>,
    /// The vault's folder, `None` while it is missing.
    identity: Option<FolderIdentity>,
    collector: Collector,
    stat_poll: StatPoll,
    next_look: Instant,
    /// When the events have come that were on their way at the last look.
    poll_settles: Option<Instant>,
    is_limited: bool,
    /// Folders come and go so fast that some may have no watch yet.
    is_unsettled: bool,
    times: WatchTimes,
    on: Box<dyn FnMut(WatchEvent) + Send>,
}

impl Watch {
    fn run(mut self, receiver: &Receiver<WatchMessage>) {
        fail::fail_point!("vault::watch::begun");
        let mut looked = Instant::now();
        self.remember_all();
        loop {
            let idle = self.collector.idle_for(Instant::now());
            let mut folders_changed = std::mem::take(&mut self.is_unsettled);
            let mut next =
                receiver.recv_timeout(if folders_changed { idle.min(self.times.settle) } else { idle });
            loop {
                match next {
                    Ok(WatchMessage::Event(event)) => folders_changed |= self.take_in(event),
                    Ok(WatchMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => break,
                }
                // A process waits for the events so far.
                if self.cookie_has_come() {
                    break;
                }
                next = receiver.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
            if folders_changed && self.identity.is_some() {
                self.follow_folders(false);
            }
            let is_asked = self.cookie_has_come();
            if looked.elapsed() >= self.times.presence_every || folders_changed || is_asked {
                looked = Instant::now();
                self.check_presence();
            }
            self.poll(Instant::now());
            while let Some(event) = self.collector.take(Instant::now()) {
                self.remember(&event);
                (self.on)(event);
            }
            // A missing vault has no events, so a lack of events proves nothing.
            if self.identity.is_some()
                && let Some(event) = self.cookies.as_mut().and_then(Cookies::take)
            {
                (self.on)(event);
            }
        }
    }

    /// Polls all files when it is time, and reports the missed changes of the last poll once events have had time to
    /// come.
    fn poll(&mut self, now: Instant) {
        if self.identity.is_none() {
            return;
        }
        if self.poll_settles.is_some_and(|at| at <= now) {
            self.poll_settles = None;
            if let Some(unseen) = self.stat_poll.missed_changes(self.collector.pending()) {
                (self.on)(WatchEvent::Polled { unseen: unseen.changed.len() + unseen.vanished });
                if unseen.vanished > 0 {
                    self.collector.rescan("files went without an event");
                }
                unseen.changed.into_iter().for_each(|path| self.collector.dirty(path, now));
            }
        }
        if self.next_look <= now {
            if let Ok(walk) = self.vault.walk(&every_file()) {
                self.stat_poll.compare(walk.entries.iter().map(seen));
                self.poll_settles = Some(now + self.times.presence_every);
            }
            self.next_look = now + self.times.look_every.max(now.elapsed() * LOOKS_AT_MOST);
        }
    }

    /// Records the state of files that are being reported.
    fn remember(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::Dirty(paths) => {
                for path in paths {
                    let meta = fs::symlink_metadata(self.vault.absolute(path));
                    let file = meta.ok().filter(fs::Metadata::is_file);
                    self.stat_poll.reported(path, file.as_ref().map(seen_of));
                }
            }
            WatchEvent::Rescan(_) => self.remember_all(),
            _ => {}
        }
    }

    fn remember_all(&mut self) {
        if let Ok(walk) = self.vault.walk(&every_file()) {
            self.stat_poll.all(walk.entries.iter().map(seen));
            self.poll_settles = None;
        }
    }

    fn cookie_has_come(&self) -> bool {
        self.cookies.as_ref().is_some_and(Cookies::has_arrived)
    }

    /// Records an event; `true` if folders have appeared, vanished or moved.
    fn take_in(&mut self, event: notify::Result<Event>) -> bool {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                self.collector.rescan(format!("watching failed: {error}"));
                return true;
            }
        };
        if event.need_rescan() {
            self.collector.rescan("the system's queue of changes overflowed");
            return true;
        }
        if self.cookies.as_mut().is_some_and(|cookies| cookies.note_event(&event)) {
            return false;
        }
        let mut folders = matches!(
            event.kind,
            EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder)
        );
        // The system has ended the watches of these, even if the same folder is made or moved back at once.
        let left = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        );
        let renamed = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)) | EventKind::Create(_));
        for path in &event.paths {
            let Some(path) = self.note_path(path) else { continue };
            let is_folder =
                self.folders.contains_key(&path) || renamed && self.vault.absolute(&path).is_dir();
            folders |= is_folder
                && !matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Data(_)));
            if !is_folder {
                self.collector.dirty(path, Instant::now());
            } else if left && self.folders.contains_key(&path) {
                self.collector.rescan(format!("the folder `{path}` was moved or removed"));
                self.folders.retain(|folder, _| !folder.is_within(&path));
            }
        }
        folders
    }

    /// The path in the vault that an event is about; `None` for a hidden or temporary file.
    fn note_path(&self, path: &Path) -> Option<NotePath> {
        let inside = path.strip_prefix(self.vault.root()).ok()?.to_str()?;
        let path = NotePath::new(inside).ok()?;
        (!path.is_hidden() && !conflict::is_temporary(path.file_name())).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use notify::event::Flag;

    use super::*;

    /// As inotify reports it; what was lost is named by no event.
    #[test]
    fn an_overflow_of_the_systems_queue_is_a_rescan() {
        let dir = tempfile::tempdir().unwrap();
        let (sender, events) = channel();
        let on = move |event| drop(sender.send(event));
        let watcher = Watcher::start(&Vault::open(dir.path()).unwrap(), on).unwrap();
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        watcher.stop.send(WatchMessage::Event(Ok(overflow))).unwrap();
        let limit = Instant::now() + Duration::from_secs(60);
        loop {
            match events.recv_timeout(limit.saturating_duration_since(Instant::now())).unwrap() {
                WatchEvent::Rescan(why) => return assert!(why.contains("overflowed"), "{why}"),
                WatchEvent::Polled { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}
