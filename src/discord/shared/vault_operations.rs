//! Gives commands and buttons the vault's operations, the same as those of the command line.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil;

use crate::agent::MemorySearch;
use crate::clock::Clock;
use crate::config::Settings;
use crate::deliver::Fact;
use crate::format::id::ReminderId;
use crate::format::pinned::Target;
use crate::format::reminder::{Recur, ReminderLine};
use crate::memory::{MemoryNotes, Origin, pins};
use crate::reminders::{Draft, ListedReminder, ReminderError, VaultReminders, WrittenReminder};
use crate::schedule::Zone;
use crate::tasks::{self, TaskError, TaskSettings, ToldLine, VaultTasks, WrittenTask};
use crate::vault::{Actor, Editor, NotePath};
use crate::when::{self, Meaning, WhenError};

/// Services of the daemon that the bot calls.
#[async_trait]
pub trait DaemonServices: Send + Sync {
    /// The words of `/status`.
    async fn status(&self) -> String;
    /// Takes back the agent's last change; the result in a sentence.
    ///
    /// # Errors
    /// A sentence on why not.
    async fn undo(&self) -> Result<String, String>;
    /// Confirms a change on the notifier, with the exact line as it stands in the note.
    async fn confirm(&self, what: &str, line: &str);
    /// The names of all routines.
    async fn routines(&self) -> Vec<String> {
        Vec::new()
    }
    /// Lists routines, runs one now, turns one on or off; the result in a sentence.
    ///
    /// # Errors
    /// A sentence on why not.
    async fn routine(&self, _action: &str, _name: Option<&str>) -> Result<String, String> {
        Err("nothing is known of routines here".to_owned())
    }
    /// The fact of a notification in the delivery journal, by the reminder's id and local due time.
    async fn fact(&self, id: &str, local: civil::DateTime) -> Option<Fact>;
}

/// The vault's operations for commands. All of them block for a moment on files.
#[derive(Clone)]
pub struct VaultOperations {
    /// Writes notes, and reads them.
    pub editor: Arc<Editor>,
    /// The note of reminders.
    pub reminders: NotePath,
    /// The note of pins.
    pub pinned: NotePath,
    /// Where the notes of memories are.
    pub settings: Arc<Settings>,
    /// The vault's zone.
    pub zone: Zone,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// A search of the memory.
    pub recall: Arc<dyn MemorySearch>,
    /// The rest of the daemon.
    pub services: Arc<dyn DaemonServices>,
}

impl VaultOperations {
    fn reminders_note(&self) -> VaultReminders<'_> {
        VaultReminders {
            vault: self.editor.vault(),
            editor: &self.editor,
            path: &self.reminders,
            zone: &self.zone,
        }
    }

    /// The memory notes.
    pub fn memory(&self) -> MemoryNotes<'_> {
        let (vault, editor) = (self.editor.vault(), &*self.editor);
        MemoryNotes { vault, editor, settings: &self.settings, zone: &self.zone }
    }

    /// Reads a phrase for a time.
    ///
    /// # Errors
    /// What is wrong with it, or all that it can mean.
    pub fn when(&self, text: &str) -> Result<Meaning, WhenError> {
        when::read(text, self.clock.now(), &self.zone)
    }

    /// A local time with its weekday and how far away it is.
    pub fn in_words(&self, local: civil::DateTime, recur: Recur) -> String {
        when::confirmation_with(local, recur, self.clock.now(), &self.zone)
    }

    /// All reminders.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list(&self) -> Result<Vec<ListedReminder>, ReminderError> {
        self.reminders_note().list(self.clock.now())
    }

    /// The settings for tasks of other plugins.
    fn task_settings(&self) -> Option<TaskSettings> {
        TaskSettings::of(&self.settings, &self.zone)
    }

    fn tasks<'a>(&'a self, settings: Option<&'a TaskSettings>) -> VaultTasks<'a> {
        VaultTasks { vault: self.editor.vault(), editor: &self.editor, settings, zone: &self.zone }
    }

    /// All reminders and tasks, and problems of notes that can't be read.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list_all(&self) -> Result<(Vec<ToldLine>, Vec<String>), ReminderError> {
        let settings = self.task_settings();
        tasks::all(&self.reminders_note(), &self.tasks(settings.as_ref()), self.clock.now())
    }

    /// Does the task that a notification was about, as its plugin would.
    ///
    /// # Errors
    /// As [`VaultTasks::done`].
    pub fn task_done(&self, id: &str, due: civil::DateTime) -> Result<WrittenTask, TaskError> {
        let settings = self.task_settings();
        self.tasks(settings.as_ref()).done(id, Some(due), self.clock.now(), Actor::Discord)
    }

    /// Snoozes the task that a notification was about.
    ///
    /// # Errors
    /// As [`VaultTasks::snooze`].
    pub fn task_snooze(
        &self,
        id: &str,
        due: civil::DateTime,
        to: civil::DateTime,
    ) -> Result<WrittenTask, TaskError> {
        let settings = self.task_settings();
        self.tasks(settings.as_ref()).snooze(id, Some(due), to, Actor::Discord)
    }

    /// Adds a reminder, unless exactly this one exists.
    ///
    /// # Errors
    /// The message can't stand in a line, or the note can't be written.
    pub fn add(
        &self,
        local: civil::DateTime,
        recur: Recur,
        msg: &str,
    ) -> Result<WrittenReminder, ReminderError> {
        self.reminders_note().add_once(&Draft { local, recur, msg: msg.to_owned() }, Actor::Discord)
    }

    /// Removes a reminder.
    ///
    /// # Errors
    /// There is none, several lines have the id, or the note can't be written.
    pub fn remove(&self, id: &str) -> Result<WrittenReminder, ReminderError> {
        self.reminders_note().remove(id, Actor::Discord)
    }

    /// Removes the reminder that a notification was about.
    ///
    /// # Errors
    /// As [`VaultOperations::remove`].
    pub fn remove_line(&self, id: &str, line: &ReminderLine) -> Result<WrittenReminder, ReminderError> {
        match without_id(id, Some(line)) {
            Some((line, id)) => self.reminders_note().remove_line(line, id, Actor::Discord),
            None => self.remove(id),
        }
    }

    /// Moves the recurring reminder that a notification was about past its next occurrence.
    ///
    /// # Errors
    /// As [`VaultOperations::remove`], or there is no occurrence after the next.
    pub fn skip_line(&self, id: &str, line: Option<&ReminderLine>) -> Result<WrittenReminder, ReminderError> {
        let now = self.clock.now();
        match without_id(id, line) {
            Some((line, id)) => self.reminders_note().skip_next_of(line, id, now, Actor::Discord),
            None => self.reminders_note().skip_next(id, now, Actor::Discord),
        }
    }

    /// The line of a reminder, if it stands in the note.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn line(&self, id: &str) -> Result<Option<ReminderLine>, ReminderError> {
        let mut lines = self.reminders_note().read()?.reminders.into_iter();
        Ok(lines.find(|line| line.reminder.id.as_ref().is_some_and(|i| i.to_string() == id)))
    }

    /// The line that a notification was about: the one with its id, else the one line that has no id yet and says the
    /// same for the same time.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn find_line(
        &self,
        id: &str,
        due: civil::DateTime,
        msg: &str,
    ) -> Result<Option<ReminderLine>, ReminderError> {
        if let Some(line) = self.line(id)? {
            return Ok(Some(line));
        }
        let says_so = |line: &ReminderLine| {
            let r = &line.reminder;
            let that_day = r.recur != Recur::None || r.date == due.date();
            r.id.is_none() && r.msg == msg && r.time == due.time() && that_day
        };
        let mut lines = self.reminders_note().read()?.reminders.into_iter().filter(says_so);
        let first = lines.next();
        Ok(first.filter(|first| lines.all(|line| line.text == first.text)))
    }

    /// Pins words, a log's block, or both; the bullet as it stands.
    ///
    /// # Errors
    /// There is nothing to pin, or the note can't be written.
    pub fn pin(&self, text: &str, link: Option<&str>) -> Result<String, pins::PinError> {
        let target = link.map(|link| {
            let (path, block) = link.split_once("#^").unwrap_or((link, ""));
            Target {
                path: path.to_owned(),
                block_id: (!block.is_empty()).then(|| block.to_owned()),
                heading: None,
            }
        });
        let origin = Origin::new(Actor::Discord);
        let pinned = pins::pin(&self.editor, &self.pinned, text, target.as_ref(), &origin)?;
        Ok(pinned.pin.shown())
    }

    /// Unpins; the bullet as it stood.
    ///
    /// # Errors
    /// No pin or several are meant, or the note can't be written.
    pub fn unpin(&self, text: &str) -> Result<String, pins::PinError> {
        let pin = pins::unpin(&self.editor, &self.pinned, text, false, &Origin::new(Actor::Discord))?;
        Ok(pin.shown())
    }

    /// All pins.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn pins(&self) -> Result<Vec<pins::Pin>, pins::PinError> {
        pins::list(&self.editor, &self.pinned)
    }
}

/// A line without an id, with the one that its notification had.
fn without_id<'l>(id: &str, line: Option<&'l ReminderLine>) -> Option<(&'l ReminderLine, ReminderId)> {
    Some((line.filter(|line| line.reminder.id.is_none())?, id.parse().ok()?))
}
