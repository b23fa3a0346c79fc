//! Finds, reads and writes the notes of summaries.
//!
//! The summaries of the log `logs/a/b/c.md` stand in the folder `summaries/a/b/c/`. The notes are the only state, and
//! each call reads them again. Notes are written through the editing engine, and read back afterwards.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::due::DueSummary;
use super::plan::DueScope;
use super::proof::SummaryFault;
use super::window::{SummaryNote, Window};
use crate::format::harmless::without_comments;
use crate::format::log::{self, LogBlock};
use crate::format::summary::{self, Summary};
use crate::turn::history;
use crate::turn::past_context::PastSummary;
use crate::vault::{Actor, EditError, EditPlan, NotePath, Origin, PathError, VaultError};
use crate::workspace::Workspace;

/// Summaries can't be read, found or written.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// A path is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A note can't be read.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// A note can't be written.
    #[error(transparent)]
    Write(#[from] EditError),
    /// No summary has this id.
    #[error("no summary has the id `{0}`")]
    Unknown(String),
    /// A search without words.
    #[error("there is nothing to search for")]
    Empty,
    /// The log no longer holds the events of a summary.
    #[error("what `{id}` covers can't be given back: {why}")]
    Lost {
        /// The summary.
        id: String,
        /// Reason and remedy.
        why: String,
    },
    /// The pattern of a search is none.
    #[error("`{0}` is no regular expression: {1}")]
    Pattern(String, String),
    /// The search for a pattern takes too long.
    #[error("the search takes too long; give a simpler pattern, or words")]
    Slow,
    /// Somebody changed the note meanwhile, and it stays as it is.
    #[error("`{0}` was changed while its summary was made, and stays as it is")]
    Changed(NotePath),
}

pub(super) type Result<T, E = SummaryError> = std::result::Result<T, E>;

/// The text of a summary, and its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryText {
    /// Its text.
    pub text: String,
    /// The brain, or `extract`.
    pub brain: String,
    /// `<producer>/<version>`, or `process:<name>`.
    pub by: String,
}

impl SummaryText {
    /// An extract for a due summary, made without a brain.
    pub fn extract(due: &DueSummary) -> Self {
        let text =
            super::extract::extract(&due.texts, due.summary.depth, super::plan::target(due.summary.depth));
        Self { text, brain: summary::EXTRACT.to_owned(), by: "process:vault-agent".to_owned() }
    }
}

/// The summaries of a vault.
#[derive(Debug)]
pub struct Summaries<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) logs: String,
    folder: String,
}

/// The summary notes of one log, and the notes that are not valid summaries.
#[derive(Debug, Default)]
pub(super) struct LogSummaries {
    pub(super) notes: Vec<SummaryNote>,
    pub(super) strays: Vec<SummaryFault>,
}

impl<'w> Summaries<'w> {
    /// Those of this vault; reads nothing.
    pub fn of(workspace: &'w Workspace) -> Self {
        let paths = &workspace.settings.paths;
        let folder = |path: &str| path.trim_end_matches('/').to_owned();
        Self { workspace, logs: folder(&paths.logs), folder: folder(&paths.summaries) }
    }

    /// The log at this path, or the log of the summary at this path, as its path below the folder of logs, without `.md`:
    /// `discord-channel/7/20260130T142355Z_0001`. `None` for other notes.
    pub fn log_of(&self, path: &NotePath) -> Option<String> {
        let below = |folder: &str| path.as_str().strip_prefix(folder)?.strip_prefix('/');
        if let Some(name) = below(&self.logs) {
            return Some(name.strip_suffix(".md")?.to_owned());
        }
        Some(below(&self.folder)?.rsplit_once('/')?.0.to_owned())
    }

    /// The path of a log.
    ///
    /// # Errors
    /// The name is no path.
    pub fn log_path(&self, name: &str) -> Result<NotePath> {
        Ok(NotePath::new(&format!("{}/{name}.md", self.logs))?)
    }

    /// All logs with their sizes in bytes.
    ///
    /// # Errors
    /// The folder can't be listed.
    pub fn logs(&self) -> Result<Vec<(String, u64)>> {
        let found = self.notes_below(&self.logs)?;
        Ok(found.into_iter().filter_map(|(path, size)| Some((self.log_of(&path)?, size))).collect())
    }

    /// The logs that have summaries.
    ///
    /// # Errors
    /// The folder can't be listed.
    pub fn summarised(&self) -> Result<BTreeSet<String>> {
        Ok(self.notes_below(&self.folder)?.iter().filter_map(|(path, _)| self.log_of(path)).collect())
    }

    pub(super) fn notes_below(&self, folder: &str) -> Result<Vec<(NotePath, u64)>> {
        let entries = self.workspace.vault.notes_below(NotePath::new(folder)?)?;
        let mut found: Vec<_> = entries.into_iter().map(|entry| (entry.path, entry.stat.size)).collect();
        found.sort();
        Ok(found)
    }

    /// A log with its summaries, as the notes stand now.
    ///
    /// # Errors
    /// A note can't be read.
    pub fn window(&self, name: &str) -> Result<Window> {
        let summaries = self.log_summaries(name)?;
        self.window_of(name, name, summaries.notes)
    }

    /// The summaries and events of a log for a request, from the log's events, which are given back.
    pub fn past_summaries(
        &self,
        path: &str,
        blocks: Vec<LogBlock>,
    ) -> (Result<Vec<PastSummary>>, Vec<LogBlock>) {
        let name = NotePath::new(path).ok().and_then(|path| self.log_of(&path));
        let Some(name) = name else { return (Ok(Vec::new()), blocks) };
        match self.log_summaries(&name) {
            Ok(summaries) if summaries.notes.is_empty() => (Ok(Vec::new()), blocks),
            Ok(summaries) => {
                let window = Window::new(&name, path, None, blocks, summaries.notes);
                (Ok(window.past_summaries()), window.blocks)
            }
            Err(error) => (Err(error), blocks),
        }
    }

    /// The summaries of a log with these ids. `read` gives the bytes of their notes, now or at an earlier time. A
    /// missing summary is left out.
    ///
    /// # Errors
    /// The folder can't be listed.
    pub fn summaries_by_id(
        &self,
        path: &str,
        ids: &[String],
        read: &dyn Fn(&str) -> Vec<u8>,
    ) -> Result<Vec<PastSummary>> {
        let Some(name) = self.log_of(&NotePath::new(path)?) else { return Ok(Vec::new()) };
        let notes = self.notes_below(&format!("{}/{name}", self.folder))?;
        let read: Vec<Summary> =
            notes.iter().filter_map(|(path, _)| summary::parse(&read(path.as_str())).0).collect();
        let past = ids.iter().filter_map(|id| {
            let summary = read.iter().find(|summary| summary.id == *id)?;
            let (first, last) = summary.covers.clone()?;
            Some(PastSummary { id: id.clone(), text: summary.text.clone(), first, last, at: summary.at })
        });
        Ok(past.collect())
    }

    /// As [`Summaries::window`], from these notes. A log that a person moved since is read where it stands now, if its
    /// file has kept its name: a moved log gets summaries of its own, and the old ones still hold. `logs` are all logs,
    /// once they were needed.
    pub(super) fn moved_window(
        &self,
        name: &str,
        notes: Vec<SummaryNote>,
        logs: &mut Option<Vec<(String, u64)>>,
    ) -> Result<Window> {
        let vault = &self.workspace.vault;
        let first = notes.iter().find_map(|note| Some(format!("\n^{}", note.summary.covers.as_ref()?.0)));
        let Some(first) = first.filter(|_| self.log_path(name).is_ok_and(|path| !vault.exists(&path))) else {
            return self.window_of(name, name, notes);
        };
        let file_of = |name: &str| name.rsplit('/').next().map(str::to_owned);
        let logs = match logs {
            Some(logs) => logs,
            None => logs.insert(self.logs()?),
        };
        for (other, _) in logs.iter().filter(|(other, _)| file_of(other) == file_of(name)) {
            let bytes = vault.read_if_there(&self.log_path(other)?)?.unwrap_or_default();
            if memchr::memmem::find(&bytes, first.as_bytes()).is_some() {
                return self.window_of(name, other, notes);
            }
        }
        self.window_of(name, name, notes)
    }

    /// The window of `name`, whose log stands at `place`.
    fn window_of(&self, name: &str, place: &str, notes: Vec<SummaryNote>) -> Result<Window> {
        let bytes = self.workspace.vault.read_if_there(&self.log_path(place)?)?;
        let blocks = bytes.as_deref().map(events).unwrap_or_default();
        Ok(Window::new(name, &format!("{}/{place}", self.logs), bytes, blocks, notes))
    }

    fn log_summaries(&self, name: &str) -> Result<LogSummaries> {
        let folder = format!("{}/{name}", self.folder);
        let mut summaries = LogSummaries::default();
        for (path, _) in self.notes_below(&folder)? {
            if path.parent().is_some_and(|parent| parent.as_str() == folder) {
                self.read_note(&path, &mut summaries)?;
            }
        }
        Ok(summaries)
    }

    /// Reads one note; a note that is no summary goes to the strays.
    fn read_note(&self, path: &NotePath, summaries: &mut LogSummaries) -> Result<()> {
        let Some(bytes) = self.workspace.vault.read_if_there(path)? else { return Ok(()) };
        let (read, findings) = summary::parse(&bytes);
        match read {
            Some(summary) => {
                let head = crate::format::lines::frontmatter_end(&bytes).unwrap_or_default();
                let blank = bytes[head..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let line = 1 + memchr::memchr_iter(b'\n', &bytes[..head + blank]).count();
                let is_edited = summary::is_edited(&summary, &bytes);
                summaries.notes.push(SummaryNote { path: path.to_string(), line, is_edited, summary });
            }
            None => {
                let why = findings.first().map_or("it is no summary", |finding| finding.reason.as_str());
                summaries.strays.push(SummaryFault { id: path.to_string(), why: why.to_owned() });
            }
        }
        Ok(())
    }

    /// All notes by their logs.
    pub(super) fn all_logs(&self) -> Result<BTreeMap<String, LogSummaries>> {
        let mut all_logs: BTreeMap<String, LogSummaries> = BTreeMap::new();
        for (path, _) in self.notes_below(&self.folder)? {
            if let Some(name) = self.log_of(&path) {
                self.read_note(&path, all_logs.entry(name).or_default())?;
            }
        }
        Ok(all_logs)
    }

    /// The summaries of a log that are to be made next. After they are written, others may be due.
    ///
    /// # Errors
    /// A note can't be read.
    pub fn due(&self, name: &str, scope: DueScope) -> Result<Vec<DueSummary>> {
        Ok(self.window(name)?.due(scope, self.workspace.zone.tz()))
    }

    /// Writes a due summary of the log as it was at `read`, and reads it back. Code of plugins and comments in it
    /// become text.
    ///
    /// # Errors
    /// The note can't be written.
    pub fn write(
        &self,
        name: &str,
        due: &DueSummary,
        text: &SummaryText,
        read: Timestamp,
    ) -> Result<SummaryNote> {
        let words = without_comments(text.text.trim());
        let summary = Summary {
            tokens: history::estimate(&words),
            brain: text.brain.clone(),
            by: text.by.clone(),
            at: read,
            text: words,
            ..due.summary.clone()
        };
        let bytes = summary::render(&summary).into_bytes();
        let origin = Origin::new(Actor::Assistant).client(text.brain.as_str());
        let why = origin.why(format!("summarised: {name}")).trailer(summary::TRAILER, &due.summary.id);
        let path = match &due.replaces {
            Some(known) => {
                let path = NotePath::new(&known.path)?;
                let is_known = |now: &[u8]| {
                    summary::parse(now).0.is_some_and(|now_says| {
                        now_says == known.summary && !summary::is_edited(&now_says, now)
                    })
                };
                self.workspace.editor.edit_with(&path, &why, |now| {
                    if is_known(now) { EditPlan::Bytes(bytes.clone()) } else { EditPlan::NOTHING }
                })?;
                path
            }
            None => {
                let path = self.free_path(name, due)?;
                self.workspace.editor.create(&path, &bytes, &why)?;
                path
            }
        };
        let mut summaries = LogSummaries::default();
        self.read_note(&path, &mut summaries)?;
        summaries.notes.pop().filter(|note| note.summary == summary).ok_or(SummaryError::Changed(path))
    }

    /// `d0-0001.md`: the place in its depth, or the first free one behind it.
    fn free_path(&self, name: &str, due: &DueSummary) -> Result<NotePath> {
        let path = |number: usize| {
            NotePath::new(&format!("{}/{name}/d{}-{number:04}.md", self.folder, due.summary.depth))
        };
        let mut number = due.before + 1;
        while self.workspace.vault.exists(&path(number)?) {
            number += 1;
        }
        Ok(path(number)?)
    }
}

/// The events of a log, of whichever of its two forms.
pub(super) fn events(bytes: &[u8]) -> Vec<LogBlock> {
    log::parse_headings(bytes).unwrap_or_else(|| log::parse(bytes)).blocks
}
