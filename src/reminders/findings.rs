//! Finds faults in a note of reminders. Pure. The faults are lines that look like attempts at a reminder but can't be
//! parsed, lines that stand more than once, and ids that different reminders share.

use std::collections::HashMap;

use serde::Serialize;

use super::fields;
use crate::format::reminder::{ReminderLine, RemindersFile};
use crate::format::{Finding, ReminderId};
use crate::vault::NotePath;

/// A finding with its note, for `check` and a pass's report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedFinding {
    /// The note.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The fault.
    pub reason: String,
    /// A correct form.
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

/// All findings about the reminders of a note, in the order of the lines: near misses, copies of a line, and ids that
/// lines with different content share. Lines that differ only in their fields' order or the spaces between them are one
/// reminder.
pub fn findings(path: &NotePath, file: &RemindersFile) -> Vec<PlacedFinding> {
    let mut out: Vec<PlacedFinding> =
        file.near_misses.iter().map(|finding| PlacedFinding::new(path, finding)).collect();
    let mut first: HashMap<ReminderId, &ReminderLine> = HashMap::new();
    let mut standing: HashMap<String, usize> = HashMap::new();
    for line in &file.reminders {
        let before = *standing.entry(fields(&line.reminder)).or_insert(line.line);
        if before != line.line {
            out.push(PlacedFinding::new(path, &copied(before, line.line)));
        }
        let Some(id) = line.reminder.id else { continue };
        let first = first.entry(id).or_insert(line);
        if first.text != line.text && fields(&first.reminder) != fields(&line.reminder) {
            out.push(PlacedFinding::new(path, &dispute(id, first.line, line)));
        }
    }
    out.sort_by_key(|finding| (finding.line, finding.column));
    out
}

fn copied(first: usize, line: usize) -> Finding {
    let reason = "this line stands more than once and is delivered once";
    Finding::new(line, 1, reason, format!("delete it here, or change its words; the first is line {first}"))
}

fn dispute(id: ReminderId, first: usize, second: &ReminderLine) -> Finding {
    let text = String::from_utf8_lossy(&second.text);
    let column = text.rfind(id.as_str()).map_or(1, |at| text[..at].chars().count() + 1);
    Finding::new(
        second.line,
        column,
        format!("the id `{id}` stands in line {first} too, with other words; both fire"),
        format!("delete ` id={id}` here; the line gets an id of its own"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_differing_lines_with_one_id_are_found() {
        let path = NotePath::new("Reminders.md").unwrap();
        let text = "\
- [ ] date=2026-12-01 time=09:30 recur=none msg=\"a\" id=rid_AAAAAAAAAAAA
- [ ] date=2026-12-01 time=09:30 recur=none msg=\"b\" id=rid_BBBBBBBBBBBB
- [ ] date=2026-12-01 time=09:30 recur=none msg=\"b\" id=rid_BBBBBBBBBBBB
- [ ] date=2026-12-01 time=09:31 recur=none msg=\"é\" id=rid_AAAAAAAAAAAA
- [ ] time=09:30 date=2026-12-01  recur=none msg=\"b\" id=rid_BBBBBBBBBBBB
";
        let file = crate::format::reminder::parse(text.as_bytes());
        let found = findings(&path, &file);
        insta::assert_snapshot!(serde_json::to_string(&found).unwrap(), @r#"[{"path":"Reminders.md","line":3,"column":1,"reason":"this line stands more than once and is delivered once","suggestion":"delete it here, or change its words; the first is line 2"},{"path":"Reminders.md","line":4,"column":56,"reason":"the id `rid_AAAAAAAAAAAA` stands in line 1 too, with other words; both fire","suggestion":"delete ` id=rid_AAAAAAAAAAAA` here; the line gets an id of its own"},{"path":"Reminders.md","line":5,"column":1,"reason":"this line stands more than once and is delivered once","suggestion":"delete it here, or change its words; the first is line 2"}]"#);
    }
}
