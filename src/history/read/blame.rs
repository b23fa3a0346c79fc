//! Finds the origin of each line of a note (blame): the snapshot that added the line last, with its time, writer and
//! reason.
//!
//! The note's snapshots are read newest first and compared in pairs: a line that the older snapshot lacks comes from
//! the newer snapshot. [`BlameBound`] limits the work; a line that is older than the snapshots within the limit has no
//! origin.

use crate::defaults::defaults;
use crate::format::changes::{body, changes, lines};
use crate::history::prelude::*;
use crate::history::store::{CONVERSATION, CommitMessage, FileState};
use crate::history::{Commit, CommitRecord, History, HistoryError, LogFilter, Result, turn_of};
use crate::reminders::rfc3339;
use crate::vault::{NotePath, VaultError};
use crate::words::words;

defaults! {
    /// The bound of a blame.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct BlameBound {
        /// The most snapshots of the note.
        pub snapshots: usize = 2_000,
        /// The most bytes of older texts.
        pub bytes: usize = 16 << 20,
    }
}

words! {
    /// The writer of a line.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum LineWriter, as_str {
        /// A person: with an editor, a sync tool, or by a command.
        #[default]
        Person = "person",
        /// The assistant, in a turn.
        Assistant = "assistant",
        /// Another program: a model over MCP, a hook, the bot.
        Program = "program",
        /// The scheduler, when it told a reminder.
        Reminder = "reminder",
        /// A restore or an undo.
        Restore = "restore",
    }
}

impl LineWriter {
    /// The kind of writer that made a snapshot.
    pub fn of(message: &CommitMessage) -> Self {
        match message.actor() {
            "human" | "cli" | "page" => Self::Person,
            "assistant" => Self::Assistant,
            "scheduler" => Self::Reminder,
            "restore" => Self::Restore,
            _ => Self::Program,
        }
    }
}

/// A snapshot that lines come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LineOrigin {
    /// Its short id; none for what no snapshot has yet.
    pub snapshot: Option<String>,
    /// When it was taken, in the vault's zone.
    pub time: Option<String>,
    /// The same as an instant.
    #[serde(skip)]
    pub at: Option<Timestamp>,
    /// The writer.
    pub writer: LineWriter,
    /// The front door that the change came through: the snapshot's `Actor:`.
    pub actor: String,
    /// The subject of the commit.
    pub subject: String,
    /// The program that asked for it.
    pub client: Option<String>,
    /// The turn of the assistant in which it was done.
    pub turn: Option<String>,
    /// The reminder that was told.
    pub reminder: Option<String>,
}

impl LineOrigin {
    fn of(history: &History, record: &CommitRecord) -> Self {
        let message = &record.commit.message;
        let value = |key: &str| message.trailer(key).map(str::to_owned);
        let turn = message.trailer(CONVERSATION).and_then(turn_of);
        Self {
            snapshot: Some(record.commit.short()),
            time: Some(rfc3339(record.commit.time, history.zone().tz())),
            at: Some(record.commit.time),
            writer: LineWriter::of(message),
            actor: message.actor().to_owned(),
            subject: message.subject.clone(),
            client: value("Client"),
            turn: turn.map(str::to_owned),
            reminder: value("Reminder"),
        }
    }

    /// A line that stands in the vault and in no snapshot yet.
    fn unrecorded() -> Self {
        Self { actor: "human".to_owned(), subject: "in no snapshot yet".to_owned(), ..Self::default() }
    }
}

/// A line of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlamedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// The index of its origin; `None` if the origin is older than the snapshots that were read.
    pub origin: Option<usize>,
}

/// A note with where its lines come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blame {
    /// Vault-relative.
    pub path: String,
    /// Its lines, in order.
    pub lines: Vec<BlamedLine>,
    /// The snapshots that they come from, newest first.
    pub origins: Vec<LineOrigin>,
    /// Whether the bound was enough for every line.
    pub complete: bool,
}

impl Blame {
    /// The origin of a line, if it is known.
    pub fn origin(&self, line: &BlamedLine) -> Option<&LineOrigin> {
        self.origins.get(line.origin?)
    }
}

/// The place in `old` of each line of `new`; line ends don't count.
fn positions_in(old: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let mut out = vec![None; new.len()];
    let [old, new] = [old, new].map(|lines| lines.iter().map(|line| body(line)).collect::<Vec<&[u8]>>());
    for op in changes(&old, &new).into_iter().filter(|op| op.tag() == DiffTag::Equal) {
        for (a, b) in op.old_range().zip(op.new_range()) {
            out[b] = Some(a);
        }
    }
    out
}

impl History {
    /// The origin of each line of a note: as it stands in the vault, or as it was at a point.
    ///
    /// # Errors
    /// There is no such note, or it or the history can't be read.
    pub fn blame(&self, path: &NotePath, at: Option<&Commit>, bound: BlameBound) -> Result<Blame> {
        self.blame_with_records(path, at, bound, 0).map(|(blame, _)| blame)
    }

    /// As [`History::blame`], with the newest `keep` snapshots of the note from that point back: both by one walk.
    pub fn blame_with_records(
        &self,
        path: &NotePath,
        at: Option<&Commit>,
        bound: BlameBound,
        keep: usize,
    ) -> Result<(Blame, Vec<CommitRecord>)> {
        let missing = |at: String| HistoryError::NotInSnapshot(path.to_string(), at);
        let text = match at {
            Some(point) => self.read_at(point, path.as_str())?.ok_or_else(|| missing(point.short()))?,
            None => match self.vault.read(path) {
                Err(VaultError::NotFound(_)) => return Err(missing("now".to_owned())),
                read => read?,
            },
        };
        let shown = lines(&text);
        let mut walk = BlameWalk {
            history: self,
            path: path.to_string(),
            current: None,
            places: (0..shown.len()).map(Some).collect(),
            found: vec![None; shown.len()],
            origins: Vec::new(),
            bound,
        };
        let (mut records, mut is_done) = (Vec::new(), false);
        let filter = LogFilter { path: Some(path.to_string()), ..LogFilter::default() };
        self.log_between(&filter, at.map(|point| point.id), None, |record| {
            is_done = is_done || walk.trace_back(&record, &text)?;
            if records.len() < keep {
                records.push(record);
            }
            let is_over = is_done && records.len() >= keep;
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if walk.current.is_none() {
            walk.step(LineOrigin::unrecorded(), &[], &text);
        }
        let line = |(at, line): (usize, &&[u8])| BlamedLine {
            line: at + 1,
            text: String::from_utf8_lossy(body(line)).into_owned(),
            origin: walk.found[at],
        };
        let lines = shown.iter().enumerate().map(line).collect();
        let complete = walk.is_complete();
        Ok((Blame { path: path.to_string(), lines, origins: walk.origins, complete }, records))
    }
}

/// The walk back through a note's snapshots.
struct BlameWalk<'a> {
    history: &'a History,
    /// The note's name where the walk is.
    path: String,
    /// The text that was looked at last; none before the first snapshot.
    current: Option<Vec<u8>>,
    /// For each line of the note its position in that text; none once its origin is known.
    places: Vec<Option<usize>>,
    /// For each line of the note its origin.
    found: Vec<Option<usize>>,
    origins: Vec<LineOrigin>,
    /// The work that is left.
    bound: BlameBound,
}

impl BlameWalk<'_> {
    fn is_complete(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    /// Compares a snapshot with the one before it; `text` is the note's. Returns whether no older one is needed.
    fn trace_back(&mut self, record: &CommitRecord, text: &[u8]) -> Result<bool> {
        let history = self.history;
        let Some(change) = record.changes.iter().find(|change| change.path == self.path) else {
            return Ok(false);
        };
        let content =
            |state: Option<FileState>| state.map_or(Ok(Vec::new()), |state| history.content(state.id));
        let new = match self.current.take() {
            Some(current) => current,
            None => {
                let newest = content(change.new)?;
                if newest != text {
                    self.step(LineOrigin::unrecorded(), &newest, text);
                }
                newest
            }
        };
        let mut before = change.old;
        if before.is_none() {
            let renames = history.renames_of(record, |path| path == self.path)?;
            if let Some(rename) = renames.into_iter().find(|rename| rename.to == self.path) {
                before = record.changes.iter().find(|it| it.path == rename.from).and_then(|it| it.old);
                self.path = rename.from;
            }
        }
        let old = content(before)?;
        self.bound.snapshots = self.bound.snapshots.saturating_sub(1);
        self.bound.bytes = self.bound.bytes.saturating_sub(old.len());
        self.step(LineOrigin::of(history, record), &old, &new);
        self.current = Some(old);
        Ok(self.is_complete() || self.bound.snapshots == 0 || self.bound.bytes == 0)
    }

    /// Lines of `new` that `old` lacks come from `origin`; the others are looked for in `old` from now on.
    fn step(&mut self, origin: LineOrigin, old: &[u8], new: &[u8]) {
        let before = positions_in(&lines(old), &lines(new));
        let known = self.origins.len();
        for (place, found) in self.places.iter_mut().zip(&mut self.found) {
            let Some(at) = *place else { continue };
            *place = before.get(at).copied().flatten();
            if place.is_none() {
                *found = Some(known);
            }
        }
        if self.found.contains(&Some(known)) {
            self.origins.push(origin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
        let bytes = |lines: &[&str]| lines.iter().map(|it| it.as_bytes().to_vec()).collect::<Vec<_>>();
        let (old, new) = (bytes(old), bytes(new));
        let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
            (old.iter().map(Vec::as_slice).collect(), new.iter().map(Vec::as_slice).collect());
        positions_in(&old, &new)
    }

    #[test]
    fn lines_are_found_again_between_what_changed() {
        assert_eq!(stand(&["a\n", "b\n", "c\n"], &["a\n", "x\n", "c\n"]), [Some(0), None, Some(2)]);
        assert_eq!(stand(&["a\n", "b\n"], &["a\r\n", "new\r\n", "b"]), [Some(0), None, Some(1)]);
        assert_eq!(
            stand(&["0\n", "a\n", "b\n", "9\n"], &["1\n", "a\n", "y\n", "b\n", "8\n"]),
            [None, Some(1), None, Some(2), None]
        );
        assert_eq!(stand(&["a\n", "a\n"], &["a\n", "a\n", "a\n"]), [Some(0), Some(1), None]);
        assert_eq!(stand(&[], &["a\n"]), [None]);
        assert!(stand(&["a\n"], &[]).is_empty());
    }
}
