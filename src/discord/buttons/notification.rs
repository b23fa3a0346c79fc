//! Makes the buttons under a notification (Done, Snooze, and Skip next for a recurring reminder), and carries out a
//! press.
//!
//! A button's id holds all that it needs after any restart: the action, the reminder's id, its local due time, and the
//! nonce of the notification, which also tells apart two notifications with the same words. The reminder's text comes
//! from the delivery journal, else from the note, else from the message above the button. A second press changes
//! nothing.

use jiff::{SignedDuration, ToSpan, civil};
use serde_json::Value;

use super::{VERSION, approval as approval_buttons, button, row};
use crate::deliver::{MessageKind, OutgoingMessage, compose};
use crate::discord::shared::VaultOperations;
use crate::format::reminder::Recur;
use crate::reminders::{WrittenReminder, local_after};
use crate::tasks::is_task_id;
use crate::vault::Actor;

/// A button's action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonAction {
    /// It is done; no more notifications of this one.
    Done,
    /// Again in ten minutes.
    TenMinutes,
    /// Again in an hour.
    Hour,
    /// Again tomorrow at nine.
    Tomorrow,
    /// The next occurrence is left out.
    Skip,
}

const ALL: [(ButtonAction, &str, &str, u8); 5] = [
    (ButtonAction::Done, "done", "Done", 3),
    (ButtonAction::TenMinutes, "10m", "Snooze 10 min", 2),
    (ButtonAction::Hour, "1h", "1 h", 2),
    (ButtonAction::Tomorrow, "9am", "tomorrow 9:00", 2),
    (ButtonAction::Skip, "skip", "Skip next", 2),
];

/// A button that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationPress {
    /// The action.
    pub action: ButtonAction,
    /// The reminder's, follow-up's or task's id.
    pub id: String,
    /// When that was due, local.
    pub due: civil::DateTime,
}

/// The rows of buttons for a message; none for a chunk that isn't the last, or a message about several items.
pub fn rows(message: &OutgoingMessage) -> Vec<Value> {
    if message.kind == MessageKind::Approval {
        return approval_buttons::rows(message);
    }
    let [fact] = message.facts.as_slice() else { return vec![] };
    let about = matches!(message.kind, MessageKind::Reminder | MessageKind::Commitment | MessageKind::Task);
    let skips = fact.recurring && message.kind != MessageKind::Task;
    let safe =
        fact.id.len() <= 40 && fact.id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !about || !safe || message.chunk + 1 != message.chunks {
        return vec![];
    }
    let due = fact.local.strftime("%Y-%m-%dT%H%M");
    let buttons: Vec<Value> = ALL
        .iter()
        .filter(|(action, ..)| *action != ButtonAction::Skip || skips)
        .map(|(_, word, label, style)| {
            let custom_id = format!("{VERSION}:{word}:{}:{due}:{}", fact.id, message.nonce);
            button(label, *style, &custom_id)
        })
        .collect();
    row(&buttons)
}

/// Reads a button's id.
pub fn parse(custom_id: &str) -> Option<NotificationPress> {
    let mut parts = custom_id.split(':');
    if parts.next()? != VERSION {
        return None;
    }
    let word = parts.next()?;
    let (action, ..) = ALL.iter().find(|(_, known, ..)| *known == word)?;
    let id = parts.next()?.to_owned();
    let due = civil::DateTime::strptime("%Y-%m-%dT%H%M", parts.next()?).ok()?;
    Some(NotificationPress { action: *action, id, due })
}

/// The result of a press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PressOutcome {
    /// The outcome, in words.
    pub text: String,
    /// The exact line of the note, if there is one.
    pub line: Option<String>,
    /// Whether the note was changed, so that the change has to be confirmed.
    pub changed: bool,
    /// A further remark.
    pub remark: Option<String>,
}

/// Carries out a press. `msg` is the reminder's text.
///
/// # Errors
/// A sentence on why it can't be done.
pub fn act(
    operations: &VaultOperations,
    press: &NotificationPress,
    msg: &str,
) -> Result<PressOutcome, String> {
    let words = |error: crate::reminders::ReminderError| error.to_string();
    if is_task_id(&press.id) {
        return task(operations, press);
    }
    let again = |local: civil::DateTime| {
        let written = operations.add(local, Recur::None, msg).map_err(words)?;
        Ok(changed(snoozed(operations, local), written))
    };
    match press.action {
        ButtonAction::Done => done(operations, press, msg),
        ButtonAction::TenMinutes | ButtonAction::Hour | ButtonAction::Tomorrow => {
            again(later(operations, press.action)?)
        }
        ButtonAction::Skip => {
            let line = operations.find_line(&press.id, press.due, msg).map_err(words)?;
            let written = operations.skip_line(&press.id, line.as_ref()).map_err(words)?;
            Ok(changed("Skipped the next one".to_owned(), written))
        }
    }
}

fn changed(words: String, written: WrittenReminder) -> PressOutcome {
    PressOutcome { text: words, line: Some(written.line_text), changed: true, remark: None }
}

/// The new time of a snoozed reminder.
fn later(operations: &VaultOperations, action: ButtonAction) -> Result<civil::DateTime, String> {
    let now = operations.clock.now();
    Ok(match action {
        ButtonAction::TenMinutes => local_after(now, SignedDuration::from_mins(10), &operations.zone),
        ButtonAction::Hour => local_after(now, SignedDuration::from_hours(1), &operations.zone),
        _ => {
            let today = operations.zone.tz().to_datetime(now).date();
            let tomorrow = today.checked_add(1.day()).map_err(|error| error.to_string())?;
            tomorrow.at(9, 0, 0, 0)
        }
    })
}

fn snoozed(operations: &VaultOperations, local: civil::DateTime) -> String {
    let today = operations.zone.tz().to_datetime(operations.clock.now()).date();
    format!("Snoozed until {}", compose::moment(local, today))
}

/// Carries out a press on a task of another plugin, as the plugin would.
fn task(operations: &VaultOperations, press: &NotificationPress) -> Result<PressOutcome, String> {
    let words = |error: crate::tasks::TaskError| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    let (tasks, due) = (operations.vault_tasks(), Some(press.due));
    let (written, said) = match press.action {
        ButtonAction::Done => (
            tasks.done(&press.id, due, operations.clock.now(), Actor::Discord).map_err(words)?,
            "Done".to_owned(),
        ),
        ButtonAction::Skip => {
            return Err("a task has no next time to skip; Done makes the next one".to_owned());
        }
        action => {
            let local = later(operations, action)?;
            (tasks.snooze(&press.id, due, local, Actor::Discord).map_err(words)?, snoozed(operations, local))
        }
    };
    let line = Some(written.shown()).filter(|line| !line.is_empty());
    Ok(PressOutcome {
        text: format!("{said} in {}", written.place()),
        changed: true,
        line,
        remark: written.remark,
    })
}

fn done(operations: &VaultOperations, press: &NotificationPress, msg: &str) -> Result<PressOutcome, String> {
    let words = |error: crate::reminders::ReminderError| error.to_string();
    let fine = |line| PressOutcome { text: "Done".to_owned(), line, changed: false, remark: None };
    let line = operations.find_line(&press.id, press.due, msg).map_err(words)?;
    let Some(line) = line else { return Ok(fine(None)) };
    let text = String::from_utf8_lossy(&line.text).into_owned();
    let reminder = &line.reminder;
    // A line that was moved to another time stays.
    if reminder.recur == Recur::None && reminder.date.to_datetime(reminder.time) == press.due {
        let written = operations.remove_line(&press.id, &line).map_err(words)?;
        return Ok(changed("Done, removed".to_owned(), written));
    }
    Ok(fine(Some(text)))
}

/// The reminder's text from a notification's text: without the opening word and the remark.
pub fn msg_of(content: &str) -> String {
    let text =
        content.strip_prefix("Reminder: ").or_else(|| content.strip_prefix("Follow-up: ")).unwrap_or(content);
    let remark = text.rfind(" (").filter(|at| {
        let rest = &text[at + 2..];
        rest.ends_with(')')
            && ["due ", "next ", "1 earlier ", "2 earlier "].iter().any(|known| rest.starts_with(known))
            || rest.contains(" earlier ones folded in")
    });
    remark.map_or(text, |at| &text[..at]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deliver::Fact;

    fn outgoing(recurring: bool) -> OutgoingMessage {
        let local: civil::DateTime = "2026-12-01T09:30".parse().unwrap();
        let fact = Fact {
            kind: MessageKind::Reminder,
            id: "rid_K5V4M2J9Q2ZP".into(),
            local,
            due: local.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp(),
            late_seconds: 0,
            missed: 0,
            msg: "Call".into(),
            recurring,
            next: None,
            note: None,
        };
        OutgoingMessage {
            nonce: "N".repeat(25),
            facts: vec![fact],
            ..OutgoingMessage::whole(MessageKind::Reminder, "k", "Reminder: Call")
        }
    }

    #[test]
    fn every_button_reads_back_and_fits() {
        for recurring in [false, true] {
            let rows = rows(&outgoing(recurring));
            let buttons = rows[0]["components"].as_array().unwrap();
            assert_eq!(buttons.len(), if recurring { 5 } else { 4 });
            for button in buttons {
                let id = button["custom_id"].as_str().unwrap();
                assert!(id.len() <= 100, "{id}");
                let press = parse(id).unwrap();
                assert_eq!(
                    (press.id.as_str(), press.due.to_string().as_str()),
                    ("rid_K5V4M2J9Q2ZP", "2026-12-01T09:30:00")
                );
            }
        }
        assert_eq!(parse("va2:done:x:2026-12-01T0930:N"), None);
    }

    #[test]
    fn only_the_last_chunk_about_one_thing_has_buttons() {
        let mut message = outgoing(false);
        message.chunks = 2;
        assert!(rows(&message).is_empty());
        message.chunk = 1;
        assert_eq!(rows(&message).len(), 1);
        message.facts.push(message.facts[0].clone());
        assert!(rows(&message).is_empty());
    }

    #[test]
    fn the_words_of_a_reminder_come_out_of_its_notification() {
        assert_eq!(msg_of("Reminder: Call \"Mum\" (mobile)"), "Call \"Mum\" (mobile)");
        assert_eq!(msg_of("Reminder: Call (due 09:00, 3 h late; 2 earlier ones folded in)"), "Call");
        assert_eq!(msg_of("Follow-up: Ask (next Tue 8 Dec 09:00)"), "Ask");
    }
}
