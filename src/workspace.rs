//! Holds an opened vault with all that the program's entry points need.
//!
//! The entry points are the command line, the MCP server, Discord, hooks, the page and the daemon. They all open vaults
//! here. An opened vault has its settings, zone, directories, clock, editor and history; with several machines it also
//! knows whether this machine may send. Opening makes the two directories and reads the settings; it opens no note and
//! no database.
//! - [`opening`]: opens a vault, and joins the other machines; [`settings_file`]: changes the settings on disk.

mod opening;
mod settings_file;

use std::sync::Arc;

use jiff::ToSpan;
use jiff::tz::TimeZone;

use crate::clock::Clock;
use crate::config::{Dirs, NotifyKind, PausedUntil, Settings};
use crate::deliver::pass::PassContext;
use crate::deliver::{
    self, DeliveryOrder, Journal, NoteLinks, NotifyRules, PassSettings, RestoredItem, Restoring, compose,
};
use crate::format::commitment::CommitmentStatus;
use crate::machines::Machines;
use crate::memory::commitments::FollowUpNotes;
use crate::memory::{MemoryError, MemoryNotes};
use crate::reminders::{SentRecord, VaultReminders, written_lines};
use crate::schedule::{DigestRule, Pause, Zone, resolve};
use crate::sqlite::DatabaseError;
use crate::tasks::{TaskSettings, VaultTasks};
use crate::vault::{ChangeReason, Editor, NotePath, Origin, Vault, VaultError};

pub use self::opening::has_saved_settings;
pub use self::settings_file::SettingsFileError;

/// A note, or the delivery journal, can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A note.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The delivery journal.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
}

/// An opened vault.
#[derive(Debug)]
pub struct Workspace {
    /// Reads notes.
    pub vault: Vault,
    /// Writes notes.
    pub editor: Arc<Editor>,
    /// The vault's settings.
    pub settings: Settings,
    /// The zone that its dates and times are meant in.
    pub zone: Zone,
    /// The directories of its state and cache.
    pub dirs: Dirs,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Whether this machine may send, where the vault is on several.
    pub machines: Machines,
    /// Its history, opened when it is first needed; none where the settings turn it off.
    history: Option<Arc<crate::history::LazyHistory>>,
}

impl SentRecord for Workspace {
    /// Also true if the journal can't be read.
    fn possibly_sent(&self, id: &str, local: jiff::civil::DateTime) -> bool {
        self.journal().and_then(|journal| journal.possibly_sent(id, local)).unwrap_or(true)
    }

    fn line_removed(&self, id: &str) {
        let ended = self.journal().and_then(|journal| journal.line_removed(id));
        ended.unwrap_or_else(|error| tracing::warn!("{error}"));
    }
}

impl Workspace {
    fn assemble(
        vault: Vault,
        editor: Arc<Editor>,
        settings: Settings,
        zone: Zone,
        dirs: Dirs,
        clock: Arc<dyn Clock>,
        machines: Machines,
    ) -> Self {
        let history = settings.history.enabled.then(|| {
            let (state, clock) = (dirs.state.clone(), Arc::clone(&clock));
            Arc::new(crate::history::LazyHistory::new(vault.clone(), settings.clone(), state, clock))
        });
        if let Some(history) = &history {
            editor.set_observer(Arc::clone(history) as Arc<dyn crate::vault::ChangeObserver>);
        }
        Self { vault, editor, settings, zone, dirs, clock, machines, history }
    }

    /// Finishes the edit of a process that was killed, so that it is recorded with its reason before a snapshot. One
    /// that can't be finished now stays in the edit journal.
    pub fn recover_edits(&self) {
        if let Err(error) = self.editor.recover() {
            tracing::warn!(%error, "what an earlier edit left can't be looked after now");
        }
    }

    /// A snapshot of the whole vault into `history`, after [`Workspace::recover_edits`].
    ///
    /// # Errors
    /// As [`crate::history::History::snapshot_all`].
    pub fn snapshot_all(
        &self,
        history: &crate::history::History,
        deletions: crate::history::Deletions,
    ) -> crate::history::Result<crate::history::SnapshotResult> {
        self.recover_edits();
        history.snapshot_all(deletions)
    }

    /// The vault's history, opened now if it wasn't; none where the settings turn it off.
    ///
    /// # Errors
    /// It can't be opened or made.
    pub fn history(&self) -> crate::history::Result<Option<Arc<crate::history::History>>> {
        self.history.as_ref().map(|history| history.get()).transpose()
    }

    /// Makes one commit of the history, for `why`, out of all changes of notes by `write`.
    pub fn as_one_commit<T>(&self, why: &ChangeReason, write: impl FnOnce() -> T) -> T {
        match self.history() {
            Ok(Some(history)) => {
                let (done, recorded) = history.together(why, write);
                if let Err(error) = recorded {
                    tracing::warn!("not recorded in history: {error}");
                }
                return done;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("not recorded in history: {error}"),
        }
        write()
    }

    /// The memory that the last write of this note removed from this line, if the note wasn't changed since. A client
    /// that got no answer names the same line again, and means that memory.
    pub fn removed_line(&self, path: &NotePath, line: usize) -> Option<String> {
        use crate::{history::LogFilter, memory::TOOK_LINE};
        let history = self.history().ok()??;
        let last = LogFilter { path: Some(path.to_string()), limit: Some(1), ..LogFilter::default() };
        let record = history.records(&last).ok()?.pop()?;
        let took = record.commit.message.trailer(TOOK_LINE)?;
        let change = record.changes.iter().find(|change| change.path == path.as_str())?;
        let diff = history.file_diff(change).ok()?;
        let is_last = took == line.to_string() && self.vault.read(path).ok()? == diff.new?.1;
        is_last.then(|| self.memory().words_in(path, &diff.old?.1, line)).flatten()
    }

    /// Whether a pin with exactly these words was removed recently. Then the words aren't taken as the beginning of
    /// another pin.
    pub fn unpinned_before(&self, text: &str) -> bool {
        use crate::{history::LogFilter, memory::pins};
        let Ok(Some(history)) = self.history() else { return false };
        let path = Some(self.settings.paths.pinned.clone());
        let last = LogFilter { path, actor: Some("agent".into()), limit: Some(64), ..LogFilter::default() };
        let text = pins::unpinned(text);
        let is_same = |value: &str| value == text;
        history.records(&last).is_ok_and(|records| {
            records.iter().any(|it| it.commit.message.trailer(pins::UNPINNED).is_some_and(is_same))
        })
    }

    /// Runs `write`, and returns its result with the lines of the reminders that it added or changed.
    pub fn with_written_reminders<T>(&self, write: impl FnOnce() -> T) -> (T, Vec<String>) {
        let path = self.note(&self.settings.paths.reminders);
        let read = || self.vault.read_or_empty(&path).ok();
        let before = read();
        let done = write();
        let lines = before.zip(read()).map(|(before, after)| written_lines(&before, &after));
        (done, lines.unwrap_or_default())
    }

    /// Runs `write`, and queues a confirmation of the lines of reminders that it added or changed; `by` says how
    /// (`by undo`, `on the page`). A confirmation that can't be queued doesn't undo the change.
    pub fn with_confirmation<T>(&self, by: &str, write: impl FnOnce() -> T) -> T {
        let (done, lines) = self.with_written_reminders(write);
        if !lines.is_empty() {
            let (what, lines) = (format!("added or changed {by}"), compose::confirmed_lines(&lines));
            let now = self.clock.now();
            let queued = self.journal().and_then(|journal| deliver::confirm(&journal, &what, &lines, now));
            queued.unwrap_or_else(|error| tracing::warn!("{what}, but not confirmed: {error}"));
        }
        done
    }

    /// The delivery journal.
    ///
    /// # Errors
    /// It can't be opened or made.
    pub fn journal(&self) -> Result<Journal, DatabaseError> {
        Journal::open(&self.dirs.state)
    }

    /// The text of the last notification of the last two months, by the id of its reminder or follow-up; else the
    /// follow-up's text.
    pub fn last_message_of(&self, id: &str) -> Option<String> {
        let today = self.zone.tz().to_datetime(self.clock.now());
        let told = || {
            let journal = self.journal().ok()?;
            let (from, to) = (today.checked_sub(62.days()).ok()?, today.checked_add(1.day()).ok()?);
            let local = journal.latest_sent(id, from, to).ok()??;
            Some(journal.row(&deliver::delivery_journal::key(id, local, None)).ok()??.fact.msg)
        };
        let promised = || {
            let listed = self.memory().ledger().list(true).ok()?;
            listed.into_iter().find(|one| one.id == id).map(|one| one.text)
        };
        told().or_else(promised)
    }

    /// Records the overdue items that a note brings back when `then` replaces `now`; called before that. The items
    /// don't fire, except with `fire`. `None` if there are none.
    ///
    /// # Errors
    /// The journal can't be written; then the note should not be restored.
    pub fn record_restored_items(
        &self,
        path: &str,
        now: &[u8],
        then: &[u8],
        fire: bool,
    ) -> Result<Option<RestoredItem>, DatabaseError> {
        let paths = &self.settings.paths;
        if path != paths.reminders && path != paths.commitments {
            return Ok(None);
        }
        let journal = &self.journal()?;
        let restoring = Restoring { journal, zone: &self.zone, now: self.clock.now(), fire };
        let (count, kind) = if path == paths.reminders {
            (restoring.hold_reminders(now, then)?, "reminder")
        } else {
            (restoring.hold_commitments(now, then)?, "follow-up")
        };
        Ok((count > 0).then_some(RestoredItem { count, kind, fire }))
    }

    /// Moves a pending follow-up that wasn't sent yet to a local time; with `was`, only if it still has this
    /// fingerprint. Returns its new block; `None` if there is no such follow-up.
    ///
    /// # Errors
    /// Its note can't be read or written.
    pub fn postpone_follow_up(
        &self,
        id: &str,
        was: Option<&str>,
        to: jiff::civil::DateTime,
        origin: &Origin,
    ) -> Result<Option<String>, MemoryError> {
        let memory = self.memory();
        let ledger = FollowUpNotes { was, ..memory.ledger() };
        let file = ledger.read()?;
        let waiting = file.find(id).filter(|block| block.commitment.status == CommitmentStatus::Pending);
        let Some(due) = waiting.and_then(|block| block.commitment.due) else { return Ok(None) };
        // Its key in the journal has the time in UTC.
        if self.possibly_sent(id, due.to_zoned(TimeZone::UTC).datetime()) {
            return Ok(None);
        }
        ledger.postpone(id, (due, resolve(&self.zone, to)), origin).map(Some)
    }

    /// The note at a path of the settings, which are validated.
    pub fn note(&self, path: &str) -> NotePath {
        NotePath::new(path).expect("the settings' paths are validated when they are read")
    }

    /// The memory notes.
    pub fn memory(&self) -> MemoryNotes<'_> {
        let Self { vault, editor, settings, zone, .. } = self;
        MemoryNotes { vault, editor, settings, zone }
    }

    /// The reminders.
    pub fn vault_reminders(&self) -> VaultReminders<'_> {
        let Self { vault, editor, zone, .. } = self;
        let path = self.note(&self.settings.paths.reminders);
        VaultReminders { vault, editor, path, zone, sent: self, was: None }
    }

    /// A pass over this vault.
    pub fn pass_context<'a>(
        &'a self,
        journal: &'a Journal,
        delivery_order: &'a DeliveryOrder,
        settings: &'a PassSettings,
    ) -> PassContext<'a> {
        let Self { vault, editor, clock, machines, .. } = self;
        PassContext { vault, editor, journal, delivery_order, clock: &**clock, settings, machines }
    }

    /// The pause that the settings name, whether it is over or not.
    pub fn pause(&self) -> Option<Pause> {
        pause_of(&self.settings, &self.zone)
    }

    /// The pause that the settings on disk name; a daemon applies changed settings a moment later.
    pub fn pause_on_disk(&self) -> Option<Pause> {
        self.settings_on_disk()
            .map_or_else(|_| self.pause(), |(settings, zone, _)| pause_of(&settings, &zone))
    }

    /// Why no unasked work is done here now: another machine does it, or it is paused.
    pub fn reason_for_rest(&self) -> Option<String> {
        let paused = || self.pause().filter(|_| self.is_paused());
        self.left_to_other_machine().or_else(|| paused().map(|pause| pause.words(self.zone.tz())))
    }

    /// The reason why unasked work is left to another machine.
    pub fn left_to_other_machine(&self) -> Option<String> {
        self.read_only().or_else(|| self.other_voice())
    }

    /// Whether a pause holds now.
    pub fn is_paused(&self) -> bool {
        self.pause().is_some_and(|pause| pause.holds(self.clock.now()))
    }

    fn read_only(&self) -> Option<String> {
        let here = hostname::get().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        deliver::pass::read_only(self.settings.schedule.host.as_deref(), &here)
    }

    /// The settings for a pass of the scheduler.
    pub fn pass_settings(&self) -> PassSettings {
        let schedule = &self.settings.schedule;
        PassSettings {
            zone: self.zone.clone(),
            reminders: self.note(&self.settings.paths.reminders),
            commitments: self.note(&self.settings.paths.commitments),
            tasks: self.task_settings(),
            digest: DigestRule {
                over: schedule.digest_over,
                after: jiff::SignedDuration::from_hours(i64::from(schedule.digest_after_hours)),
            },
            read_only: self.read_only(),
            pause: self.pause(),
            notifiers: format!("{:?} {:?}", self.settings.notify, self.settings.discord),
            notify_rules: self.notify_rules(),
            phrase: self.settings.assistant.phrase && !self.settings.brains.is_empty(),
        }
    }

    /// The rules of recipients and quiet hours, by the settings.
    pub fn notify_rules(&self) -> NotifyRules {
        let notify = &self.settings.notify;
        let names = |kinds: &[NotifyKind]| kinds.iter().map(|kind| kind.as_str()).collect();
        NotifyRules {
            kinds: names(&notify.by_default()),
            quiet: notify.quiet.map(|quiet| (quiet.from, quiet.to)),
            urgent: notify.urgent.clone(),
            tags: notify.tags.iter().map(|(tag, kinds)| (tag.clone(), names(kinds))).collect(),
        }
    }

    /// The links that open the notes of this vault in Obsidian.
    pub fn links(&self) -> NoteLinks {
        let name = self.vault.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let paths = &self.settings.paths;
        NoteLinks { vault: name, reminders: paths.reminders.clone(), commitments: paths.commitments.clone() }
    }

    /// The tasks of other plugins, of the forms that are on in the settings.
    pub fn vault_tasks(&self) -> VaultTasks<'_> {
        let Self { vault, editor, zone, .. } = self;
        VaultTasks { vault, editor, settings: self.task_settings(), zone }
    }

    /// The task lines of other plugins that are notified; `None` if the settings name no form.
    pub fn task_settings(&self) -> Option<TaskSettings> {
        TaskSettings::of(&self.settings, &self.zone)
    }
}

fn pause_of(settings: &Settings, zone: &Zone) -> Option<Pause> {
    let until = match settings.paused_until? {
        PausedUntil::Resumed => None,
        PausedUntil::At(local) => Some(resolve(zone, local)),
    };
    Some(Pause { until, reminders: settings.pause_reminders })
}
