//! Writes a run's log, a file for each run: `logs/routines/NAME/<due time>_0001.md`. Runs on request have higher
//! numbers. Also implements a run's [`Conversation`], whose entries go into the log, and its [`TurnMemory`]: the
//! gathered material and the memories that are recalled for the prompt.
//!
//! Each event's id is computed from the run alone. So a repeated write adds no second event, and the request can be
//! rebuilt from the log. A log holds one run only, because runs are independent of each other.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ulid::Ulid;

use super::run_texts::{self, RunSection};
use super::{message_of, run_material};
use crate::agent::{RecalledContext, TurnMemory};
use crate::deliver::delivery_journal::{RoutineRun, run_claim, run_key};
use crate::deliver::{self, Journal};
use crate::format::approval::Approval;
use crate::format::log::{self, EventKind, FOUND_NOTHING, LogEvent, LogHeader, LogPath, ROUTINES};
use crate::format::routine::RoutineSchedule;
use crate::schedule::Timetable;
use crate::turn::{Conversation, TurnNote};
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
pub struct RunLog<'a> {
    workspace: &'a Workspace,
    path: NotePath,
    header: LogHeader,
    base: Ulid,
}

/// The due time of the last scheduled run whose answer stands in the routine's logs. So a vault knows
/// its runs where the journal doesn't: on another machine, or after its state was deleted. A run that another machine
/// answered and may not have sent doesn't count.
pub fn last_answered(workspace: &Workspace, routine: &str, schedule: &RoutineSchedule) -> Option<Timestamp> {
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
    let is_open = |due: Timestamp| {
        // A time that the clocks skip is in the key as the schedule says it.
        let run = Timetable::new(&workspace.zone, schedule).latest(due).filter(|run| run.at == due);
        let local = run.map_or_else(|| workspace.zone.tz().to_datetime(due), |run| run.local);
        let claim = run_claim(&run_key(routine, local));
        claim.is_some_and(|claim| workspace.machines.is_claimed_elsewhere(&claim))
    };
    runs.into_iter().find(|(due, path)| is_answered(path) && !is_open(*due)).map(|(due, _)| due)
}

/// Whether a person asked for a run.
pub fn is_asked_for(key: &str) -> bool {
    key.rsplit_once('@').is_some_and(|(_, rest)| rest.starts_with("run-"))
}

impl<'a> RunLog<'a> {
    /// Of this run.
    pub fn of(workspace: &'a Workspace, run: &RoutineRun) -> Self {
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
        let path = workspace.note(&path.in_folder(workspace.settings.paths.logs.trim_end_matches('/')));
        Self { workspace, path, header, base }
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
    pub fn question(&self, text: &str, at: Timestamp) -> Result<(), EditError> {
        self.add(QUESTION, EventKind::User, &self.header.context_id, text, at)
    }

    /// Logs a note of the turn.
    ///
    /// # Errors
    /// The log can't be written.
    pub fn note(&self, note: &TurnNote, at: Timestamp) -> Result<(), EditError> {
        match note {
            TurnNote::Recall(text) => self.add(RECALL, EventKind::Recall, "", text, at),
            TurnNote::Tool { number, name, text } => {
                let number = u16::try_from(*number).unwrap_or(u16::MAX).min(TOOL - 1);
                self.add(TOOL | number, EventKind::Tool, name, text, at)
            }
        }
    }

    /// Logs the answer with its line of facts.
    ///
    /// # Errors
    /// The log can't be written.
    pub fn answer(&self, text: &str, facts: &str, at: Timestamp) -> Result<(), EditError> {
        let content = if text.is_empty() { facts.to_owned() } else { format!("{text}\n{facts}") };
        self.add(ANSWER, EventKind::Agent, "routine", &content, at)
    }

    fn add(
        &self,
        part: u16,
        kind: EventKind,
        author: &str,
        content: &str,
        at: Timestamp,
    ) -> Result<(), EditError> {
        let (workspace, id) = (self.workspace, self.id(part));
        let bytes = workspace.vault.read_or_empty(&self.path)?;
        if memchr::memmem::find(&bytes, format!("\n^{id}\n").as_bytes()).is_some() {
            return Ok(());
        }
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        let redactor = workspace.settings.hooks.redactor();
        let [author, content] = [author, content].map(|text| redactor.apply(text).into_owned());
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

/// The conversation of a run: its log.
pub(super) struct RunConversation<'a> {
    pub log: &'a RunLog<'a>,
    pub journal: &'a Journal,
    pub routine: &'a str,
}

#[async_trait]
impl Conversation for RunConversation<'_> {
    fn note(&self, note: TurnNote) {
        // It is written again, from the journal, before the run is done.
        if let Err(error) = self.log.note(&note, self.log.workspace.clock.now()) {
            tracing::warn!("a routine's log can't be written: {error}");
        }
    }

    async fn ask_approval(&self, asked: &Approval) {
        let workspace = self.log.workspace;
        let note = &workspace.settings.paths.approvals;
        let text =
            format!("The routine `{}` asks for approval: tick `{}` in `{note}`.", self.routine, asked.id);
        let name = format!("approval {}", asked.id);
        if let Err(error) = deliver::notice_once(self.journal, &name, &text, workspace.clock.now()) {
            tracing::warn!("{error}");
        }
    }
}

/// The time limit of recall; the gathered material is given in any case.
const TIME: Duration = Duration::from_millis(200);

/// The memory of one run.
pub struct RunMemory {
    /// The vault's.
    pub inner: Arc<dyn TurnMemory>,
    /// The vault.
    pub workspace: Arc<Workspace>,
    /// The routine's prompt.
    pub prompt: String,
    /// The gathered material.
    pub sections: Vec<RunSection>,
    /// Whether it may have nothing to say.
    pub quiet: bool,
}

#[async_trait]
impl TurnMemory for RunMemory {
    async fn context_for(&self, _: &str, without: &[&str]) -> Result<RecalledContext, String> {
        let found = tokio::time::timeout(TIME, self.inner.context_for(&self.prompt, without)).await;
        let given = found.unwrap_or_else(|_| Ok(RecalledContext::default())).unwrap_or_default();
        Ok(RecalledContext {
            injection: run_texts::for_brain(&given.injection, &self.sections),
            links: given.links,
        })
    }

    async fn answer(&self, _: &str, own: &[&str]) -> Result<String, String> {
        let workspace = Arc::clone(&self.workspace);
        let now = workspace.clock.now();
        let agenda = tokio::task::spawn_blocking(move || run_material::agenda(&workspace, now));
        let agenda = agenda.await.map_err(|error| format!("internal error: {error}"))?;
        let agenda = agenda.map_err(|error| error.to_string())?;
        let mut sections = self.sections.clone();
        sections.extend(
            agenda
                .into_iter()
                .filter(|section| self.sections.iter().all(|known| known.title != section.title)),
        );
        let told = run_texts::for_people(&sections);
        let recalled = match self.inner.answer(&self.prompt, own).await {
            Ok(text) if text == FOUND_NOTHING => String::new(),
            Ok(text) => text,
            Err(problem) if told.is_empty() => return Err(problem),
            Err(_) => String::new(),
        };
        let parts = [told, recalled].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        Ok(match (parts.is_empty(), self.quiet) {
            (false, _) => parts.join("\n\n"),
            (true, true) => "NONE".to_owned(),
            (true, false) => {
                "Nothing is due, nothing was promised, and your notes say nothing about this.".to_owned()
            }
        })
    }
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
