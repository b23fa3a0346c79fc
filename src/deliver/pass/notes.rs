//! Reads `Reminders.md` and `COMMITMENTS.md` for one pass, and remembers between passes since when a note and its new
//! lines have been unchanged.
//!
//! `Reminders.md` may hold a hundred thousand lines of which none is due. So a pass first searches its bytes for a date
//! that has come. The lines are parsed only if there is such a date, or if the file has changed since a pass found
//! nothing to do in it. Of the parsed lines only those that may be due and those without an id are kept as values.
//!
//! A person may still be typing a due line without an id that was just written. It fires after five seconds without a
//! change, or after a minute of changes.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp, civil};
use memchr::{memmem, memrchr};

use super::planned::UnsentOccurrence;
use super::{Pass, PassReport, PassSettings};
use crate::deliver::delivery_journal::LineHash;
use crate::format::commitment::{self, CommitmentsFile};
use crate::format::reminder::{self, ReminderLine};
use crate::format::{Finding, lines};
use crate::reminders::{self, IdAt, IdHashes, PlacedFinding};
use crate::sqlite::Result;
use crate::vault::{NotePath, QuietTracker, SteadyLines};

/// The largest step by which a zone's clock was ever put back: a line that is further ahead on the clock is not due.
const HORIZON: SignedDuration = SignedDuration::from_hours(48);

/// The longest wait of a due line that is being edited.
const AT_MOST: SignedDuration = SignedDuration::from_secs(60);

/// `Reminders.md`.
#[derive(Debug, Default)]
pub(super) struct ReminderNote {
    pub bytes: Vec<u8>,
    /// The file's stat from before it was read.
    pub stat: Option<String>,
    /// Whether its lines were read; else nothing in it is due, and nothing in it is new.
    pub was_read: bool,
    /// The lines that may be due or have no id, in order.
    pub kept: Vec<ReminderLine>,
    /// The lines without an id that were just written, with the instant until which each waits if it is due.
    pub just_written: HashMap<Vec<u8>, Timestamp>,
    pub near_misses: Vec<Finding>,
    ids: IdHashes,
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
    pub tasks: Option<Vec<super::tasks::DueTask>>,
    pub reminders: Option<ReminderNote>,
    pub commitments: Option<CommitmentNote>,
}

/// The memory of one daemon between passes.
#[derive(Debug, Default)]
pub struct PassState {
    /// The tasks of the notes, as they were last read.
    pub(super) tasks: crate::tasks::Scanner,
    notes: QuietTracker,
    lines: SteadyLines,
    /// Whether the lines were read before.
    has_looked: bool,
    /// Since when due lines have been waiting to stay the same, without a break.
    waiting: Option<Timestamp>,
    /// Occurrences within a day of the last pass, by key, if there are several machines; `None` before the first.
    pub(super) near: Option<HashMap<String, UnsentOccurrence>>,
    /// The lines that other machines are to rewrite (order and claim), and since when they are the same.
    awaited: Option<(BTreeSet<(u64, String)>, Timestamp)>,
}

impl ReminderNote {
    fn read(bytes: Vec<u8>, local_now: civil::DateTime) -> Self {
        let horizon = local_now.saturating_add(HORIZON);
        let mut note = Self { was_read: true, ..Self::default() };
        for found in reminder::scan(&bytes) {
            match found {
                Err(finding) => note.near_misses.push(finding),
                Ok((line, found)) => {
                    if let Some(id) = found.id {
                        note.ids.push(id);
                    }
                    if found.id.is_none() || found.date.to_datetime(found.time) <= horizon {
                        note.kept.push(ReminderLine::new(&line, found));
                    }
                }
            }
        }
        note.bytes = bytes;
        note
    }

    /// All ids with their lines; read again from the bytes, since most passes don't ask.
    pub fn ids(&self) -> Vec<IdAt<'_>> {
        let found = reminder::scan(&self.bytes).flatten();
        found.filter_map(|(line, found)| Some(IdAt::new(found.id?, &self.bytes, line.start))).collect()
    }

    /// The lines without an id, in order.
    pub fn without_id(&self) -> impl Iterator<Item = &ReminderLine> + Clone {
        self.kept.iter().filter(|line| line.reminder.id.is_none())
    }
}

impl PassNotes {
    /// Reads both; an unreadable note is named in the report.
    pub fn read(pass: Pass<'_>, report: &mut PassReport) -> Result<Self> {
        let settings = pass.settings;
        let stat = pass.vault.stat(&settings.reminders).ok().flatten();
        let stat = stat.map(|stat| {
            format!("{} {} {} {} {}", stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, stat.dev)
        });
        let is_clean = stat.is_some() && pass.journal.clean(settings.reminders.as_str())? == stat;
        let mut bytes = |path: &NotePath| match pass.vault.read_or_empty(path) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                report.problems.push(error.to_string());
                None
            }
        };
        let local_now = settings.zone.tz().to_datetime(pass.now);
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

impl PassState {
    /// A note was read at `now`.
    pub(super) fn observe(&mut self, path: &NotePath, bytes: &[u8], now: Timestamp) {
        self.notes.observe(path, blake3::hash(bytes), now);
    }

    /// The reminders without an id, read at `now`: those that were just written, and until when each waits should it be
    /// due. Lines of the first reading count as written before, so a daemon that is restarted again and again still
    /// fires.
    pub(super) fn observe_lines_without_id<'l>(
        &mut self,
        lines: Option<impl Iterator<Item = &'l [u8]> + Clone>,
        now: Timestamp,
    ) -> HashMap<Vec<u8>, Timestamp> {
        let is_first = !std::mem::replace(&mut self.has_looked, true);
        // A note that wasn't read has the lines that it had.
        let Some(lines) = lines else { return HashMap::new() };
        self.lines.observe(lines.clone(), now);
        if is_first {
            return HashMap::new();
        }
        let latest = self.waiting.and_then(|since| since.checked_add(AT_MOST).ok()).unwrap_or(Timestamp::MAX);
        let until = |line: &[u8]| Some((line.to_vec(), self.lines.steady_at(line)?.min(latest)));
        lines.filter_map(until).filter(|(_, until)| *until > now).collect()
    }

    /// Records whether due lines wait at `now` to stay the same. The minute counts from the first pass in which one
    /// does.
    pub(super) fn note_waiting(&mut self, is_waiting: bool, now: Timestamp) {
        // A clock that was put back makes no line wait longer.
        self.waiting = is_waiting.then(|| self.waiting.map_or(now, |since| since.min(now)));
    }

    /// Whether a note may be rewritten; else when to check again. The wait for a note that is never still begins with
    /// the first call.
    pub(super) fn may_write(&mut self, path: &NotePath, now: Timestamp) -> Result<(), Timestamp> {
        self.notes.start_waiting(path, now);
        match self.notes.ready_at(path) {
            Some(at) if at > now => Err(at),
            _ => Ok(()),
        }
    }

    /// Notes that a note was rewritten, and is now `bytes`.
    pub(super) fn record_own_write(&mut self, path: &NotePath, bytes: &[u8]) {
        self.notes.record_own_write(path, blake3::hash(bytes));
    }

    /// Since when the same lines wait for other machines to rewrite them.
    pub(super) fn awaited_since(&mut self, awaited: BTreeSet<(u64, String)>, now: Timestamp) -> Timestamp {
        match &self.awaited {
            Some((before, since)) if *before == awaited => *since,
            _ => self.awaited.insert((awaited, now)).1,
        }
    }

    /// Whether a line without an id stood there, the same, five seconds ago.
    pub(super) fn is_steady(&self, line: &[u8], now: Timestamp) -> bool {
        self.lines.is_steady(line, now)
    }
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
