//! Checks, commit by commit, that the changes in the history keep the program's guarantees. The agent's changes must
//! keep all of them, people's changes only those about logs and ids.
//!
//! The guarantees:
//! - logs only grow;
//! - a commit of the agent changes only the notes that its trailers name and, if they name reminders, only the lines of
//!   these reminders in the note of reminders;
//! - if the scheduler removes a one-off reminder with an id, the commit names its delivery, and the delivery is in the
//!   journal, if the journal goes back so far;
//! - ids of reminders never change.
//!
//! A violation is reported with its commit, file and line. A restore is a person's decision and may bring back
//! anything. The first snapshot is not checked.

use jiff::civil::Time;
use similar::ChangeTag;

use crate::config::PathSettings;
use crate::format::changes::{body, differences, lines};
use crate::format::lines::bom_len;
use crate::format::reminder::{ParsedLine, Recur, Reminder, parse, parse_line};
use crate::history::prelude::*;
use crate::history::store::{ALL_NOTES, CommitMessage, PathChange};
use crate::history::take::file_name;
use crate::history::{CommitRecord, FileDiff, History, LogFilter, Result};

/// The reminder on a line, with its terminator or without.
fn reminder_of(line: &[u8]) -> Option<Reminder> {
    match parse_line(body(line)) {
        ParsedLine::Reminder(reminder) => Some(reminder),
        _ => None,
    }
}

/// The reminder on a line that has no id yet.
fn reminder_without_id(line: &[u8]) -> Option<Reminder> {
    reminder_of(line).filter(|reminder| reminder.id.is_none())
}

/// The part of a recurring reminder that stays when it moves on.
fn without_day(reminder: Reminder) -> (String, Recur, Time) {
    (reminder.msg, reminder.recur, reminder.time)
}

/// The ids that a line bears.
pub(super) fn ids_in(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter_map(|word| word.strip_prefix(b"id="))
}

/// One violation of a guarantee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The commit's short id.
    pub commit: String,
    /// When.
    pub time: Timestamp,
    /// The actor that the commit names.
    pub actor: String,
    /// The guarantee: `append-only`, `only-what-it-says`, `delivered` or `ids`.
    pub rule: &'static str,
    /// The note.
    pub path: String,
    /// The 1-based line, in the state after the commit, or before it where the line is gone.
    pub line: usize,
    /// The violation, in words.
    pub detail: String,
}

/// The result of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// How many commits were looked at.
    pub commits: usize,
    /// How many of them were the agent's.
    pub agent_commits: usize,
    /// The breaches, oldest first.
    pub violations: Vec<Violation>,
}

/// The delivery journal's answer about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord<'a> {
    /// The reminder's id.
    pub id: &'a str,
    /// The local date and time that it was due.
    pub local: jiff::civil::DateTime,
    /// The commit's trailers.
    pub message: &'a CommitMessage,
}

/// Whether a delivery is on record; `None` where there is no journal that goes so far back.
pub type DeliveryLookup<'a> = &'a dyn Fn(&DeliveryRecord<'_>) -> Option<bool>;

/// Checks the whole history.
pub fn audit(history: &History, paths: &PathSettings, delivered: DeliveryLookup<'_>) -> Result<AuditReport> {
    let mut report = AuditReport::default();
    let mut found = Vec::new();
    history.log(&LogFilter::default(), |record| {
        report.commits += 1;
        report.agent_commits += usize::from(record.commit.message.actor() != "human");
        let mut auditor = CommitAuditor { record: &record, paths, delivered, found: Vec::new() };
        // The first snapshot has nothing to compare with.
        if record.commit.parent().is_some() {
            auditor.scope();
            for change in record.changes.iter().filter(|change| change.old.is_some()) {
                let is_log = is_log(&change.path, paths);
                let has_moved = is_log && change.new.is_none() && is_moved(history, paths, &record, change)?;
                if (change.path == paths.reminders || is_log) && !has_moved {
                    auditor.file(&history.file_diff(change)?);
                }
            }
        }
        found.push(auditor.found);
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    report.violations = found.into_iter().rev().flatten().collect();
    Ok(report)
}

/// Whether a log that is gone is another log from this commit on: the same, or longer under its name.
fn is_moved(
    history: &History,
    paths: &PathSettings,
    record: &CommitRecord,
    gone: &PathChange,
) -> Result<bool> {
    let old = history.file_diff(gone)?.old.map(|(_, bytes)| bytes).unwrap_or_default();
    let is_new_log = |change: &&PathChange| change.old.is_none() && is_log(&change.path, paths);
    for added in record.changes.iter().filter(is_new_log) {
        let is_same = added.new.map(|new| new.id) == gone.old.map(|old| old.id);
        if is_same
            || file_name(&added.path) == file_name(&gone.path)
                && history.file_diff(added)?.new.is_some_and(|(_, new)| new.starts_with(&old))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_log(path: &str, paths: &PathSettings) -> bool {
    let folder = paths.logs.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) && path.ends_with(".md")
}

struct CommitAuditor<'a> {
    record: &'a CommitRecord,
    paths: &'a PathSettings,
    delivered: DeliveryLookup<'a>,
    found: Vec<Violation>,
}

impl<'a> CommitAuditor<'a> {
    fn message(&self) -> &'a CommitMessage {
        &self.record.commit.message
    }

    fn breach(&mut self, rule: &'static str, path: &str, line: usize, detail: String) {
        let commit = &self.record.commit;
        self.found.push(Violation {
            commit: commit.short(),
            time: commit.time,
            actor: commit.message.actor().to_owned(),
            rule,
            path: path.to_owned(),
            line,
            detail,
        });
    }

    /// An agent's commit touches the notes that it names and no other.
    fn scope(&mut self) {
        let message = self.message();
        if message.actor() == "human" || message.trailer(ALL_NOTES).is_some() {
            return;
        }
        let named: Vec<String> = message.notes().collect();
        for change in self.record.changes.iter().filter(|change| !named.contains(&change.path)) {
            let detail = "the agent's commit changed this note without naming it";
            self.breach("only-what-it-says", &change.path, 1, detail.into());
        }
    }

    fn file(&mut self, diff: &FileDiff) {
        let [old, new] = [&diff.old, &diff.new].map(|side| side.as_ref().map(|(_, bytes)| bytes.as_slice()));
        let (path, old, is_restore) =
            (&diff.path, old.unwrap_or_default(), self.message().actor() == "restore");
        if !is_log(path, self.paths) {
            self.only_named_lines(path, old, new.unwrap_or_default());
            self.reminders(path, old, new.unwrap_or_default(), is_restore);
        } else if !is_restore {
            self.appended(path, old, new);
        }
    }

    fn appended(&mut self, path: &str, old: &[u8], new: Option<&[u8]>) {
        let Some(new) = new else {
            return self.breach("append-only", path, 1, "the log was deleted".into());
        };
        if !new.starts_with(old) {
            let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            let line = 1 + old[..same].iter().filter(|byte| **byte == b'\n').count();
            self.breach("append-only", path, line, "what was written in the log was changed".into());
        }
    }

    /// An agent's commit that names reminders changes their lines and no other.
    fn only_named_lines(&mut self, path: &str, old: &[u8], new: &[u8]) {
        let message = self.message();
        let ids: Vec<&str> = message.all("Reminder").filter(|id| id.starts_with("rid_")).collect();
        if matches!(message.actor(), "human" | "restore") || ids.is_empty() {
            return;
        }
        // Byte order marks stay at the start of the note, before whichever line is the first.
        let (old, new) = (lines(&old[bom_len(old)..]), lines(&new[bom_len(new)..]));
        let changes = changed(&old, &new);
        // Sets: a commit may be about ten thousand lines.
        let lines_of = |tag| changes.iter().filter(move |c| c.0 == tag).map(|c| c.2);
        let (removed, added): (HashSet<&[u8]>, HashSet<&[u8]>) =
            (lines_of(ChangeTag::Delete).collect(), lines_of(ChangeTag::Insert).collect());
        let named: HashSet<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
        let about = |line: &[u8]| ids_in(line).any(|id| named.contains(id));
        // A line may get its id from any write, which names a hundred of them at most.
        let with_id: HashSet<Vec<&[u8]>> =
            added.iter().filter(|line| ids_in(line).next().is_some()).map(|line| without_id(line)).collect();
        let had_none: HashSet<Vec<&[u8]>> = removed
            .iter()
            .filter(|line| reminder_without_id(line).is_some())
            .map(|line| without_id(line))
            .collect();
        // A recurring line may have moved on with its first id.
        let moved = added.iter().filter(|line| about(line)).filter_map(|line| reminder_of(line));
        let moved: HashSet<_> = moved.map(without_day).collect();
        // A reminder that was due before it had an id was told with one that its line never bore.
        let written: HashSet<&[u8]> = changes.iter().flat_map(|c| ids_in(c.2)).collect();
        let mut unwritten = ids.iter().filter(|id| !written.contains(id.as_bytes())).count();
        for (tag, number, line) in &changes {
            let has_moved = || reminder_without_id(line).is_some_and(|it| moved.contains(&without_day(it)));
            let gains = match tag {
                ChangeTag::Delete => with_id.contains(&without_id(line)) || has_moved(),
                _ => had_none.contains(&without_id(line)) && ids_in(line).next().is_some(),
            };
            let is_blank = line.iter().all(u8::is_ascii_whitespace);
            let same_but_end = added.contains(line) && removed.contains(line);
            if about(line) || gains || is_blank || same_but_end {
                continue;
            }
            if *tag == ChangeTag::Delete && unwritten > 0 && reminder_without_id(line).is_some() {
                unwritten -= 1;
                continue;
            }
            let (ids, line) = (ids.join(", "), String::from_utf8_lossy(line));
            let detail = format!("the commit is about {ids} and changed another line: `{line}`");
            self.breach("only-what-it-says", path, *number, detail);
        }
    }

    fn reminders(&mut self, path: &str, old: &[u8], new: &[u8], is_restore: bool) {
        let (before, after) = (by_id(old), by_id(new));
        if self.message().actor() == "scheduler" {
            for (id, (line, reminder)) in &before {
                if after.contains_key(id) || reminder.recur != Recur::None {
                    continue;
                }
                let (message, local) = (self.message(), reminder.date.to_datetime(reminder.time));
                let is_known = || (self.delivered)(&DeliveryRecord { id, local, message }) != Some(false);
                if message.trailer("Delivery").is_none() || !is_known() {
                    let detail =
                        format!("the scheduler removed `{id}`, and there is no delivery of it on record");
                    self.breach("delivered", path, *line, detail);
                }
            }
        }
        if is_restore {
            return;
        }
        let gone: Vec<_> = before.iter().filter(|(id, _)| !after.contains_key(*id)).collect();
        for (id, (line, reminder)) in after.iter().filter(|(id, _)| !before.contains_key(*id)) {
            if let Some((was, _)) = gone.iter().find(|(_, (_, was))| is_same(was, reminder)) {
                self.breach("ids", path, *line, format!("the id `{was}` became `{id}`"));
            }
        }
    }
}

fn is_same(a: &Reminder, b: &Reminder) -> bool {
    a.date == b.date && a.time == b.time && a.recur == b.recur && a.msg == b.msg
}

fn by_id(bytes: &[u8]) -> BTreeMap<String, (usize, Reminder)> {
    let reminders = parse(bytes).reminders.into_iter();
    reminders
        .filter_map(|line| Some((line.reminder.id.as_ref()?.to_string(), (line.line, line.reminder))))
        .collect()
}

/// The lines that differ, each with its number in the text it is from.
fn changed<'a>(old: &[&'a [u8]], new: &[&'a [u8]]) -> Vec<(ChangeTag, usize, &'a [u8])> {
    // A CR at a note's very end ends no line: the line end that an edit adds comes after it.
    let text = |line: &&'a [u8]| if line.ends_with(b"\n") { body(line) } else { *line };
    let old: Vec<&[u8]> = old.iter().map(text).collect();
    let new: Vec<&[u8]> = new.iter().map(text).collect();
    let mut differing = Vec::new();
    for op in differences(&old, &new) {
        differing.extend(op.old_range().map(|at| (ChangeTag::Delete, at + 1, old[at])));
        differing.extend(op.new_range().map(|at| (ChangeTag::Insert, at + 1, new[at])));
    }
    differing
}

/// The line's words without its id.
fn without_id(line: &[u8]) -> Vec<&[u8]> {
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty() && !word.starts_with(b"id=")).collect()
}
