//! Appends to a session's log the pieces that the log doesn't hold yet.
//!
//! An event's block id ends with its piece's name ([`crate::hooks::host::entry`]). So the log alone shows its pieces,
//! and none is added twice after a crash or a repeated reading. A process that is killed while it writes leaves the
//! beginning of an event; the next process recognizes that beginning and writes the rest.

use std::collections::HashSet;

use jiff::Timestamp;
use ulid::Ulid;

use crate::format::log::{self, EventKind, LogEvent, LogHeader};
use crate::hooks::archive::Result;
use crate::hooks::archive::log_paths::{CONTINUES, LogPaths, continued_log, each_line, name_in};
use crate::hooks::host::entry::name_of;
use crate::vault::{Editor, NotePath, Vault};

/// A longer torn end was written by a person. In bytes.
const MAX_TORN_BYTES: usize = 32 << 20;

/// A log being written.
#[derive(Debug)]
pub struct SessionLog {
    pub(super) path: NotePath,
    pub(super) project: String,
    /// The names of what it holds, and of what the logs hold that it goes on from.
    known: HashSet<u128>,
    /// The bytes behind its last whole event.
    torn: Vec<u8>,
    /// Whether it is new, or goes on from another.
    pub(super) may_continue: bool,
    header: LogHeader,
    text: String,
    pub(super) added: usize,
}

impl SessionLog {
    /// Opens the log called `name`; where there is none, one that will stand in the folder of `project`.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn open(log_paths: &LogPaths, project: &str, name: &str) -> Result<Self> {
        let found = log_paths.find(name);
        let is_there = found.is_some();
        let (project, path) = match found {
            Some(found) => found,
            None => (project.to_owned(), log_paths.log(project, name)?),
        };
        let header = LogHeader {
            surface: crate::hooks::context::CLIENT.to_owned(),
            context_id: project.clone(),
            ..LogHeader::default()
        };
        let (known, torn, text, added) = Default::default();
        let mut log = Self { path, project, known, torn, may_continue: !is_there, header, text, added };
        if is_there {
            let held = LogContents::of(&log_paths.vault, &log.path)?;
            (log.known, log.torn, log.may_continue) = (held.names, held.torn, !held.from.is_empty());
            for target in held.from {
                if let Some(path) = log_paths.linked(&target) {
                    log.learn_pieces_of(log_paths, &path)?;
                }
            }
        }
        Ok(log)
    }

    /// Whether it holds a piece.
    pub fn contains(&self, name: u128) -> bool {
        self.known.contains(&name)
    }

    /// Bytes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.text.len()
    }

    /// Sets its title: its first message.
    pub fn set_title(&mut self, title: impl FnOnce() -> String) {
        if self.header.title.is_none() {
            self.header.title = Some(title()).filter(|title| !title.is_empty());
        }
    }

    /// Adds an event.
    pub fn add(&mut self, name: u128, kind: EventKind, at: Timestamp, author: &str, content: String) {
        let ms = u128::try_from(at.as_millisecond().max(0)).unwrap_or(0) & ((1 << 48) - 1);
        let second = Timestamp::from_second(at.as_second()).unwrap_or(at);
        self.header.started.get_or_insert(second);
        let id = Some(Ulid((ms << 80) | name).to_string());
        let event = LogEvent { kind, at: second, author: author.to_owned(), content, id };
        self.text.push_str(&log::render_event(&event));
        self.known.insert(name);
        self.added += 1;
    }

    /// Marks it as the continuation of another log, whose pieces are not added again.
    ///
    /// # Errors
    /// That log can't be read.
    pub fn continue_from(&mut self, log_paths: &LogPaths, other: &NotePath, at: Timestamp) -> Result<()> {
        self.learn_pieces_of(log_paths, other)?;
        let target = other.as_str().trim_end_matches(".md");
        let name = name_of(&blake3::hash(format!("{} {target}", self.path).as_bytes()));
        if !self.contains(name) {
            self.add(name, EventKind::System, at, "", format!("{CONTINUES}{target}]]."));
        }
        Ok(())
    }

    fn learn_pieces_of(&mut self, log_paths: &LogPaths, other: &NotePath) -> Result<()> {
        if *other != self.path && log_paths.vault.exists(other) {
            self.known.extend(LogContents::of(&log_paths.vault, other)?.names);
        }
        Ok(())
    }

    /// Writes what waits; on return it is on disk.
    ///
    /// # Errors
    /// The log can't be written.
    pub fn flush(&mut self, editor: &Editor) -> Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let bytes = self.text.as_bytes();
        fail::fail_point!("archive::flush");
        match bytes.strip_prefix(&self.torn[..]) {
            Some(rest) if !self.torn.is_empty() => editor.finish_append(&self.path, rest)?,
            _ => editor.append(&self.path, log::render_header(&self.header).as_bytes(), bytes)?,
        }
        fail::fail_point!("archive::flushed");
        self.torn = Vec::new();
        self.text.clear();
        self.text.shrink_to(1 << 20);
        Ok(())
    }
}

/// The contents of a log.
#[derive(Debug, Default)]
struct LogContents {
    names: HashSet<u128>,
    torn: Vec<u8>,
    /// The targets of the links to logs that it goes on from.
    from: Vec<String>,
}

impl LogContents {
    fn of(vault: &Vault, path: &NotePath) -> Result<Self> {
        let mut held = Self::default();
        let mut is_person = false;
        each_line(vault, path, |line| {
            if let Some(name) = name_in(line) {
                held.names.insert(name);
                held.torn.clear();
                is_person = false;
                return true;
            }
            if let Some(target) = continued_log(line) {
                held.from.push(target);
            }
            is_person |= held.torn.len() + line.len() > MAX_TORN_BYTES;
            if is_person {
                held.torn = Vec::new();
            } else {
                held.torn.extend_from_slice(line);
            }
            true
        })?;
        Ok(held)
    }
}
