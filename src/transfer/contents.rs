//! Reads the vault's notes into the contents of an export. All export formats use the same contents.

use jiff::Timestamp;
use jiff::civil::Date;

use super::Result;
use crate::config::Settings;
use crate::format::commitment::{self, Commitment, CommitmentsFile};
use crate::format::daily;
use crate::format::memory::{self, Bullet, MemoryFile};
use crate::format::reminder::{self, RemindersFile};
use crate::memory::pins::{self, Pin};
use crate::memory::{day_notes, note};
use crate::reminders::rfc3339;
use crate::schedule::Zone;
use crate::vault::{NotePath, Vault};

/// The beginning of an exported document.
const FIRST: &str = "# What ";

/// Whether a text begins as an exported document does.
pub(super) fn is_document(text: &str) -> bool {
    let head = text.strip_prefix(FIRST).and_then(|rest| rest.split_once('\n'));
    head.is_some_and(|(first, rest)| first.ends_with(" remembers") && rest.starts_with("\nAs of "))
}

/// The note of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayNote {
    /// The day.
    pub date: Date,
    /// Its note.
    pub path: NotePath,
    /// Its parsed content.
    pub file: MemoryFile,
}

/// The notes that hold memories, reminders, follow-ups and pins, parsed.
#[derive(Debug, Clone)]
pub struct VaultContents {
    /// The vault's name: its folder's.
    pub name: String,
    /// The zone that its dates and times are meant in.
    pub zone: Zone,
    /// The memory note, and what it says.
    pub memory: (NotePath, MemoryFile),
    /// The days, oldest first.
    pub days: Vec<DayNote>,
    /// The note of reminders, and what it says.
    pub reminders: (NotePath, RemindersFile),
    /// The note of follow-ups, and what it says.
    pub commitments: (NotePath, CommitmentsFile),
    /// The note of pins, and what it says.
    pub pins: (NotePath, Vec<Pin>),
    /// The notes of days that can't be read, and why.
    pub unread: Vec<String>,
}

impl DayNote {
    /// Its bullets, as a list.
    pub(super) fn list(&self) -> String {
        let bullet = |bullet: &Bullet| match bullet.time {
            Some(time) => daily::render_bullet(time, &bullet.text),
            None => memory::render_bullet(None, &bullet.text),
        };
        self.file.bullets.iter().map(bullet).collect()
    }
}

impl VaultContents {
    /// The days with content.
    pub(super) fn days_with_content(&self) -> impl Iterator<Item = &DayNote> {
        self.days.iter().filter(|day| !day.file.bullets.is_empty())
    }

    /// The head of a document, as of `now`.
    pub(super) fn head(&self, now: Timestamp) -> String {
        let local = self.zone.tz().to_datetime(now);
        let (date, time) = (local.date(), local.time().strftime("%H:%M"));
        format!("{FIRST}{} remembers\n\nAs of {date} {time}, {}.\n", self.name, self.zone)
    }

    /// When a follow-up is due.
    pub(super) fn due(&self, commitment: &Commitment) -> String {
        commitment.due.map_or_else(|| "no due time".to_owned(), |due| rfc3339(due, self.zone.tz()))
    }

    /// Reads the notes; a missing note counts as empty.
    pub fn read(vault: &Vault, settings: &Settings, zone: &Zone) -> Result<Self> {
        let paths = &settings.paths;
        let name = vault.root().file_name().map_or_else(|| "vault".into(), |name| name.to_string_lossy());
        let (mut days, mut unread) = (Vec::new(), Vec::new());
        for (date, path) in day_notes(vault, &note(&paths.daily))?.into_iter().rev() {
            match vault.read(&path) {
                Ok(bytes) => days.push(DayNote { date, file: daily::parse(&bytes), path }),
                Err(error) => unread.push(error.to_string()),
            }
        }
        Ok(Self {
            name: name.into_owned(),
            zone: zone.clone(),
            days,
            unread,
            memory: parsed(vault, &paths.memory, memory::parse)?,
            reminders: parsed(vault, &paths.reminders, reminder::parse)?,
            commitments: parsed(vault, &paths.commitments, commitment::parse)?,
            pins: parsed(vault, &paths.pinned, pins::parse)?,
        })
    }
}

/// A note of the settings, and what it says.
fn parsed<T>(vault: &Vault, path: &str, parse: fn(&[u8]) -> T) -> Result<(NotePath, T)> {
    let path = note(path);
    let file = parse(&vault.read_or_empty(&path)?);
    Ok((path, file))
}
