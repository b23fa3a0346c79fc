//! Writes and reads JSON Lines: each line is a memory, bullet of a day, reminder, follow-up or pin, with its place.
//!
//! Reading is the inverse of writing. A line that can't be used is skipped alone. Paths in a line only name the place
//! that an item had; they are never opened, and a path outside the vault makes its line invalid.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::memory_json::{filled_lines, why};
use super::{ImportBatch, ImportItem, VaultContents};
use crate::format::commitment::{self, Commitment};
use crate::format::reminder::{Recur, Reminder};
use crate::format::{ReminderId, has_shape, invisible, reminder};
use crate::memory::Scope;
use crate::vault::NotePath;

/// The place of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPlace {
    /// The note.
    pub path: Option<NotePath>,
    /// Its first line there, from 1.
    pub line: Option<usize>,
}

/// A line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ExportRecord {
    /// A bullet of the memory note.
    Memory {
        /// The place of the item.
        #[serde(flatten)]
        place: RecordPlace,
        /// Its section.
        section: Option<String>,
        /// The timestamp in brackets before it.
        timestamp: Option<String>,
        /// Its scope; it stands in the text as a tag.
        scope: Option<String>,
        /// Its text.
        text: String,
    },
    /// A bullet of a day's note.
    Daily {
        /// The place of the item.
        #[serde(flatten)]
        place: RecordPlace,
        /// The day.
        date: Date,
        /// The local time of day, `HH:MM`.
        time: Option<String>,
        /// Its section.
        section: Option<String>,
        /// Its scope; it stands in the text as a tag.
        scope: Option<String>,
        /// Its text.
        text: String,
    },
    /// A reminder.
    Reminder {
        /// The place of the item.
        #[serde(flatten)]
        place: RecordPlace,
        /// Its id, once it has one.
        id: Option<ReminderId>,
        /// The local date.
        date: Date,
        /// The local time of day, `HH:MM`.
        time: String,
        /// How it comes again.
        recur: Recur,
        /// The day of the month that is meant, where the month lacks it.
        day: Option<i8>,
        /// Its message.
        msg: String,
        /// The block id at the end of its line.
        block_id: Option<String>,
        /// The zone that date and time are meant in.
        timezone: Option<String>,
    },
    /// A follow-up.
    Commitment {
        /// The place of the item.
        #[serde(flatten)]
        place: RecordPlace,
        /// The follow-up.
        #[serde(flatten)]
        commitment: Commitment,
    },
    /// A pinned memory.
    Pin {
        /// The place of the item.
        #[serde(flatten)]
        place: RecordPlace,
        /// The target of the link that it ends in.
        target: Option<String>,
        /// Its text as it stands in the note, with the link and its alias.
        text: String,
    },
}

/// The lines of an export, each ending in a newline.
pub fn lines_of(contents: &VaultContents) -> String {
    let text = |record| serde_json::to_string(&record).expect("a record is plain data with text for keys");
    records(contents).into_iter().map(|record| text(record) + "\n").collect()
}

/// The notes' contents, as records.
pub fn records(contents: &VaultContents) -> Vec<ExportRecord> {
    let at = |path: &NotePath, line: usize| RecordPlace { path: Some(path.clone()), line: Some(line) };
    let scope = |text: &str| {
        let scopes: Vec<String> = Scope::of_text(text).iter().map(ToString::to_string).collect();
        Some(if scopes.is_empty() { Scope::Global.to_string() } else { scopes.join(",") })
    };
    let (path, file) = &contents.memory;
    let mut all: Vec<ExportRecord> = Vec::new();
    all.extend(file.bullets.iter().map(|bullet| ExportRecord::Memory {
        place: at(path, bullet.line),
        section: bullet.section.clone(),
        timestamp: bullet.timestamp.clone(),
        scope: scope(&bullet.text),
        text: bullet.text.clone(),
    }));
    for day in &contents.days {
        all.extend(day.file.bullets.iter().map(|bullet| ExportRecord::Daily {
            place: at(&day.path, bullet.line),
            date: day.date,
            time: bullet.time.map(|time| time.strftime("%H:%M").to_string()),
            section: bullet.section.clone(),
            scope: scope(&bullet.text),
            text: bullet.text.clone(),
        }));
    }
    let (path, file) = &contents.reminders;
    all.extend(file.reminders.iter().map(|line| ExportRecord::Reminder {
        place: at(path, line.line),
        id: line.reminder.id,
        date: line.reminder.date,
        time: line.reminder.time.strftime("%H:%M").to_string(),
        recur: line.reminder.recur,
        day: line.reminder.day,
        msg: line.reminder.msg.clone(),
        block_id: line.reminder.block_id.clone(),
        timezone: Some(contents.zone.name().to_owned()),
    }));
    let (path, file) = &contents.commitments;
    all.extend(file.blocks.iter().map(|block| ExportRecord::Commitment {
        place: at(path, block.line),
        commitment: block.commitment.clone(),
    }));
    let (path, pins) = &contents.pins;
    all.extend(pins.iter().map(|pin| ExportRecord::Pin {
        place: at(path, pin.line),
        target: pin.target.as_ref().map(ToString::to_string),
        text: pin.whole_text(),
    }));
    all
}

/// The items of an export. `timezone` is the zone that this vault means its times in.
pub fn parse(bytes: &[u8], timezone: &str) -> ImportBatch {
    let mut batch = ImportBatch::default();
    let mut other_zone = None;
    for line in filled_lines(bytes) {
        let place = format!("line {}", line.number);
        let record = match serde_json::from_slice::<ExportRecord>(line.text) {
            Ok(record) => record,
            Err(error) => {
                batch.skip(place, format!("it is no line of an export: {}", why(&error)));
                continue;
            }
        };
        if let ExportRecord::Reminder { timezone: Some(zone), .. } = &record {
            other_zone =
                other_zone.or_else(|| Some((place.clone(), zone.clone())).filter(|_| zone != timezone));
        }
        match item(record) {
            Ok(item) => batch.add(item, place),
            Err(reason) => batch.skip(place, reason),
        }
    }
    if let Some((place, zone)) = other_zone {
        let reason =
            format!("reminders come from a vault in {zone}; this one reads their times in {timezone}");
        batch.remark(place, reason);
    }
    batch
}

/// Whether text begins with a line of an export.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    filled_lines(bytes).next().is_some_and(|line| {
        serde_json::from_slice::<serde_json::Value>(line.text).is_ok_and(|value| value.get("kind").is_some())
    })
}

/// Whether each line is one of an export, which says where the item stood.
pub(super) fn is_whole(text: &str) -> bool {
    text.lines().all(|line| line.contains("\"path\":") && serde_json::from_str::<ExportRecord>(line).is_ok())
}

fn item(record: ExportRecord) -> Result<ImportItem, String> {
    let clock = |time: &str| {
        let read = time.parse().ok().filter(|_| has_shape(time, "00:00"));
        read.ok_or_else(|| format!("its time {} is not HH:MM", crate::format::quote(time)))
    };
    Ok(match record {
        ExportRecord::Memory { section, timestamp, text, .. } => {
            ImportItem::Memory { section, timestamp, text }
        }
        ExportRecord::Daily { date, .. } if date.year() < 1 => {
            return Err("its day is before year 1".to_owned());
        }
        ExportRecord::Daily { date, time, section, text, .. } => {
            ImportItem::Daily { date, section, time: time.as_deref().map(clock).transpose()?, text }
        }
        ExportRecord::Reminder { id, date, time, recur, day, msg, block_id, .. } => {
            reminder::check_msg(&msg)?;
            if let Some((_, hidden)) = invisible::first(&msg) {
                return Err(format!("its message has an invisible character ({})", hidden.escape_unicode()));
            }
            ImportItem::Reminder(Reminder { date, time: clock(&time)?, recur, day, msg, id, block_id })
        }
        ExportRecord::Commitment { commitment, .. } => match &commitment.scope {
            Some(scope) if !commitment::is_place(scope) => {
                let scope = crate::format::quote(scope);
                return Err(format!("its scope {scope} is none of `channel:ID`, `thread:ID`, `user:ID`"));
            }
            _ => ImportItem::Commitment(commitment),
        },
        ExportRecord::Pin { text, .. } => ImportItem::Pin { text },
    })
}
