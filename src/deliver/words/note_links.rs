//! Finds the note that a notification is about. Pure.

use super::link::obsidian;
use crate::deliver::notifier::{Fact, MessageKind, OutgoingMessage};

/// Links to the note that a notification is about; the notifiers' only access to the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLinks {
    /// The name of the vault's folder.
    pub vault: String,
    /// The note of the reminders.
    pub reminders: String,
    /// The note of the follow-ups.
    pub commitments: String,
}

impl NoteLinks {
    /// The note that a message is about; `None` for a message about no note, or about tasks of several.
    pub fn of(&self, message: &OutgoingMessage) -> Option<String> {
        let mut notes = message.facts.iter().map(|fact| self.note(fact));
        let path = match notes.next() {
            None if message.kind == MessageKind::Confirmation => self.reminders.as_str(),
            None => return None,
            Some(first) if notes.all(|note| note == first) => first,
            // Of several notes that of the reminders, if one of them is.
            Some(_) => {
                message.facts.iter().map(|fact| self.note(fact)).find(|note| *note == self.reminders)?
            }
        };
        Some(obsidian(&self.vault, path))
    }

    fn note<'f>(&'f self, fact: &'f Fact) -> &'f str {
        match (&fact.note, fact.kind) {
            (Some(note), _) => note,
            (None, MessageKind::Commitment) => &self.commitments,
            (None, _) => &self.reminders,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(kind: MessageKind, note: Option<&str>) -> Fact {
        Fact {
            kind,
            id: "x".to_owned(),
            local: "2026-12-01T09:30".parse().unwrap(),
            due: "2026-12-01T09:30:00Z".parse().unwrap(),
            late_seconds: 0,
            missed: 0,
            msg: "x".to_owned(),
            recurring: false,
            next: None,
            note: note.map(str::to_owned),
        }
    }

    fn link(kind: MessageKind, facts: Vec<Fact>) -> Option<String> {
        let links = NoteLinks {
            vault: "v".to_owned(),
            reminders: "Reminders.md".to_owned(),
            commitments: "COMMITMENTS.md".to_owned(),
        };
        let link = links.of(&OutgoingMessage { facts, ..OutgoingMessage::whole(kind, "", "") });
        link.map(|link| link.rsplit_once("file=").unwrap().1.to_owned())
    }

    #[test]
    fn a_link_opens_the_note_that_is_meant() {
        use MessageKind::{Commitment, Confirmation, Digest, Notice, Reminder, Task};
        let (own, follow) = (|| fact(Reminder, None), || fact(Commitment, None));
        let task = |note| fact(Task, Some(note));
        let opened = |facts: Vec<Fact>| link(Digest, facts);
        assert_eq!(link(Task, vec![task("Projects/House.md")]).as_deref(), Some("Projects%2FHouse"));
        assert_eq!(link(Reminder, vec![own()]).as_deref(), Some("Reminders"));
        assert_eq!(opened(vec![follow(), follow()]).as_deref(), Some("COMMITMENTS"));
        assert_eq!(opened(vec![task("A.md"), task("A.md")]).as_deref(), Some("A"));
        assert_eq!(opened(vec![task("A.md"), own()]).as_deref(), Some("Reminders"));
        // Several tasks stand in no one note.
        assert_eq!(opened(vec![task("A.md"), task("B.md")]), None);
        assert_eq!(link(Confirmation, Vec::new()).as_deref(), Some("Reminders"));
        assert_eq!(link(Notice, Vec::new()), None);
    }
}
