//! The two notes as one pass reads them.
//!
//! `Reminders.md` may hold a hundred thousand lines of which one is due: only lines that may be due,
//! and lines without an id, become values; of all others the pass keeps the id and the place.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp, civil};

use super::{PassContext, PassReport, PassSettings};
use crate::deliver::journal::LineHash;
use crate::format::Finding;
use crate::format::commitment::{self, CommitmentsFile};
use crate::format::lines;
use crate::format::reminder::{self, ReminderLine, Scanned};
use crate::reminders::{self, IdAt, IdHashes, PlacedFinding};
use crate::vault::{NotePath, VaultError};

/// No zone's clock was ever put back by more: what is later on the clock than this is not due.
const HORIZON: SignedDuration = SignedDuration::from_hours(48);

/// `Reminders.md`.
#[derive(Debug, Default)]
pub(super) struct ReminderNote {
    pub bytes: Vec<u8>,
    /// The lines that may be due, in order.
    pub soon: Vec<ReminderLine>,
    /// The lines without an id, in order.
    pub nameless: Vec<Nameless>,
    pub near_misses: Vec<Finding>,
    ids: IdHashes,
}

/// A reminder without an id.
#[derive(Debug)]
pub(super) struct Nameless {
    pub text: Vec<u8>,
    pub terminated: bool,
}

impl ReminderNote {
    fn read(bytes: Vec<u8>, local_now: civil::DateTime) -> Self {
        let horizon = local_now.saturating_add(HORIZON);
        let mut note = Self::default();
        for found in reminder::scan(&bytes) {
            let (line, found) = match found {
                Scanned::NearMiss(finding) => {
                    note.near_misses.push(finding);
                    continue;
                }
                Scanned::Reminder(line, found) => (line, found),
            };
            let terminated = !line.terminator.is_empty();
            match found.id {
                Some(id) => note.ids.push(id),
                None => note.nameless.push(Nameless { text: line.text.to_vec(), terminated }),
            }
            if found.date.to_datetime(found.time) <= horizon {
                note.soon.push(ReminderLine {
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
            Scanned::Reminder(line, found) => found.id.map(|id| IdAt::new(id, &self.bytes, line.start)),
            Scanned::NearMiss(_) => None,
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
pub(super) struct Notes {
    pub reminders: Option<ReminderNote>,
    pub commitments: Option<CommitmentNote>,
}

impl Notes {
    /// Reads both; what can't be read is told in the report.
    pub fn read(context: &PassContext<'_>, now: Timestamp, report: &mut PassReport) -> Self {
        let settings = context.settings;
        let mut bytes = |path: &NotePath| match context.vault.read(path) {
            Ok(bytes) => Some(bytes),
            Err(VaultError::NotFound(_)) => Some(Vec::new()),
            Err(error) => {
                report.problems.push(error.to_string());
                None
            }
        };
        let local_now = settings.zone.tz().to_datetime(now);
        let reminders = bytes(&settings.reminders).map(|bytes| ReminderNote::read(bytes, local_now));
        let commitments = bytes(&settings.commitments)
            .map(|bytes| CommitmentNote { parsed: commitment::parse(&bytes), bytes });
        Self { reminders, commitments }
    }

    /// All that is to be said about the notes.
    pub fn findings(&self, settings: &PassSettings) -> Vec<PlacedFinding> {
        let mut out = Vec::new();
        if let Some(note) = &self.reminders {
            let ids = if note.ids.may_share() { note.ids() } else { Vec::new() };
            out.extend(reminders::findings(&settings.reminders, &note.near_misses, ids.iter().copied()));
        }
        if let Some(note) = &self.commitments {
            let placed = |finding| PlacedFinding::new(&settings.commitments, finding);
            out.extend(note.parsed.findings.iter().map(placed));
        }
        out
    }

    /// What makes each finding the same one a minute later: the note, the line's bytes and the
    /// reason, but not the number of the line.
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
