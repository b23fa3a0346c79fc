//! Writes the commit messages for what people changed and for what a restore brought back.

use std::collections::BTreeMap;

use super::renames::pairs;
use crate::history::store::{BULK_DELETION, FileState, Message, RESTORED_FROM, TreeChange};
use crate::vault::{Actor, Why};

/// The change of one path.
pub(crate) struct Fact {
    pub path: String,
    pub old: Option<FileState>,
    pub new: Option<FileState>,
}

/// The message for what people changed: one note by its name, a move as one, more by their numbers.
pub(crate) fn human(facts: &[Fact], first: bool) -> Message {
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
    Message::new(&Why { actor: Actor::Human, subject, body, trailers: Vec::new() }, notes)
}

pub(crate) fn bulk(gone: &[TreeChange]) -> Message {
    let count = gone.len();
    let why = Why {
        actor: Actor::Human,
        subject: format!("{count} notes deleted at once"),
        body: Some(
            "Many files went in one sweep, as a sync tool does it. `restore` brings them back.".into(),
        ),
        trailers: vec![(BULK_DELETION.into(), count.to_string())],
    };
    Message::new(&why, gone.iter().map(|(path, _)| path.as_str()))
}

pub(crate) fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// The message of a commit that holds what a restore wrote.
pub(crate) fn restored(subject: &str, from: &str, paths: &[&str]) -> Message {
    let why = Why {
        actor: Actor::Restore,
        subject: subject.to_owned(),
        body: None,
        trailers: vec![(RESTORED_FROM.into(), from.to_owned())],
    };
    Message::new(&why, paths.iter().copied())
}
