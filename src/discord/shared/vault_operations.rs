//! Carries out changes of reminders and pins for commands and buttons, through the same modules as the command line.
//!
//! A reminder is found by its id or by words of its message; tasks of other plugins are not found.

use std::ops::Deref;
use std::sync::Arc;

use jiff::civil;

use crate::agent::TurnMemory;
use crate::format::ReminderId;
use crate::format::pinned::LinkTarget;
use crate::format::reminder::{Recur, ReminderLine};
use crate::memory::{MemoryError, Origin};
use crate::reminders::{ReminderDraft, ReminderError, WrittenReminder, new_id};
use crate::vault::Actor;
use crate::when::{self, Meaning, WhenError};
use crate::workspace::Workspace;

/// The vault's operations for commands. All of them block for a moment on files.
#[derive(Clone)]
pub struct VaultOperations {
    /// The vault.
    pub workspace: Arc<Workspace>,
    /// A search of the memory.
    pub recall: Arc<dyn TurnMemory>,
}

impl Deref for VaultOperations {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

impl VaultOperations {
    /// Reads a phrase for a time.
    ///
    /// # Errors
    /// The fault in the phrase, or all that it can mean.
    pub fn when(&self, text: &str) -> Result<Meaning, WhenError> {
        when::read(text, self.clock.now(), &self.zone)
    }

    /// A local time with its weekday and how far away it is.
    pub fn in_words(&self, local: civil::DateTime, recur: Recur) -> String {
        when::confirmation_with(local, recur, self.clock.now(), &self.zone)
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
        self.vault_reminders().add_once(&ReminderDraft { local, recur, msg: msg.to_owned() }, Actor::Discord)
    }

    /// Removes the reminder with this id or, if there is none, the one whose message is these words or alone contains
    /// them.
    ///
    /// # Errors
    /// None or several have the words, or the note can't be written.
    pub fn unremind(&self, words: &str) -> Result<WrittenReminder, String> {
        let reminders = self.vault_reminders();
        let unknown = match reminders.remove(words, Actor::Discord) {
            Err(error @ ReminderError::NoSuchId { .. }) => error,
            done => return done.map_err(|error| error.to_string()),
        };
        let file = reminders.read().map_err(|error| error.to_string())?;
        let words = words.to_lowercase();
        let said = |line: &ReminderLine| line.reminder.msg.to_lowercase();
        let mut found: Vec<_> = file.reminders.iter().filter(|line| said(line) == words).collect();
        if found.is_empty() {
            found = file.reminders.iter().filter(|line| said(line).contains(&words)).collect();
        }
        let [line] = found[..] else {
            return Err(match found.len() {
                0 => unknown.to_string(),
                count => format!("{count} reminders say that; give the id of one"),
            });
        };
        let id = line.reminder.id.map_or_else(|| new_id(&file), Ok);
        let removed = id.and_then(|id| reminders.remove_line(line, id, Actor::Discord));
        removed.map_err(|error| error.to_string())
    }

    /// Removes the reminder that a notification was about.
    ///
    /// # Errors
    /// There is none, several lines have the id, or the note can't be written.
    pub fn remove_line(&self, id: &str, line: &ReminderLine) -> Result<WrittenReminder, ReminderError> {
        match without_id(id, Some(line)) {
            Some((line, id)) => self.vault_reminders().remove_line(line, id, Actor::Discord),
            None => self.vault_reminders().remove(id, Actor::Discord),
        }
    }

    /// Moves the recurring reminder that a notification was about past its next occurrence.
    ///
    /// # Errors
    /// As [`Self::remove_line`], or there is no occurrence after the next.
    pub fn skip_line(&self, id: &str, line: Option<&ReminderLine>) -> Result<WrittenReminder, ReminderError> {
        let now = self.clock.now();
        match without_id(id, line) {
            Some((line, id)) => self.vault_reminders().skip_next_of(line, id, now, Actor::Discord),
            None => self.vault_reminders().skip_next(id, now, Actor::Discord),
        }
    }

    /// The line of a reminder, if it stands in the note.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn line(&self, id: &str) -> Result<Option<ReminderLine>, ReminderError> {
        let mut lines = self.vault_reminders().read()?.reminders.into_iter();
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
        let mut lines = self.vault_reminders().read()?.reminders.into_iter().filter(says_so);
        let first = lines.next();
        Ok(first.filter(|first| lines.all(|line| line.text == first.text)))
    }

    /// Pins words, a log's block, or both; the bullet as it stands.
    ///
    /// # Errors
    /// There is nothing to pin, or the note can't be written.
    pub fn pin(&self, text: &str, link: Option<&str>) -> Result<String, MemoryError> {
        let target = link.map(LinkTarget::named);
        Ok(self.memory().pin(text, target.as_ref(), &Origin::new(Actor::Discord))?.text)
    }
}

/// A line without an id, with the one that its notification had.
fn without_id<'l>(id: &str, line: Option<&'l ReminderLine>) -> Option<(&'l ReminderLine, ReminderId)> {
    Some((line.filter(|line| line.reminder.id.is_none())?, ReminderId::from_bytes(id.as_bytes())?))
}
