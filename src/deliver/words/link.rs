//! Makes links that open a note in Obsidian, and finds the note that a notification is about. Pure.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::deliver::notifier::{MessageKind, NotifiedItem, OutgoingMessage};

/// The characters that percent-encoding escapes in an address.
pub const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// `obsidian://open?vault=…&file=…` for the note at `path` of the vault with this folder name. Opens the note wherever
/// a vault of that name is known, so on a phone too.
pub fn obsidian(vault: &str, path: &str) -> String {
    obsidian_at(vault, path, None)
}

/// As [`obsidian`], at a place in the note: `^block`, or a heading with those above it (`A > B`).
pub fn obsidian_at(vault: &str, path: &str, place: Option<&str>) -> String {
    // Obsidian finds a note without its extension, unless the rest looks like another extension.
    let bare = path.strip_suffix(".md").filter(|bare| !bare.ends_with(".md")).unwrap_or(path);
    let mut file = bare.to_owned();
    match place {
        Some(block) if block.starts_with('^') => file.extend(["#", block]),
        Some(headings) => headings.split(" > ").for_each(|heading| file.extend(["#", &plain(heading)])),
        None => {}
    }
    let encoded = |text| utf8_percent_encode(text, PLAIN);
    format!("obsidian://open?vault={}&file={}", encoded(vault), encoded(&file))
}

/// A heading for use in a link: characters with a meaning in a link become spaces.
fn plain(heading: &str) -> String {
    let spaced: String = heading.chars().map(|c| if "#^|:%[]\\".contains(c) { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words that a terminal opens a link at (OSC 8).
pub fn on_terminal(words: &str, url: &str) -> String {
    format!("\x1b]8;;{url}\x1b\\{words}\x1b]8;;\x1b\\")
}

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

    fn note<'f>(&'f self, fact: &'f NotifiedItem) -> &'f str {
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

    #[test]
    fn a_link_is_encoded_as_obsidian_reads_it() {
        assert_eq!(
            obsidian("My Vault", "Agent/Zeit & Ort é.md"),
            "obsidian://open?vault=My%20Vault&file=Agent%2FZeit%20%26%20Ort%20%C3%A9"
        );
        assert_eq!(obsidian("v", "a.md.md"), "obsidian://open?vault=v&file=a.md.md");
        assert_eq!(obsidian("v", "100% C#?.canvas"), "obsidian://open?vault=v&file=100%25%20C%23%3F.canvas");
    }

    #[test]
    fn a_place_in_a_note_is_a_block_or_a_heading() {
        assert!(obsidian_at("v", "logs/a.md", Some("^01JG")).ends_with("&file=logs%2Fa%23%5E01JG"));
        assert!(
            obsidian_at("v", "n.md", Some("Health > C# & co: [x]"))
                .ends_with("&file=n%23Health%23C%20%26%20co%20x")
        );
    }

    fn fact(kind: MessageKind, note: Option<&str>) -> NotifiedItem {
        NotifiedItem {
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

    fn link(kind: MessageKind, facts: Vec<NotifiedItem>) -> Option<String> {
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
        let opened = |facts: Vec<NotifiedItem>| link(Digest, facts);
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
