//! Makes the JSON of a snapshot: one element of `history --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{CommitRecord, DiffStyle, render};
use crate::history::error::Result;
use crate::history::take::History;
use crate::reminders::rfc3339;

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotEntry {
    /// Its id, 40 hexadecimal digits.
    pub id: String,
    /// When, in the vault's zone: RFC 3339.
    pub time: String,
    /// The writer.
    pub actor: String,
    /// The subject, in one line.
    pub subject: String,
    /// More words.
    pub body: Option<String>,
    /// The message's trailers.
    pub trailers: BTreeMap<String, TrailerValue>,
    /// The files that it changed.
    pub paths: Vec<String>,
    /// The changes as a unified diff, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// A trailer that stands once is a text, one that stands more often a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TrailerValue {
    /// Once.
    One(String),
    /// More often, in order.
    Many(Vec<String>),
}

impl History {
    /// A snapshot as programs read it, with its differences where `patch` asks for them.
    ///
    /// # Errors
    /// A text of the history can't be read.
    pub fn entry(&self, record: &CommitRecord, patch: bool) -> Result<SnapshotEntry> {
        let commit = &record.commit;
        let trailer = |key: &String| {
            let all = commit.message.trailers.iter().filter(|(other, _)| other == key);
            let mut all: Vec<String> = all.map(|(_, value)| value.clone()).collect();
            (
                key.clone(),
                if all.len() == 1 { TrailerValue::One(all.remove(0)) } else { TrailerValue::Many(all) },
            )
        };
        let trailers = commit.message.trailers.iter().map(|(key, _)| trailer(key)).collect();
        let diffs = record
            .changes
            .iter()
            .filter(|_| patch)
            .map(|change| self.file_diff(change).map(|diff| render(&diff, DiffStyle::Plain)));
        let text = diffs.collect::<Result<String>>()?;
        Ok(SnapshotEntry {
            id: commit.id.to_string(),
            time: rfc3339(commit.time, self.zone()),
            actor: commit.message.actor().to_owned(),
            subject: commit.message.subject.clone(),
            body: commit.message.body.clone(),
            trailers,
            paths: record.changes.iter().map(|change| change.path.clone()).collect(),
            patch: patch.then_some(text),
        })
    }
}
