//! Task lines of other plugins in a vault: which notes hold them, and what they say now.
//!
//! [`Scanner`] keeps what each note says with the note's stat, and reads again only the notes whose stat is another. What
//! it keeps is worth nothing: without it, all notes are read. [`plugins`] reads what the plugins' own settings change.
//! Nothing here writes a note, and nothing here decides what is told (that is `deliver`).

mod plugins;
mod scanner;

use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::format::task::Format;
use crate::vault::NotePath;

pub use plugins::rules;
pub use scanner::{Found, Scanner};

/// What the settings say of task lines.
#[derive(Debug, Clone)]
pub struct TaskSettings {
    /// The forms that are told, in the order of [`Format::ALL`]; never empty.
    pub on: Vec<Format>,
    /// The time of day of a date without one.
    pub default_time: Time,
    /// The zone of the vault.
    pub zone: TimeZone,
    /// Glob patterns of the notes; none means all.
    pub from: Vec<String>,
    /// The notes and folders that are the agent's own.
    pub exclude: Vec<NotePath>,
}

/// The hash in a task's id that its words alone decide.
fn short(text: &str) -> String {
    data_encoding::BASE32_NOPAD.encode(&blake3::hash(text.as_bytes()).as_bytes()[..10])
}

/// The id of a task: of its words, then of the note it stands in. Its place in the note and its dates have no say.
pub fn task_id(path: &str, words: &str) -> String {
    format!("task_{}_{}", short(words), short(path))
}

/// The part of a task's id that its words decide: the same in every note.
pub fn words_of(id: &str) -> Option<&str> {
    let (words, _) = id.strip_prefix("task_")?.split_once('_')?;
    Some(words)
}
