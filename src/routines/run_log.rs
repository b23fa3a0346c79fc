//! Writes a run's log: `logs/routines/NAME/<when it was due>_0001.md`, one file a run.
//!
//! Each event's id is computed from the run alone, so that repeated writes keep one event, and the request can be made
//! again from the note. A log holds no earlier runs: runs know nothing of each other.

use jiff::Timestamp;
use ulid::Ulid;

use crate::deliver::journal::RoutineRun;
use crate::format::log::{self, EventKind, LogEvent, LogHeader, LogPath, ROUTINES};
use crate::turn::TurnNote;
use crate::vault::{EditError, NotePath, WalkEntry};
use crate::workspace::Workspace;

/// The sequence number of a scheduled run's log; runs on request have higher ones.
const SCHEDULED: u16 = 1;
const QUESTION: u16 = 0;
/// As in all logs: `turn::rebuild` looks for it.
const RECALL: u16 = 2;
const ANSWER: u16 = 4;
const TOOL: u16 = 0x1000;

/// The log of one run.
#[derive(Debug, Clone)]
pub struct RunLog {
    path: NotePath,
    header: LogHeader,
    base: Ulid,
}

/// The message id of a run's turn: made of its key, and never one of Discord's, whose first bit is not set until 2084.
pub fn message_of(key: &str) -> u64 {
    let hash = blake3::hash(key.as_bytes());
    let mut eight = [0; 8];
    eight.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(eight) | 1 << 63
}

/// The due time of the last scheduled run whose answer stands in the routine's logs. So a vault knows
/// its runs where the journal doesn't: on another machine, or after its state was deleted.
pub fn last_answered(workspace: &Workspace, routine: &str) -> Option<Timestamp> {
    let (logs, now) = (workspace.settings.paths.logs.trim_end_matches('/'), workspace.clock.now());
    let folder = NotePath::new(&format!("{logs}/{ROUTINES}/{}", folder_of(routine))).ok()?;
    let place = |entry: &WalkEntry| LogPath::parse(logs, entry.path.as_str());
    let mut runs: Vec<(Timestamp, NotePath)> = workspace
        .vault
        .notes_below(folder)
        .ok()?
        .into_iter()
        .filter_map(|entry| Some((place(&entry).filter(|log| log.seq == SCHEDULED)?.started, entry.path)))
        .filter(|(due, _)| *due <= now)
        .collect();
    runs.sort_unstable_by_key(|run| std::cmp::Reverse(run.0));
    let is_answered = |path: &NotePath| {
        let bytes = workspace.vault.read(path).unwrap_or_default();
        log::parse(&bytes).blocks.iter().any(|block| block.event.kind == EventKind::Agent)
    };
    runs.into_iter().find(|(_, path)| is_answered(path)).map(|(due, _)| due)
}

/// Whether a person asked for a run.
pub fn is_asked_for(key: &str) -> bool {
    key.rsplit_once('@').is_some_and(|(_, rest)| rest.starts_with("run-"))
}

impl RunLog {
    /// Of this run.
    pub fn of(workspace: &Workspace, run: &RoutineRun) -> Self {
        let second = Timestamp::from_second(run.due.as_second()).unwrap_or(run.due);
        let folder = folder_of(&run.routine);
        // A run that a person asks for may begin in the second of another.
        let asked = is_asked_for(&run.key).then(|| message_of(&run.key) % 9_998);
        let seq = asked.map_or(SCHEDULED, |number| u16::try_from(number + 2).unwrap_or(2));
        let path = LogPath { surface: ROUTINES.to_owned(), context_id: folder, started: second, seq };
        let header = LogHeader {
            surface: ROUTINES.to_owned(),
            context_id: format!("routine:{}", run.routine),
            started: Some(second),
            title: Some(run.routine.clone()),
        };
        let ms = run.due.as_millisecond().unsigned_abs();
        let base = Ulid::from_parts(ms, u128::from(message_of(&run.key)) << 16);
        Self {
            path: workspace.note(&path.in_folder(workspace.settings.paths.logs.trim_end_matches('/'))),
            header,
            base,
        }
    }

    /// The target of a link to the question: the path without `.md`, and its block.
    pub fn block(&self) -> String {
        format!("{}#^{}", self.path.as_str().trim_end_matches(".md"), self.id(QUESTION))
    }

    fn id(&self, part: u16) -> String {
        Ulid(self.base.0 | u128::from(part)).to_string()
    }

    /// Logs the question.
    ///
    /// # Errors
    /// The log can't be written.
    pub fn question(&self, workspace: &Workspace, text: &str, at: Timestamp) -> Result<(), EditError> {
        let author = self.header.context_id.clone();
        self.add(workspace, QUESTION, EventKind::User, author, text, at)
    }

    /// Logs a note of the turn.
    ///
    /// # Errors
    /// The log can't be written.
    pub fn note(&self, workspace: &Workspace, note: &TurnNote, at: Timestamp) -> Result<(), EditError> {
        match note {
            TurnNote::Recall(text) => self.add(workspace, RECALL, EventKind::Recall, String::new(), text, at),
            TurnNote::Tool { number, name, text } => {
                let number = u16::try_from(*number).unwrap_or(u16::MAX).min(TOOL - 1);
                self.add(workspace, TOOL | number, EventKind::Tool, name.clone(), text, at)
            }
        }
    }

    /// Logs the answer with its line of facts.
    ///
    /// # Errors
    /// The log can't be written.
    pub fn answer(
        &self,
        workspace: &Workspace,
        text: &str,
        facts: &str,
        at: Timestamp,
    ) -> Result<(), EditError> {
        let content = if text.is_empty() { facts.to_owned() } else { format!("{text}\n{facts}") };
        self.add(workspace, ANSWER, EventKind::Agent, "routine".to_owned(), &content, at)
    }

    fn add(
        &self,
        workspace: &Workspace,
        part: u16,
        kind: EventKind,
        author: String,
        content: &str,
        at: Timestamp,
    ) -> Result<(), EditError> {
        let id = self.id(part);
        let there = match workspace.vault.read(&self.path) {
            Ok(bytes) => memchr::memmem::find(&bytes, format!("\n^{id}\n").as_bytes()).is_some(),
            Err(error) if error.is_not_found() => false,
            Err(error) => return Err(error.into()),
        };
        if there {
            return Ok(());
        }
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        let content = workspace.settings.hooks.redactor().apply(content).into_owned();
        let event = LogEvent { kind, at, author, content, id: Some(id) };
        let header = log::render_header(&self.header);
        workspace.editor.append(&self.path, header.as_bytes(), log::render_event(&event).as_bytes())
    }
}

/// A routine's folder: its name if that is a plain word; else its plain characters and a hash.
fn folder_of(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let word: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(40).collect();
    format!("{word}-{}", &blake3::hash(name.as_bytes()).to_hex()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_folder_of_its_own() {
        assert_eq!(folder_of("weekly-review"), "weekly-review");
        assert_ne!(folder_of("a b"), folder_of("a/b"));
        assert!(folder_of("Früh am Morgen").starts_with("Fr-h-am-Morgen-"));
    }

    #[test]
    fn a_run_has_an_id_that_is_no_message() {
        assert_eq!(message_of("morning@2026-12-01T08:00"), message_of("morning@2026-12-01T08:00"));
        assert_ne!(message_of("morning@2026-12-01T08:00"), message_of("morning@2026-12-02T08:00"));
        assert!(message_of("x") >= 1 << 63);
    }
}
