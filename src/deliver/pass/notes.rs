//! The two notes as one pass reads them.

use super::{PassContext, PassReport, PassSettings};
use crate::deliver::journal::LineHash;
use crate::format::commitment::{self, CommitmentsFile};
use crate::format::lines;
use crate::format::reminder::{self, RemindersFile};
use crate::reminders::PlacedFinding;
use crate::vault::{NotePath, VaultError};

/// A note: its bytes, and what they say.
#[derive(Debug)]
pub(super) struct Note<T> {
    pub bytes: Vec<u8>,
    pub parsed: T,
}

/// Both notes; `None` where one can't be read. A missing note is an empty one.
#[derive(Debug)]
pub(super) struct Notes {
    pub reminders: Option<Note<RemindersFile>>,
    pub commitments: Option<Note<CommitmentsFile>>,
}

impl Notes {
    /// Reads both; what can't be read is told in the report.
    pub fn read(context: &PassContext<'_>, report: &mut PassReport) -> Self {
        let settings = context.settings;
        let mut bytes = |path: &NotePath| match context.vault.read(path) {
            Ok(bytes) => Some(bytes),
            Err(VaultError::NotFound(_)) => Some(Vec::new()),
            Err(error) => {
                report.problems.push(error.to_string());
                None
            }
        };
        let reminders = bytes(&settings.reminders).map(|bytes| Note { parsed: reminder::parse(&bytes), bytes });
        let commitments = bytes(&settings.commitments).map(|bytes| Note { parsed: commitment::parse(&bytes), bytes });
        Self { reminders, commitments }
    }

    /// What makes each finding the same one a minute later: the note, the line's bytes and the
    /// reason, but not the number of the line.
    pub fn finding_keys(&self, settings: &PassSettings, findings: &[PlacedFinding]) -> Vec<LineHash> {
        if findings.is_empty() {
            return Vec::new();
        }
        let texts = |bytes: Option<&[u8]>| -> Vec<Vec<u8>> {
            lines::lines(bytes.unwrap_or_default()).map(|line| line.text.to_vec()).collect()
        };
        let reminders = texts(self.reminders.as_ref().map(|note| note.bytes.as_slice()));
        let commitments = texts(self.commitments.as_ref().map(|note| note.bytes.as_slice()));
        let key = |finding: &PlacedFinding| {
            let in_reminders = finding.path == settings.reminders.as_str();
            let lines = if in_reminders { &reminders } else { &commitments };
            let line = lines.get(finding.line.saturating_sub(1)).map_or(&[][..], Vec::as_slice);
            LineHash::of(&[finding.path.as_bytes(), finding.reason.as_bytes(), line].join(&0))
        };
        findings.iter().map(key).collect()
    }
}
