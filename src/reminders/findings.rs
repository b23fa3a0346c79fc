//! What looks meant and isn't understood, with its place: pure.

use std::collections::HashMap;

use serde::Serialize;

use crate::format::id::ReminderId;
use crate::format::reminder::{ReminderLine, RemindersFile};
use crate::format::{Finding, commitment::CommitmentsFile};
use crate::vault::NotePath;

/// A finding with the note that it is in: what `check` prints and a pass reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedFinding {
    /// The note.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
    /// What to write instead.
    pub suggestion: String,
}

impl PlacedFinding {
    /// A finding in `path`.
    pub fn new(path: &NotePath, finding: &Finding) -> Self {
        Self {
            path: path.as_str().to_owned(),
            line: finding.line,
            column: finding.column,
            reason: finding.reason.clone(),
            suggestion: finding.suggestion.clone(),
        }
    }
}

/// All that is to be said about both notes: near misses, ids that differing lines share, follow-ups
/// that can't be read; in the order of the lines.
pub fn findings(
    reminders: Option<(&NotePath, &RemindersFile)>,
    commitments: Option<(&NotePath, &CommitmentsFile)>,
) -> Vec<PlacedFinding> {
    let mut out = Vec::new();
    if let Some((path, file)) = reminders {
        out.extend(file.near_misses.iter().map(|finding| PlacedFinding::new(path, finding)));
        out.extend(disputes(file).map(|finding| PlacedFinding::new(path, &finding)));
        out.sort_by_key(|finding| (finding.line, finding.column));
    }
    if let Some((path, file)) = commitments {
        out.extend(file.findings.iter().map(|finding| PlacedFinding::new(path, finding)));
    }
    out
}

/// The lines that share an id with an earlier line that differs.
fn disputes(file: &RemindersFile) -> impl Iterator<Item = Finding> + '_ {
    let mut ids: Vec<(&ReminderId, usize)> = file
        .reminders
        .iter()
        .enumerate()
        .filter_map(|(index, line)| line.reminder.id.as_ref().map(|id| (id, index)))
        .collect();
    ids.sort_unstable();
    let twice: HashMap<usize, usize> = ids
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .filter(|pair| file.reminders[pair[0].1].text != file.reminders[pair[1].1].text)
        .map(|pair| (pair[1].1, pair[0].1))
        .collect();
    let mut twice: Vec<(usize, usize)> = twice.into_iter().collect();
    twice.sort_unstable();
    twice.into_iter().map(|(second, first)| dispute(&file.reminders[first], &file.reminders[second]))
}

fn dispute(first: &ReminderLine, second: &ReminderLine) -> Finding {
    let id = second.reminder.id.as_ref().map(ToString::to_string).unwrap_or_default();
    let text = String::from_utf8_lossy(&second.text);
    let column = text.rfind(&id).map_or(1, |at| text[..at].chars().count() + 1);
    Finding {
        line: second.line,
        column,
        reason: format!("the id `{id}` stands in line {} too, with other words; both fire", first.line),
        suggestion: format!("delete ` id={id}` here; the line gets an id of its own"),
    }
}
