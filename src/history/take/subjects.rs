//! Writes the commit messages for what people changed.

use std::collections::BTreeMap;

use super::renames::pairs;
use crate::history::store::{BULK_DELETION, CommitMessage, FileState, PathChange, TreeChange};
use crate::vault::{Actor, ChangeReason};

/// The message for what people changed: one note by its name, a move as one, more by their numbers.
pub(crate) fn human(facts: &[PathChange], first: bool) -> CommitMessage {
    let mut added: BTreeMap<&str, FileState> = BTreeMap::new();
    let mut gone: BTreeMap<&str, FileState> = BTreeMap::new();
    let mut changed = Vec::new();
    for fact in facts {
        match (fact.old, fact.new) {
            (None, Some(new)) => drop(added.insert(&fact.path, new)),
            (Some(old), None) => drop(gone.insert(&fact.path, old)),
            _ => changed.push(fact.path.as_str()),
        }
    }
    // The names and what was the same to the byte are enough for words.
    let moved = pairs(&gone, &added, |_, _| Ok(Vec::new())).unwrap_or_default();
    for rename in &moved {
        gone.remove(rename.from.as_str());
        added.remove(rename.to.as_str());
    }
    let count = added.len() + gone.len() + changed.len() + moved.len();
    let words: Vec<String> = changed
        .iter()
        .map(|path| format!("changed {path}"))
        .chain(added.keys().map(|path| format!("added {path}")))
        .chain(gone.keys().map(|path| format!("deleted {path}")))
        .chain(moved.iter().map(|moved| format!("moved {} to {}", moved.from, moved.to)))
        .collect();
    let numbers: Vec<String> =
        [(changed.len(), "changed"), (added.len(), "added"), (gone.len(), "deleted"), (moved.len(), "moved")]
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| format!("{n} {word}"))
            .collect();
    let (subject, body) = match count {
        _ if first => (format!("first snapshot: {count} {}", plural(count, "file")), None),
        1 => (words.join(""), None),
        _ => {
            let more = words.len().saturating_sub(20);
            let mut body = words[..words.len() - more].join("\n");
            if more > 0 {
                body.push_str(&format!("\nand {more} more"));
            }
            (format!("{count} notes: {}", numbers.join(", ")), Some(body))
        }
    };
    let notes = facts.iter().map(|fact| fact.path.as_str());
    CommitMessage::new(&ChangeReason { body, ..ChangeReason::new(Actor::Human, subject) }, notes)
}

pub(crate) fn bulk(gone: &[TreeChange]) -> CommitMessage {
    let count = gone.len();
    let body = "Many files went in one sweep, as a sync tool does it. `restore` brings them back.";
    let why = ChangeReason::new(Actor::Human, format!("{count} notes deleted at once"))
        .trailer(BULK_DELETION, count.to_string());
    CommitMessage::new(
        &ChangeReason { body: Some(body.into()), ..why },
        gone.iter().map(|(path, _)| path.as_str()),
    )
}

pub(crate) fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
