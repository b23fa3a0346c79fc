//! Plans the change of one reminder line, without writing it. The plan is the text of a new or changed line (date,
//! time, words, recurrence), or the removal of a line. Pure.

use jiff::civil;

use super::{ReminderError, Result};
use crate::format::harmless::harmless;
use crate::format::reminder::{self, ParsedLine, Recur, Reminder, ReminderLine, RemindersFile};
use crate::format::{ReminderId, invisible};
use crate::vault::{NotePath, Operation};

/// The most characters of a message in a command or a tool. A line that a person wrote may have more, and is sent
/// whole.
pub const MOST_MESSAGE_CHARS: usize = 2_000;

/// A reminder to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderDraft {
    /// Its first local date and time, seconds 0.
    pub local: civil::DateTime,
    /// Whether and how it comes again.
    pub recur: Recur,
    /// Its message.
    pub msg: String,
}

/// The changes of a reminder; `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReminderChanges {
    /// The new local date and time.
    pub local: Option<civil::DateTime>,
    /// The new recurrence.
    pub recur: Option<Recur>,
    /// The new message.
    pub msg: Option<String>,
}

impl ReminderChanges {
    /// Another time, and nothing else.
    pub(super) fn moved_to(local: civil::DateTime) -> Self {
        Self { local: Some(local), ..Self::default() }
    }
}

/// One line to be written or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePlan {
    /// The reminder's id.
    pub id: ReminderId,
    /// Its line as it will stand (for a removal: as it stood).
    pub text: String,
    /// The editor's operation.
    pub operation: Operation,
}

/// The line that adds `draft` under `id`.
///
/// # Errors
/// The message can't stand in a line.
pub fn add(draft: &ReminderDraft, id: ReminderId) -> Result<LinePlan> {
    let reminder = Reminder {
        date: draft.local.date(),
        time: draft.local.time(),
        recur: draft.recur,
        day: None,
        msg: draft.msg.clone(),
        id: Some(id),
        block_id: None,
    };
    let text = checked_line(&reminder)?;
    Ok(LinePlan { id, operation: Operation::Append { text: text.clone().into_bytes() }, text })
}

/// The line with the id. Identical copies count as one.
///
/// # Errors
/// There is none, or lines that differ have it.
pub fn find<'f>(file: &'f RemindersFile, id: &str, path: &NotePath) -> Result<&'f ReminderLine> {
    let wanted = ReminderId::from_bytes(id.as_bytes());
    let has = |line: &&ReminderLine| wanted.is_some() && line.reminder.id == wanted;
    let lines: Vec<&ReminderLine> = file.reminders.iter().filter(has).collect();
    match lines.as_slice() {
        [] => Err(ReminderError::NoSuchId { path: path.clone(), id: id.to_owned(), near: nearest(file, id) }),
        [first, rest @ ..] if rest.iter().all(|line| line.text == first.text) => Ok(first),
        [first, ..] => Err(ReminderError::Disputed {
            path: path.clone(),
            id: first.reminder.id.unwrap_or_else(|| unreachable!("it was found by its id")),
            lines: lines.iter().map(|line| (line.line, lossy(line))).collect(),
        }),
    }
}

/// The line with the requested changes. A change of the time alone touches no other byte of it.
///
/// # Errors
/// The message can't stand in a line, or nothing is to be changed.
pub fn change(line: &ReminderLine, changes: &ReminderChanges) -> Result<LinePlan> {
    let old = &line.reminder;
    let Some(id) = old.id else { unreachable!("only lines with an id are changed") };
    let text = match changes {
        ReminderChanges { local: None, recur: None, msg: None } => {
            return Err(ReminderError::NothingToChange);
        }
        ReminderChanges { local: Some(local), recur: None, msg: None } => {
            let time = (local.time() != old.time).then(|| local.time());
            let day = old.day.filter(|_| local.date() == old.date);
            let bytes = reminder::with_schedule(&line.text, local.date(), time, day);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => {
            let local = changes.local.unwrap_or_else(|| old.date.to_datetime(old.time));
            let recur = changes.recur.unwrap_or(old.recur);
            checked_line(&Reminder {
                date: local.date(),
                time: local.time(),
                recur,
                day: old.day.filter(|_| local.date() == old.date && recur == Recur::Monthly),
                msg: changes.msg.clone().unwrap_or_else(|| old.msg.clone()),
                id: Some(id),
                block_id: old.block_id.clone(),
            })?
        }
    };
    let operation = Operation::ReplaceLine { line: line.text.clone(), with: text.clone().into_bytes() };
    Ok(LinePlan { id, text, operation })
}

/// The plan that removes the line; `id` is its id, also if the line has none yet.
pub fn remove(line: &ReminderLine, id: ReminderId) -> LinePlan {
    LinePlan { id, text: lossy(line), operation: Operation::DeleteLine { line: line.text.clone() } }
}

pub(super) fn lossy(line: &ReminderLine) -> String {
    String::from_utf8_lossy(&line.text).into_owned()
}

/// A message as it can be kept: code that an Obsidian plugin would run is plain text.
///
/// # Errors
/// It is too long for a notification, or has an invisible character.
pub fn checked_message(msg: &str) -> Result<String> {
    if let Some((at, hidden)) = invisible::first(msg) {
        let (shown, at) = (hidden.escape_unicode(), at + 1);
        let words = format!("it has an invisible character ({shown}) at character {at}");
        return Err(ReminderError::Message(words));
    }
    let length = msg.chars().count();
    if length <= MOST_MESSAGE_CHARS {
        return Ok(harmless(msg).into_owned());
    }
    Err(ReminderError::Message(format!(
        "it has {length} characters, and a reminder at most {MOST_MESSAGE_CHARS}; write the text into a note, and remind of that"
    )))
}

/// The canonical line, proved to read back as the same reminder.
fn checked_line(reminder: &Reminder) -> Result<String> {
    if let Some(bad) = reminder.msg.chars().find(|c| c.is_control()) {
        let what =
            if bad == '\n' { "a line break".to_owned() } else { format!("the control character {bad:?}") };
        return Err(ReminderError::Message(format!("it holds {what}, and a reminder is one line of text")));
    }
    if reminder.msg.trim().is_empty() {
        return Err(ReminderError::Message("it is empty".to_owned()));
    }
    let text = reminder.to_line();
    match reminder::parse_line(text.as_bytes()) {
        ParsedLine::Reminder(read) if read.msg == reminder.msg && read.id == reminder.id => Ok(text),
        ParsedLine::NearMiss(finding) => Err(ReminderError::Message(finding.reason)),
        _ => Err(ReminderError::Message("it doesn't read back as it was".to_owned())),
    }
}

/// The id of the file that is most like `id`, if one is near.
fn nearest(file: &RemindersFile, id: &str) -> Option<ReminderId> {
    let upper = id.trim().to_uppercase();
    file.reminders
        .iter()
        .filter_map(|line| line.reminder.id.as_ref())
        .map(|known| (strsim::damerau_levenshtein(&known.to_string().to_uppercase(), &upper), known))
        .filter(|(distance, _)| *distance <= 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| *known)
}
