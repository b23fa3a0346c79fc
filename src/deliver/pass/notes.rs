//! Reads `Reminders.md` and `COMMITMENTS.md` for one pass.
//!
//! `Reminders.md` may hold a hundred thousand lines of which none is due. So a pass first searches its bytes for a date
//! that has come. The lines are parsed only if there is such a date, or if the file has changed since a pass found
//! nothing to do in it. Of the parsed lines only those that may be due and those without an id are kept as values.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp, civil};
use memchr::{memmem, memrchr};

use super::{PassContext, PassReport, PassSettings};
use crate::deliver::journal::LineHash;
use crate::format::Finding;
use crate::format::commitment::{self, CommitmentsFile};
use crate::format::lines;
use crate::format::reminder::{self, ReminderLine, ScannedItem};
use crate::reminders::{self, IdAt, IdHashes, PlacedFinding};
use crate::sqlite::Result;
use crate::vault::NotePath;

/// The largest step by which a zone's clock was ever put back: a line that is further ahead on the clock is not due.
const HORIZON: SignedDuration = SignedDuration::from_hours(48);

/// `Reminders.md`.
#[derive(Debug, Default)]
pub(super) struct ReminderNote {
    pub bytes: Vec<u8>,
    /// The file's stat from before it was read.
    pub stat: Option<String>,
    /// Whether its lines were read; else nothing in it is due, and nothing in it is new.
    pub was_read: bool,
    /// The lines that may be due, in order.
    pub may_be_due: Vec<ReminderLine>,
    /// The lines without an id, in order.
    pub without_id: Vec<LineWithoutId>,
    /// Those of them that were just written, and until when each waits should it be due.
    pub just_written: HashMap<Vec<u8>, Timestamp>,
    pub near_misses: Vec<Finding>,
    ids: IdHashes,
}

/// Whether a line of the note may be due, judged by the dates in it alone: a due line holds `date=` and a date that has
/// come. It may be wrong when it says yes, never when it says no.
fn may_be_due(bytes: &[u8], local_now: civil::DateTime) -> bool {
    let horizon = local_now.saturating_add(HORIZON).date().to_string();
    memmem::find_iter(bytes, b"date=").any(|at| {
        let date = bytes.get(at + 5..at + 15).unwrap_or_default();
        let is_date = date.len() == 10
            && date.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if is_date && date > horizon.as_bytes() {
            return false;
        }
        let start = memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
        // The first line may begin with a byte order mark.
        start == 0 || bytes[start..].starts_with(b"- [ ] ")
    })
}

/// A reminder without an id.
#[derive(Debug)]
pub(super) struct LineWithoutId {
    pub text: Vec<u8>,
    pub terminated: bool,
}

impl ReminderNote {
    fn read(bytes: Vec<u8>, local_now: civil::DateTime) -> Self {
        let horizon = local_now.saturating_add(HORIZON);
        let mut note = Self { was_read: true, ..Self::default() };
        for found in reminder::scan(&bytes) {
            let (line, found) = match found {
                ScannedItem::NearMiss(finding) => {
                    note.near_misses.push(finding);
                    continue;
                }
                ScannedItem::Reminder(line, found) => (line, found),
            };
            let terminated = !line.terminator.is_empty();
            match found.id {
                Some(id) => note.ids.push(id),
                None => note.without_id.push(LineWithoutId { text: line.text.to_vec(), terminated }),
            }
            if found.date.to_datetime(found.time) <= horizon {
                note.may_be_due.push(ReminderLine {
                    line: line.number,
                    start: line.start,
                    text: line.text.to_vec(),
                    terminated,
                    reminder: found.to_reminder(),
                });
            }
        }
        note.bytes = bytes;
        note
    }

    /// All ids with their lines; read again from the bytes, since most passes don't ask.
    pub fn ids(&self) -> Vec<IdAt<'_>> {
        let at = |found| match found {
            ScannedItem::Reminder(line, found) => found.id.map(|id| IdAt::new(id, &self.bytes, line.start)),
            ScannedItem::NearMiss(_) => None,
        };
        reminder::scan(&self.bytes).filter_map(at).collect()
    }
}

/// `COMMITMENTS.md`.
#[derive(Debug)]
pub(super) struct CommitmentNote {
    pub bytes: Vec<u8>,
    pub parsed: CommitmentsFile,
}

/// Both notes; `None` where one can't be read. A missing note is an empty one.
#[derive(Debug)]
pub(super) struct PassNotes {
    /// The due task lines of other plugins; `None` if none are notified, or if they are unknown.
    pub tasks: Option<super::tasks::DueTasks>,
    pub reminders: Option<ReminderNote>,
    pub commitments: Option<CommitmentNote>,
}

impl PassNotes {
    /// Reads both; an unreadable note is named in the report.
    pub fn read(context: &PassContext<'_>, now: Timestamp, report: &mut PassReport) -> Result<Self> {
        let settings = context.settings;
        let stat = context.vault.stat(&settings.reminders).ok().flatten();
        let stat = stat.map(|stat| {
            format!("{} {} {} {} {}", stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, stat.dev)
        });
        let is_clean = stat.is_some() && context.journal.clean(settings.reminders.as_str())? == stat;
        let mut bytes = |path: &NotePath| match context.vault.read_or_empty(path) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                report.problems.push(error.to_string());
                None
            }
        };
        let local_now = settings.zone.tz().to_datetime(now);
        let reminders = bytes(&settings.reminders).map(|bytes| {
            let note = if is_clean && !may_be_due(&bytes, local_now) {
                ReminderNote { bytes, ..ReminderNote::default() }
            } else {
                ReminderNote::read(bytes, local_now)
            };
            ReminderNote { stat, ..note }
        });
        let commitments = bytes(&settings.commitments)
            .map(|bytes| CommitmentNote { parsed: commitment::parse(&bytes), bytes });
        Ok(Self { tasks: None, reminders, commitments })
    }

    /// All findings of each note whose lines were read.
    pub fn findings(&self, settings: &PassSettings) -> Vec<(NotePath, Vec<PlacedFinding>)> {
        let mut out = Vec::new();
        if let Some(note) = self.reminders.as_ref().filter(|note| note.was_read) {
            let ids = if note.ids.may_share() { note.ids() } else { Vec::new() };
            let found = reminders::findings(&settings.reminders, &note.near_misses, ids.iter().copied());
            out.push((settings.reminders.clone(), found));
        }
        if let Some(note) = &self.commitments {
            let placed = |finding| PlacedFinding::new(&settings.commitments, finding);
            out.push((settings.commitments.clone(), note.parsed.findings.iter().map(placed).collect()));
        }
        out
    }

    /// The keys by which findings are recognised a minute later: the note, the line's bytes and the reason, but not the
    /// line number.
    pub fn finding_keys(&self, settings: &PassSettings, findings: &[PlacedFinding]) -> Vec<LineHash> {
        if findings.is_empty() {
            return Vec::new();
        }
        let texts = |bytes: Option<&Vec<u8>>| -> Vec<Vec<u8>> {
            let bytes = bytes.map_or(Cow::Owned(Vec::new()), Cow::Borrowed);
            lines::lines(&bytes).map(|line| line.text.to_vec()).collect()
        };
        let reminders = texts(self.reminders.as_ref().map(|note| &note.bytes));
        let commitments = texts(self.commitments.as_ref().map(|note| &note.bytes));
        let key = |finding: &PlacedFinding| {
            let in_reminders = finding.path == settings.reminders.as_str();
            let lines = if in_reminders { &reminders } else { &commitments };
            let line = lines.get(finding.line.saturating_sub(1)).map_or(&[][..], Vec::as_slice);
            LineHash::of(&[finding.path.as_bytes(), finding.reason.as_bytes(), line].join(&0))
        };
        findings.iter().map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_that_has_come_is_seen_wherever_it_stands() {
        let now = civil::date(2026, 12, 1).at(9, 30, 0, 0);
        let may = |text: &str| may_be_due(text.as_bytes(), now);
        assert!(may("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"x\"\n"));
        assert!(may("x\n- [ ] time=09:30 msg=\"x\" recur=none date=2020-01-01"));
        assert!(may("- [ ] msg=\"date=2027-01-01\" date=2026-12-03 time=09:30 recur=none\n"));
        assert!(may("\u{feff}- [ ] date=2026-12-01 time=09:30 recur=none msg=\"x\"\n"));
        assert!(may("x\n- [ ] date=tomorrow"));
        assert!(!may("- [ ] date=2026-12-04 time=09:30 recur=none msg=\"x\"\n"));
        assert!(!may("x\n- [x] date=2026-12-01 time=09:30 recur=none msg=\"x\"\n"));
        assert!(!may(""));
    }
}
