//! Appends each Discord message to the log of its channel, exactly once: messages of bound channels, of their threads,
//! and of the owners' DMs.
//!
//! A block's id holds its message's id ([`snowflake`]), so the log itself shows which messages it holds, and repeated
//! events are written once. Written blocks never change: edits and deletions are further events. Secrets are masked.
//! Appending reads at most the end of the file. Only a reply to, or a change of, a message outside the index searches
//! all files of the channel.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp, Unit};

use super::channel_log::{ChannelLog, floor, render, system};
use crate::clock::Clock;
use crate::discord::api::snowflake::{self, BlockEvent};
use crate::format::log::{self, EventKind, LogHeader, LogPath};
use crate::redact::Redactor;
use crate::vault::{EditError, Editor, NotePath};

pub use super::channel_log::{BY_COMMAND, LogEntry, Surface, deletion, edit, entries};

/// How much of the log is read at the start.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The logs of all contexts.
pub struct Logbook {
    editor: Arc<Editor>,
    logs: String,
    clock: Arc<dyn Clock>,
    redactor: Redactor,
    contexts: Mutex<HashMap<u64, ChannelLog>>,
}

impl Logbook {
    /// The logs below the folder `logs` of the editor's vault; `redactor` takes secrets out of what is logged.
    pub fn new(editor: Arc<Editor>, logs: &str, clock: Arc<dyn Clock>, redactor: Redactor) -> Self {
        Self { editor, logs: logs.to_owned(), clock, redactor, contexts: Mutex::default() }
    }

    /// The contexts of a surface that have a log.
    pub fn contexts(&self, surface: Surface) -> Vec<u64> {
        let names = self.names_in(&format!("{}/{}", self.logs, surface.as_str()));
        let mut found: Vec<u64> = names.filter_map(|name| name.parse().ok()).collect();
        found.sort_unstable();
        found
    }

    /// Builds the index of a context's log, once; `mentions` tells whether a text addresses the bot.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn open(
        &self,
        surface: Surface,
        id: u64,
        title: Option<&str>,
        mentions: impl Fn(&str) -> bool,
    ) -> Result<(), EditError> {
        if self.lock().contains_key(&id) {
            return Ok(());
        }
        let windows = self.windows(surface, id);
        let mut context = ChannelLog {
            surface,
            title: title.map(|title| self.redactor.apply(title).into_owned()),
            windows: windows.clone(),
            ..ChannelLog::default()
        };
        // The newest windows, as far back as a week before the newest message.
        let mut read: Vec<Vec<LogEntry>> = Vec::new();
        let mut newest = None;
        for window in windows.iter().rev() {
            let bytes = self.editor.vault().read(&self.path(window))?;
            let blocks = log::parse(&bytes).blocks.into_iter();
            let entries: Vec<LogEntry> = blocks.filter_map(|block| LogEntry::of(block.event)).collect();
            newest = newest.max(entries.iter().map(|entry| entry.message).max());
            read.push(entries);
            let far = newest.and_then(|newest| snowflake::time_of(newest).checked_sub(LOOK_BACK).ok());
            if far.is_some_and(|far| window.started < far) {
                break;
            }
        }
        let unread = windows.len() - read.len();
        for (index, entries) in (unread..).zip(read.iter().rev()) {
            for entry in entries {
                context.add(entry, index);
                if entry.kind == EventKind::User && mentions(&entry.content) {
                    context.bind(snowflake::time_of(entry.message));
                }
            }
        }
        // Windows that weren't read are older than the first one that was.
        if unread > 0 {
            context.floor = snowflake::first_at(windows[unread].started);
        }
        self.lock().entry(id).or_insert(context);
        Ok(())
    }

    fn windows(&self, surface: Surface, id: u64) -> Vec<LogPath> {
        let folder = format!("{}/{}/{id}", self.logs, surface.as_str());
        let names = self.names_in(&folder);
        let mut windows: Vec<LogPath> =
            names.filter_map(|name| LogPath::parse(&self.logs, &format!("{folder}/{name}"))).collect();
        windows.sort_by_key(|window| (window.started, window.seq));
        windows
    }

    /// The names in a folder of the vault.
    fn names_in(&self, folder: &str) -> impl Iterator<Item = String> + use<> {
        let entries = std::fs::read_dir(self.editor.vault().root().join(folder));
        entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok())
    }

    fn path(&self, window: &LogPath) -> NotePath {
        NotePath::new(&window.in_folder(&self.logs))
            .expect("the settings' paths are validated when they are read")
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, ChannelLog>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends the entries that the log doesn't hold yet, in order, with one write for each window: an edit or a
    /// deletion to the one that holds its message, all else to the newest. Returns for each whether it was new.
    ///
    /// # Errors
    /// A log can't be written; then none of its entries counts as logged.
    pub fn record(&self, id: u64, entries: &[LogEntry]) -> Result<Vec<bool>, EditError> {
        let mut contexts = self.lock();
        let Some(context) = contexts.get_mut(&id) else { return Ok(vec![false; entries.len()]) };
        let without_secrets = |entry: &LogEntry| LogEntry {
            author: self.redactor.apply(&entry.author).into_owned(),
            content: self.redactor.apply(&entry.content).into_owned(),
            ..entry.clone()
        };
        let entries: Vec<LogEntry> = entries.iter().map(without_secrets).collect();
        let mut fresh = BTreeSet::new();
        let new: Vec<bool> = entries
            .iter()
            .map(|e| !context.holds(e.message, e.part) && fresh.insert((e.message, e.part)))
            .collect();
        if fresh.is_empty() {
            return Ok(new);
        }
        if context.windows.is_empty() {
            let window = self.next_window(id, context);
            context.windows.push(window);
        }
        let fresh = entries.iter().zip(&new).filter(|(_, new)| **new);
        let fresh: Vec<_> = fresh.map(|(entry, _)| (self.window_for(context, entry), entry)).collect();
        for group in fresh.chunk_by(|(window, _), (next, _)| window == next) {
            let text: String = group.iter().map(|(_, entry)| render(entry)).collect();
            self.append(id, context, group[0].0, &text)?;
            group.iter().for_each(|(window, entry)| context.add(entry, *window));
        }
        context.prune();
        Ok(new)
    }

    /// Ends a context's window with a remark, and begins the next file. Returns its path.
    ///
    /// # Errors
    /// A log can't be written.
    pub fn new_window(&self, id: u64, who: &str) -> Result<Option<String>, EditError> {
        let mut contexts = self.lock();
        let Some(context) = contexts.get_mut(&id) else { return Ok(None) };
        let now = self.clock.now();
        if !context.windows.is_empty() {
            let end = system(now, who, "This window ended here: `/new`.");
            self.append(id, context, context.windows.len() - 1, &log::render_event(&end))?;
        }
        let window = self.next_window(id, context);
        let path = self.path(&window);
        context.windows.push(window);
        self.append(id, context, context.windows.len() - 1, "")?;
        Ok(Some(path.as_str().to_owned()))
    }

    /// The window for an entry, by its place; a change of a message whose window is gone goes to the newest one, too.
    fn window_for(&self, context: &ChannelLog, entry: &LogEntry) -> usize {
        let is_change = matches!(entry.part, BlockEvent::Edit(_) | BlockEvent::Deletion);
        let own = if is_change { self.window_of(context, entry.message) } else { None };
        let is_there = |window: &usize| self.editor.vault().exists(&self.path(&context.windows[*window]));
        own.filter(is_there).unwrap_or(context.windows.len() - 1)
    }

    /// The window that holds a message, by its place.
    fn window_of(&self, context: &ChannelLog, message: u64) -> Option<usize> {
        context.known.get(&(message, BlockEvent::Message)).copied().or_else(|| {
            // Older than the index: search the files.
            let marker = format!("\n^{}\n", snowflake::block_id(message, BlockEvent::Message));
            (0..context.windows.len()).rev().find(|index| {
                let path = self.path(&context.windows[*index]);
                let bytes = self.editor.vault().read(&path).unwrap_or_default();
                memchr::memmem::find(&bytes, marker.as_bytes()).is_some()
            })
        })
    }

    fn append(&self, id: u64, context: &ChannelLog, window: usize, text: &str) -> Result<(), EditError> {
        let window = &context.windows[window];
        let header = LogHeader {
            surface: context.surface.as_str().to_owned(),
            context_id: id.to_string(),
            started: Some(window.started),
            title: context.title.clone(),
        };
        let header = log::render_header(&header);
        self.editor.append(&self.path(window), header.as_bytes(), text.as_bytes())
    }

    fn next_window(&self, id: u64, context: &ChannelLog) -> LogPath {
        let now = self.clock.now();
        let started =
            now.round(Unit::Second).ok().filter(|rounded| *rounded <= now).unwrap_or_else(|| floor(now));
        let surface = context.surface.as_str().to_owned();
        let last = context.windows.iter().filter(|w| w.started == started).map(|w| w.seq).max();
        LogPath { surface, context_id: id.to_string(), started, seq: last.unwrap_or(0) + 1 }
    }

    /// The target of a link to a message's block, if its log holds it: a path without `.md`, `#^`, the block's id.
    pub fn link(&self, id: u64, message: u64) -> Option<String> {
        let contexts = self.lock();
        let context = contexts.get(&id)?;
        let found = self.window_of(context, message)?;
        Some(link_in(&context.windows[found].in_folder(&self.logs), message))
    }

    /// The link that a message will have once it is appended now.
    pub fn future_link(&self, id: u64, message: u64) -> Option<String> {
        Some(link_in(&self.window(id)?, message))
    }

    /// Whether the log holds this message.
    pub fn holds(&self, id: u64, message: u64) -> bool {
        self.lock().get(&id).is_some_and(|context| context.holds(message, BlockEvent::Message))
    }

    /// A text without secrets, as it is logged.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.apply(text)
    }

    /// Whether a logged message's text of `at` differs from the log and is newer.
    pub fn differs(&self, id: u64, message: u64, at: Timestamp, text: &str) -> bool {
        let text = self.masked(text);
        self.lock().get(&id).is_some_and(|context| context.differs(message, at, &text))
    }

    /// Whether this is a question by a slash command.
    pub fn is_command(&self, id: u64, message: u64) -> bool {
        self.lock().get(&id).is_some_and(|context| context.commands.contains(&message))
    }

    /// The newest `most` messages from the id `since` on that the log holds and doesn't call deleted, oldest first.
    pub fn recent(&self, id: u64, since: u64, most: usize) -> Vec<u64> {
        let contexts = self.lock();
        let Some(context) = contexts.get(&id) else { return vec![] };
        let messages = context.known.range((since, BlockEvent::Message)..).rev();
        let there = messages.filter(|((message, part), _)| {
            *part == BlockEvent::Message && !context.known.contains_key(&(*message, BlockEvent::Deletion))
        });
        let mut found: Vec<u64> = there.map(|((message, _), _)| *message).take(most).collect();
        found.reverse();
        found
    }

    /// The path of a file that is kept beside a context's log, if it is there.
    pub fn kept_file(&self, id: u64, name: &str) -> Option<String> {
        let path = self.file_path(id, name)?;
        self.editor.vault().exists(&path).then(|| path.as_str().to_owned())
    }

    /// Keeps a file beside a context's log: its path, if the context is known.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn keep_file(&self, id: u64, name: &str, bytes: &[u8]) -> Result<Option<String>, EditError> {
        let Some(path) = self.file_path(id, name) else { return Ok(None) };
        self.editor.append(&path, bytes, &[])?;
        Ok(Some(path.as_str().to_owned()))
    }

    fn file_path(&self, id: u64, name: &str) -> Option<NotePath> {
        let surface = self.lock().get(&id)?.surface.as_str();
        NotePath::new(&format!("{}/{surface}/{id}/files/{name}", self.logs)).ok()
    }

    /// Whether the log shows an answer to this message.
    pub fn is_answered(&self, id: u64, message: u64) -> bool {
        self.lock().get(&id).is_some_and(|context| context.answered.contains(&message))
    }

    /// When the bot first and last spoke or was addressed in a context.
    pub fn bound(&self, id: u64) -> Option<(Timestamp, Timestamp)> {
        self.lock().get(&id)?.bound
    }

    /// Records that the bot was addressed in a context.
    pub fn bind(&self, id: u64, at: Timestamp) {
        if let Some(context) = self.lock().get_mut(&id) {
            context.bind(at);
        }
    }

    /// The newest message that the log holds.
    pub fn newest(&self, id: u64) -> Option<u64> {
        self.lock().get(&id)?.known.keys().map(|(message, _)| *message).next_back()
    }

    /// The newest message in the file that is being written to.
    pub fn newest_in_window(&self, id: u64) -> Option<u64> {
        let contexts = self.lock();
        let context = contexts.get(&id)?;
        let window = context.windows.len().checked_sub(1)?;
        let is_there = |part: &BlockEvent, at: usize| *part == BlockEvent::Message && at == window;
        context
            .known
            .iter()
            .rev()
            .find(|((_, part), at)| is_there(part, **at))
            .map(|((message, _), _)| *message)
    }

    /// The file that a context's log is being written to.
    pub fn window(&self, id: u64) -> Option<String> {
        Some(self.lock().get(&id)?.windows.last()?.in_folder(&self.logs))
    }
}

/// The target of a link to a message's block in a file.
fn link_in(path: &str, message: u64) -> String {
    format!("{}#^{}", path.trim_end_matches(".md"), snowflake::block_id(message, BlockEvent::Message))
}
