//! Makes the buttons under notifications, approvals and candidates, and parses the id of a pressed button.
//!
//! Also carries out a press on a notification: Done, Snooze, or Skip next for a recurring reminder. A button's id holds
//! all that a press needs, so that it works after any restart:
//! - under a notification: the action, the reminder's id, its local due time, and the message's nonce, which
//!   distinguishes two notifications with the same words;
//! - under an approval: the id and the digest of the approval's line, so that the button never works for a changed
//!   line.
//!
//! The text of a reminder comes from the delivery journal, else from the note, else from the message above the button.
//! A second press changes nothing. For Done, and for every action on a task, the note shows that the change is already
//! made. For other actions the delivery journal keeps the answer to the first press, and this answer is shown again.

use std::error::Error;

use jiff::{SignedDuration, ToSpan, civil};
use serde_json::{Value, json};

use crate::agent::approvals::ApprovalDecision;
use crate::deliver::delivery_journal::asked_in;
use crate::deliver::{MessageKind, OutgoingMessage, compose};
use crate::discord::shared::VaultOperations;
use crate::format::reminder::{Recur, ReminderLine};
use crate::format::{approval, candidate};
use crate::reminders::{WrittenReminder, local_after};
use crate::tasks::{TaskAction, is_task_id};
use crate::vault::Actor;

/// The version of the ids; a press on a button of another version is answered with words.
const VERSION: &str = "va1";
/// The due time in an id.
const DUE: &str = "%Y-%m-%dT%H%M";

/// A button: its action, its word in an id, its label, its style.
type Button<A> = (A, &'static str, &'static str, u8);

const APPROVAL: [Button<ApprovalDecision>; 3] = [
    (ApprovalDecision::Once, "once", "Once", 3),
    (ApprovalDecision::Always, "always", "Always", 2),
    (ApprovalDecision::No, "no", "No", 4),
];

/// Whether a candidate is kept.
const CANDIDATE: [Button<bool>; 2] = [(true, "keep", "Keep", 3), (false, "drop", "No", 4)];

const NOTIFICATION: [Button<ButtonAction>; 5] = [
    (ButtonAction::Done, "done", "Done", 3),
    (ButtonAction::Minutes(10), "10m", "Snooze 10 min", 2),
    (ButtonAction::Minutes(60), "1h", "1 h", 2),
    (ButtonAction::Tomorrow, "9am", "tomorrow 9:00", 2),
    (ButtonAction::Skip, "skip", "Skip next", 2),
];

/// The action of a button under a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonAction {
    /// It is done; no more notifications of this one.
    Done,
    /// Again in so many minutes.
    Minutes(i64),
    /// Again tomorrow at nine.
    Tomorrow,
    /// The next occurrence is left out.
    Skip,
}

/// A button that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Press {
    /// Under an approval, with the line's id and its digest.
    Approval { decision: ApprovalDecision, id: String, digest: String },
    /// Under a candidate for a memory, with the line's id.
    Candidate { keep: bool, id: String },
    /// Under a notification.
    Notification(NotificationPress),
}

/// A button under a notification that was pressed.
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
    if message.chunk + 1 != message.chunks {
        return vec![];
    }
    if message.kind == MessageKind::Approval {
        let Some(asked) = asked_in(&message.key) else { return vec![] };
        let offered = |decision| decision != ApprovalDecision::Always || asked.always;
        return row(&APPROVAL, offered, "", &format!("{}:{}:{}", asked.id, asked.digest, message.nonce));
    }
    let [fact] = message.facts.as_slice() else { return vec![] };
    let about = matches!(message.kind, MessageKind::Reminder | MessageKind::Commitment | MessageKind::Task);
    let skips = fact.recurring && message.kind != MessageKind::Task;
    let safe =
        fact.id.len() <= 40 && fact.id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !about || !safe {
        return vec![];
    }
    let target = format!("{}:{}:{}", fact.id, fact.local.strftime(DUE), message.nonce);
    row(&NOTIFICATION, |action| action != ButtonAction::Skip || skips, "", &target)
}

/// The row of buttons for the candidate with this number and id.
pub fn candidate_row(number: usize, id: &str) -> Vec<Value> {
    row(&CANDIDATE, |_| true, &format!(" {number}"), id)
}

/// One row of the offered buttons; each id ends with `target`.
fn row<A: Copy>(
    all: &[Button<A>],
    offered: impl Fn(A) -> bool,
    after_label: &str,
    target: &str,
) -> Vec<Value> {
    let offered = all.iter().filter(|(action, ..)| offered(*action));
    let buttons = offered.map(|(_, word, label, style)| {
        let (label, custom_id) = (format!("{label}{after_label}"), format!("{VERSION}:{word}:{target}"));
        json!({ "type": 2, "style": style, "label": label, "custom_id": custom_id })
    });
    vec![json!({ "type": 1, "components": buttons.collect::<Vec<_>>() })]
}

/// Disables the buttons of these rows; they stay visible.
pub fn disable(rows: &mut [Value]) {
    for button in rows.iter_mut().filter_map(|row| row["components"].as_array_mut()).flatten() {
        button["disabled"] = json!(true);
    }
}

/// Reads a button's id; none for one of another version.
pub fn parse(custom_id: &str) -> Option<Press> {
    let (word, target) = custom_id.strip_prefix(VERSION)?.strip_prefix(':')?.split_once(':')?;
    if let Some(keep) = action_of(&CANDIDATE, word) {
        return candidate::is_id(target).then(|| Press::Candidate { keep, id: target.to_owned() });
    }
    let mut parts = target.split(':');
    let (id, next) = (parts.next()?.to_owned(), parts.next()?);
    if let Some(decision) = action_of(&APPROVAL, word) {
        return approval::is_id(&id).then(|| Press::Approval { decision, id, digest: next.to_owned() });
    }
    let due = civil::DateTime::strptime(DUE, next).ok()?;
    Some(Press::Notification(NotificationPress { action: action_of(&NOTIFICATION, word)?, id, due }))
}

fn action_of<A: Copy>(all: &[Button<A>], word: &str) -> Option<A> {
    all.iter().find(|(_, known, ..)| *known == word).map(|(action, ..)| *action)
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
) -> Result<PressOutcome, Box<dyn Error>> {
    if is_task_id(&press.id) {
        return task(operations, press);
    }
    if let Some((local, said)) = snoozed(operations, press.action)? {
        return Ok(changed(said, operations.add(local, Recur::None, msg)?));
    }
    let line = operations.find_line(&press.id, press.due, msg)?;
    if press.action == ButtonAction::Skip {
        let written = operations.skip_line(&press.id, line.as_ref())?;
        return Ok(changed("Skipped the next one".to_owned(), written));
    }
    // A line that was moved to another time stays.
    let is_this_one = |line: &&ReminderLine| {
        let reminder = &line.reminder;
        reminder.recur == Recur::None && reminder.date.to_datetime(reminder.time) == press.due
    };
    if let Some(line) = line.as_ref().filter(is_this_one) {
        return Ok(changed("Done, removed".to_owned(), operations.remove_line(&press.id, line)?));
    }
    let line = line.map(|line| String::from_utf8_lossy(&line.text).into_owned());
    Ok(PressOutcome { text: "Done".to_owned(), line, changed: false, remark: None })
}

fn changed(words: String, written: WrittenReminder) -> PressOutcome {
    PressOutcome { text: words, line: Some(written.line_text), changed: true, remark: None }
}

/// The new time of a snoozed item, also in words; none for another action.
fn snoozed(
    operations: &VaultOperations,
    action: ButtonAction,
) -> Result<Option<(civil::DateTime, String)>, jiff::Error> {
    let (now, zone) = (operations.clock.now(), &operations.zone);
    let today = zone.tz().to_datetime(now).date();
    let local = match action {
        ButtonAction::Minutes(minutes) => local_after(now, SignedDuration::from_mins(minutes), zone),
        ButtonAction::Tomorrow => today.checked_add(1.day())?.at(9, 0, 0, 0),
        ButtonAction::Done | ButtonAction::Skip => return Ok(None),
    };
    Ok(Some((local, format!("Snoozed until {}", compose::moment(local, today)))))
}

/// Carries out a press on a task of another plugin, as the plugin would.
fn task(operations: &VaultOperations, press: &NotificationPress) -> Result<PressOutcome, Box<dyn Error>> {
    let (action, said) = match snoozed(operations, press.action)? {
        Some((local, said)) => (TaskAction::Snooze(local), said),
        None if press.action == ButtonAction::Skip => {
            return Err("a task has no next time to skip; Done makes the next one".into());
        }
        None => (TaskAction::Done(operations.clock.now()), "Done".to_owned()),
    };
    let written = operations.vault_tasks().change(&press.id, Some(press.due), action, Actor::Discord);
    let written = written.map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })?;
    let line = Some(written.shown()).filter(|line| !line.is_empty());
    let text = format!("{said} in {}", written.place());
    Ok(PressOutcome { text, line, changed: true, remark: written.remark })
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
    use crate::deliver::NotifiedItem;
    use crate::deliver::delivery_journal::approval_key;

    fn outgoing(recurring: bool) -> OutgoingMessage {
        let local: civil::DateTime = "2026-12-01T09:30".parse().unwrap();
        let fact = NotifiedItem {
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
                let Some(Press::Notification(press)) = parse(id) else { panic!("{id}") };
                assert_eq!(
                    (press.id.as_str(), press.due.to_string().as_str()),
                    ("rid_K5V4M2J9Q2ZP", "2026-12-01T09:30:00")
                );
            }
        }
        assert_eq!(parse("va2:done:x:2026-12-01T0930:N"), None);
    }

    #[test]
    fn a_button_of_an_approval_reads_back_and_fits() {
        for always in [false, true] {
            let key = approval_key(Some(u64::MAX), "ap_K5V4M2J7Q2ZP", "0123456789ab", always);
            let message = OutgoingMessage {
                nonce: "N".repeat(25),
                chunk: 1,
                chunks: 2,
                ..OutgoingMessage::whole(MessageKind::Approval, key, "")
            };
            let shown = rows(&message);
            let buttons = shown[0]["components"].as_array().unwrap();
            assert_eq!(buttons.len(), if always { 3 } else { 2 });
            for button in buttons {
                let custom_id = button["custom_id"].as_str().unwrap();
                assert!(custom_id.len() <= 100 && custom_id.ends_with(&message.nonce), "{custom_id}");
                let Some(Press::Approval { id, digest, .. }) = parse(custom_id) else {
                    panic!("{custom_id}")
                };
                assert_eq!((id.as_str(), digest.as_str()), ("ap_K5V4M2J7Q2ZP", "0123456789ab"));
            }
            assert!(rows(&OutgoingMessage { chunk: 0, ..message }).is_empty());
        }
        assert_eq!(parse("va1:once:x:y:N"), None);
    }

    #[test]
    fn a_button_of_a_candidate_reads_back() {
        for (word, keep) in [("keep", true), ("drop", false)] {
            let press = Press::Candidate { keep, id: "cap_K5V4M2J7Q2ZP".to_owned() };
            assert_eq!(parse(&format!("va1:{word}:cap_K5V4M2J7Q2ZP")), Some(press));
        }
        for other in ["va1:keep:ap_K5V4M2J7Q2ZP", "va2:keep:cap_K5V4M2J7Q2ZP", "va1:no:cap_K5V4M2J7Q2ZP", ""]
        {
            assert_eq!(parse(other), None, "{other}");
        }
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
