//! Reads a transcript from the position where the last reading stopped, and writes its content to the logs of the
//! session and of its sub-agents.
//!
//! A tool call and its result are one event. The next pass begins at the first call that has no result yet, so that it
//! finds call and result. A call that never gets a result is logged at the next prompt, or when the session ends. Lines
//! that are read twice are recognized by the names of their pieces.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;

use crate::format::log::{EventKind, tool_content};
use crate::hooks::archive::log_paths::{DecodedAttachment, LogPaths, log_name, project_of, store};
use crate::hooks::archive::read_state::LineReader;
use crate::hooks::archive::session_log::SessionLog;
use crate::hooks::archive::{ArchiveError, ArchiveRequest, Result};
use crate::hooks::host::entry::{self, ContentPart, EntryPiece, PieceKind, TranscriptEntry, name_of};
use crate::redact::Redactor;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// The bytes that are written at once.
const BATCH: usize = 512 << 10;
/// How many lines are read before the time is looked at.
const LINES: usize = 128;
/// A title is not longer than this, in characters.
const TITLE: usize = 80;

/// A reading.
pub struct ArchivePass<'w> {
    workspace: &'w Workspace,
    request: &'w ArchiveRequest,
    log_paths: LogPaths,
    mask: Redactor,
    /// The sub-agent that the transcript is of.
    agent: Option<String>,
    project: Option<String>,
    logs: BTreeMap<Option<String>, SessionLog>,
    /// Calls without a result, in their order, by their ids.
    open: Vec<OpenCall>,
    heads: Option<std::collections::HashMap<u128, NotePath>>,
    last: Timestamp,
}

/// A call that waits for its result.
struct OpenCall {
    line: u64,
    agent: Option<String>,
    at: Timestamp,
    name: u128,
    id: String,
    tool: String,
    arguments: serde_json::Value,
}

/// The position at which a reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadEnd {
    /// The offset at which the next pass goes on, in bytes.
    pub offset: u64,
    /// Whether this is all that there is.
    pub is_all: bool,
}

impl<'w> ArchivePass<'w> {
    /// A reading for `request`, of the transcript of the sub-agent `agent` or of the session itself.
    pub fn new(workspace: &'w Workspace, request: &'w ArchiveRequest, agent: Option<String>) -> Self {
        Self {
            workspace,
            request,
            log_paths: LogPaths::of(workspace),
            mask: workspace.settings.hooks.redactor(),
            agent,
            project: request.project.clone(),
            logs: BTreeMap::new(),
            open: Vec::new(),
            heads: None,
            last: workspace.clock.now(),
        }
    }

    /// Reads from byte `from` on, as long as `go_on` is true. `saved` gets each position up to which everything is on
    /// disk.
    ///
    /// # Errors
    /// The transcript can't be read, or a log can't be written.
    pub fn run(
        &mut self,
        transcript: &Path,
        from: u64,
        go_on: &dyn Fn() -> bool,
        saved: &mut dyn FnMut(u64),
    ) -> Result<ReadEnd> {
        let mut lines = LineReader::open(transcript, from).map_err(ArchiveError::Transcript)?;
        let (mut at, mut count) = (from, 0);
        while let Some(line) = lines.next().map_err(ArchiveError::Transcript)? {
            count += 1;
            let (start, end, is_ended) = (line.start, line.end, line.is_ended);
            match entry::read(line.bytes) {
                Ok(Some(entry)) => self.take_entry(entry, start)?,
                Ok(None) => {}
                // The host is still writing it.
                Err(_) if !is_ended => break,
                Err(_) if line.bytes.trim_ascii().is_empty() && !line.is_long => {}
                Err(_) => self.log_skipped_line(transcript, start, line.is_long.then_some(end))?,
            }
            at = if is_ended { end } else { start };
            let is_full = self.logs.values().map(SessionLog::waiting).sum::<usize>() >= BATCH;
            if is_full {
                self.flush()?;
                saved(self.resume(at));
            }
            if (is_full || count % LINES == 0) && !go_on() {
                self.flush()?;
                return Ok(ReadEnd { offset: self.resume(at), is_all: false });
            }
        }
        // A result may come all the same, so the next pass begins at these calls, too.
        let offset = self.resume(at);
        if self.request.ended {
            self.close_calls(None, true)?;
        }
        self.flush()?;
        Ok(ReadEnd { offset, is_all: true })
    }

    /// The logs that got events, and the number of events of each.
    pub fn added(&self) -> impl Iterator<Item = (&NotePath, usize)> {
        self.logs.values().filter(|log| log.added > 0).map(|log| (&log.path, log.added))
    }

    fn resume(&self, at: u64) -> u64 {
        self.open.iter().map(|call| call.line).min().map_or(at, |first| first.min(at))
    }

    /// Logs that a line of the transcript, too long up to `end` or no JSON, is not kept: an event of its own, named by
    /// its place.
    fn log_skipped_line(&mut self, transcript: &Path, start: u64, end: Option<u64>) -> Result<()> {
        let (agent, at) = (self.agent.clone(), self.last);
        let line = match end {
            Some(end) => format!("A line of {} MB of the transcript", (end - start) >> 20),
            None => "A line of the transcript that is no JSON".to_owned(),
        };
        let what = format!("{line} is not kept here: at byte {start} of `{}`.", transcript.display());
        tracing::warn!("a session is not kept whole: {what}");
        let name = name_of(&blake3::hash(what.as_bytes()));
        if !self.is_known(&agent, name, at)? {
            self.log_of(&agent)?.add(name, EventKind::System, at, "", what);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.logs.values_mut().try_for_each(|log| log.flush(&self.workspace.editor))
    }

    fn take_entry(&mut self, entry: TranscriptEntry, line: u64) -> Result<()> {
        if self.project.is_none()
            && let Some(cwd) = entry.cwd.as_ref()
        {
            self.project = Some(project_of(cwd));
        }
        let at = entry.at.unwrap_or(self.last);
        self.last = at;
        let agent = if self.agent.is_some() { self.agent.clone() } else { entry.agent };
        for EntryPiece { name, kind: what } in entry.pieces {
            match what {
                PieceKind::Said { kind, author, parts } => {
                    if self.is_known(&agent, name, at)? {
                        continue;
                    }
                    // A new prompt ends its turn; the results beside it have been taken.
                    if entry.is_prompt && kind == EventKind::User {
                        self.close_calls(Some(&agent), false)?;
                    }
                    self.log_spoken(&agent, name, at, (kind, &author), &parts)?;
                }
                PieceKind::Call { id, tool, arguments } => {
                    if !self.open.iter().any(|call| call.name == name) {
                        let agent = agent.clone();
                        self.open.push(OpenCall { line, agent, at, name, id, tool, arguments });
                    }
                }
                PieceKind::Result { call, parts, failed } => {
                    let open = self.open.iter().position(|open| open.id == call && open.agent == agent);
                    let open = open.map(|place| self.open.remove(place));
                    self.log_result(&agent, name, at, open, &parts, failed)?;
                }
            }
        }
        Ok(())
    }

    fn log_spoken(
        &mut self,
        agent: &Option<String>,
        name: u128,
        at: Timestamp,
        (kind, author): (EventKind, &str),
        parts: &[ContentPart],
    ) -> Result<()> {
        let mut lines = Vec::new();
        for part in parts {
            lines.push(match part {
                ContentPart::Text(text) => self.mask.apply(text).into_owned(),
                ContentPart::Data { media, base64 } => {
                    self.store(agent, &DecodedAttachment::decode(media, base64, &self.mask))?
                }
            });
        }
        let content = lines.join("\n");
        let log = self.log_of(agent)?;
        if kind == EventKind::User {
            log.set_title(|| crate::capture::sentences::one_line(&content, TITLE));
        }
        log.add(name, kind, at, author, content);
        Ok(())
    }

    fn log_result(
        &mut self,
        agent: &Option<String>,
        name: u128,
        at: Timestamp,
        call: Option<OpenCall>,
        parts: &[ContentPart],
        failed: bool,
    ) -> Result<()> {
        if self.is_known(agent, name, at)? {
            return Ok(());
        }
        let (mut texts, mut notes) = (Vec::new(), Vec::new());
        if failed {
            notes.push("the call failed".to_owned());
        }
        for part in parts {
            match part {
                ContentPart::Text(text) => texts.push(self.mask.apply(text)),
                ContentPart::Data { media, base64 } => {
                    let link = self.store(agent, &DecodedAttachment::decode(media, base64, &self.mask))?;
                    notes.push(format!("a part of the result is {link}"));
                }
            }
        }
        let result = self.shortened(agent, texts.join("\n"), "result", &mut notes)?;
        let call = call.unwrap_or_else(|| {
            notes.push("the call was not found in the transcript".to_owned());
            let (agent, arguments) = (agent.clone(), serde_json::Value::Null);
            OpenCall { line: 0, agent, at, name, id: String::new(), tool: "tool".to_owned(), arguments }
        });
        self.log_call(name, call, &result, notes)
    }

    /// Logs a call under `name` with its result.
    fn log_call(
        &mut self,
        name: u128,
        mut call: OpenCall,
        result: &str,
        mut notes: Vec<String>,
    ) -> Result<()> {
        self.mask.apply_to(&mut call.arguments);
        let arguments = if call.arguments.is_null() { String::new() } else { call.arguments.to_string() };
        // In a list only what stands before a value says what it is: `["--password", "…"]`.
        let arguments = self.mask.apply(&arguments).into_owned();
        let arguments = self.shortened(&call.agent, arguments, "arguments", &mut notes)?;
        let content = tool_content(&arguments, result, &notes);
        self.log_of(&call.agent)?.add(name, EventKind::Tool, call.at, &call.tool, content);
        Ok(())
    }

    /// Logs the calls that get no result any more: those of an agent, or all.
    fn close_calls(&mut self, agent: Option<&Option<String>>, is_end: bool) -> Result<()> {
        let (lost, open): (Vec<OpenCall>, Vec<OpenCall>) =
            std::mem::take(&mut self.open).into_iter().partition(|call| is_end || agent == Some(&call.agent));
        self.open = open;
        for call in lost {
            if !self.is_known(&call.agent, call.name, call.at)? {
                self.log_call(call.name, call, "", vec!["no result came".to_owned()])?;
            }
        }
        Ok(())
    }

    /// A text that may stand in the log; of a long one the beginning and the end, with the whole in a file.
    fn shortened(
        &mut self,
        agent: &Option<String>,
        text: String,
        what: &str,
        notes: &mut Vec<String>,
    ) -> Result<String> {
        let Some(short) = crate::hooks::archive::log_paths::shortened(&text) else { return Ok(text) };
        let link = self.store(agent, &DecodedAttachment::text(text))?;
        notes.push(format!("the whole {what}: {link}"));
        Ok(short)
    }

    fn store(&mut self, agent: &Option<String>, file: &DecodedAttachment) -> Result<String> {
        let project = self.log_of(agent)?.project.clone();
        store(&self.workspace.editor, &self.log_paths, &project, file)
    }

    fn log_of(&mut self, agent: &Option<String>) -> Result<&mut SessionLog> {
        if !self.logs.contains_key(agent) {
            let name = log_name(&self.request.session, agent.as_deref());
            // A sub-agent's log stands beside its session's.
            let session = agent.as_ref().map(|_| log_name(&self.request.session, None));
            let beside = session.and_then(|session| self.log_paths.find(&session));
            let project = match (beside, &self.project, &self.request.cwd) {
                (Some((folder, _)), ..) => folder,
                (None, Some(project), _) => project.clone(),
                (None, None, Some(cwd)) => project_of(cwd),
                (None, None, None) => "unknown".to_owned(),
            };
            let log = SessionLog::open(&self.log_paths, &project, &name)?;
            self.logs.insert(agent.clone(), log);
        }
        Ok(self.logs.get_mut(agent).expect("it was put there just now"))
    }

    /// Whether a piece is in the log, or in one that the session goes on from.
    fn is_known(&mut self, agent: &Option<String>, name: u128, at: Timestamp) -> Result<bool> {
        let log = self.log_of(agent)?;
        if log.contains(name) {
            return Ok(true);
        }
        if !log.may_continue {
            return Ok(false);
        }
        let heads = self.heads.get_or_insert_with(|| self.log_paths.heads());
        let Some(other) = heads.remove(&name) else { return Ok(false) };
        let log_paths = self.log_paths.clone();
        let log = self.log_of(agent)?;
        if other == log.path {
            return Ok(false);
        }
        log.continue_from(&log_paths, &other, at)?;
        Ok(log.contains(name))
    }
}
