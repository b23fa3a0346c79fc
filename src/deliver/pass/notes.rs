//! Reads `Reminders.md` and `COMMITMENTS.md` for one pass. Records, from pass to pass, since when each note and its new
//! lines have been unchanged.
//!
//! If a line without an id was already due when it was written, a person may still be typing it. Such a line is sent
//! after five seconds without a change, or after a minute at the latest. A line that was written before its time is
//! sent on time.

use super::planned::UnsentOccurrence;
use super::{Pass, PassReport, PassSettings};
use crate::deliver::delivery_journal::LineHash;
use crate::deliver::notice_once;
use crate::deliver::prelude::*;
use crate::format::commitment::{self, CommitmentsFile};
use crate::format::reminder::{self, ReminderLine, RemindersFile};
use crate::format::{ReminderId, lines};
use crate::reminders::{self, PlacedFinding};
use crate::sqlite::Result;
use crate::vault::{NotePath, QuietTracker, SteadyLines};

/// The longest wait of a due line that is being edited.
const AT_MOST: SignedDuration = SignedDuration::from_secs(60);

/// `Reminders.md`.
#[derive(Debug)]
pub(super) struct ReminderNote {
    pub bytes: Vec<u8>,
    /// Whether there is such a file.
    pub is_there: bool,
    pub parsed: RemindersFile,
    /// The lines without an id that were just written.
    pub just_written: HashMap<Vec<u8>, NewLine>,
}

/// A line that was just written.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewLine {
    /// When it was first read as it is.
    pub since: Timestamp,
    /// Until when it waits, if it was due by then.
    pub until: Timestamp,
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
    pub(super) notes: QuietTracker,
    pub(super) lines: SteadyLines,
    /// Whether the lines were read before.
    has_read_entries: bool,
    /// Since when due lines have been waiting to stay the same, without a break.
    waiting: Option<Timestamp>,
    /// Occurrences within a day of the last pass, by key, if there are several machines; `None` before the first.
    pub(super) near: Option<HashMap<String, UnsentOccurrence>>,
    /// The lines that other machines are to rewrite (order and claim), and since when they are the same.
    awaited: Option<(BTreeSet<(u64, String)>, Timestamp)>,
}

impl ReminderNote {
    fn of(read: Option<Vec<u8>>) -> Self {
        let is_there = read.is_some();
        let bytes = read.unwrap_or_default();
        Self { is_there, parsed: reminder::parse(&bytes), bytes, just_written: HashMap::new() }
    }

    /// The ids of all lines.
    pub fn ids(&self) -> HashSet<ReminderId> {
        self.parsed.reminders.iter().filter_map(|line| line.reminder.id).collect()
    }

    /// The lines without an id, in order.
    pub fn without_id(&self) -> impl Iterator<Item = &ReminderLine> + Clone {
        self.parsed.reminders.iter().filter(|line| line.reminder.id.is_none())
    }
}

impl PassNotes {
    /// Reads both; an unreadable note is named in the report.
    pub fn read(pass: Pass<'_>, report: &mut PassReport) -> Self {
        let settings = pass.settings;
        let mut read = |path: &NotePath| match pass.vault.read_if_there(path) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                report.problems.push(error.to_string());
                None
            }
        };
        let reminders = read(&settings.reminders).map(ReminderNote::of);
        let commitments = read(&settings.commitments).map(Option::unwrap_or_default);
        let commitments =
            commitments.map(|bytes| CommitmentNote { parsed: commitment::parse(&bytes), bytes });
        Self { tasks: None, reminders, commitments }
    }

    /// All findings of each note that was read.
    pub fn findings(&self, settings: &PassSettings) -> Vec<(NotePath, Vec<PlacedFinding>)> {
        let mut out = Vec::new();
        if let Some(note) = &self.reminders {
            out.push((settings.reminders.clone(), reminders::findings(&settings.reminders, &note.parsed)));
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
        let texts = |bytes: Option<&Vec<u8>>| -> Vec<Vec<u8>> {
            lines::lines(bytes.map_or(&[], Vec::as_slice)).map(|line| line.text.to_vec()).collect()
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

/// Tells the person of a conflict copy beside a note, and of a note whose name a sync tool brought in other letters,
/// again after some days: what stands there isn't delivered, and the person may see neither folder nor log of this machine.
pub(super) fn tell_of_copies(pass: Pass<'_>) -> Result<()> {
    // Anybody's note may be called `commitments.md`.
    let holds_items = |note: &NotePath| reminders::holds_items(&pass.vault.read(note).unwrap_or_default());
    for note in [&pass.settings.reminders, &pass.settings.commitments] {
        let other_case = || pass.editor.other_case(note).filter(holds_items);
        let found = pass.editor.conflict_copy(note).or_else(other_case);
        let Some(found) = found.filter(|_| pass.machines.is_voice()) else { continue };
        let text = if pass.vault.exists(note) {
            format!(
                "`{found}` is a conflicting copy of `{note}`: lines that only the copy has are not delivered, and `{note}` isn't written, until `vault-agent conflicts merge` merges the two"
            )
        } else {
            format!("`{note}` is missing, so nothing of `{found}` is delivered until it gets that name")
        };
        notice_once(pass.journal, &format!("copy:{found}"), &text, pass.now)?;
    }
    Ok(())
}

impl PassState {
    /// The reminders without an id, read at `now`: those that were just written. Lines of the first reading count as
    /// written before, so a daemon that is restarted again and again still fires.
    pub(super) fn observe_lines_without_id<'l>(
        &mut self,
        lines: impl Iterator<Item = &'l [u8]> + Clone,
        now: Timestamp,
    ) -> HashMap<Vec<u8>, NewLine> {
        let is_first = !std::mem::replace(&mut self.has_read_entries, true);
        self.lines.observe(lines.clone(), now);
        if is_first {
            return HashMap::new();
        }
        let latest = self.waiting.and_then(|since| since.checked_add(AT_MOST).ok()).unwrap_or(Timestamp::MAX);
        let new = |line: &[u8]| {
            let (since, until) = (self.lines.since(line)?, self.lines.steady_at(line)?.min(latest));
            (until > now).then(|| (line.to_vec(), NewLine { since, until }))
        };
        lines.filter_map(new).collect()
    }

    /// Records whether due lines wait at `now` to stay the same. The minute counts from the first pass in which one
    /// does.
    pub(super) fn record_waiting(&mut self, is_waiting: bool, now: Timestamp) {
        // A clock that was put back makes no line wait longer.
        self.waiting = is_waiting.then(|| self.waiting.map_or(now, |since| since.min(now)));
    }

    /// Since when the same lines wait for other machines to rewrite them.
    pub(super) fn awaited_since(&mut self, awaited: BTreeSet<(u64, String)>, now: Timestamp) -> Timestamp {
        match &self.awaited {
            Some((before, since)) if *before == awaited => *since,
            _ => self.awaited.insert((awaited, now)).1,
        }
    }
}
