//! Finds the origin of each line of a note (blame): the first snapshot that has it, with its time, writer and reason.
//!
//! The note's snapshots are read newest first and compared in pairs: a line that the older one lacks comes from the newer
//! one.
//! [`BlameBound`] limits the work; a line from before that limit has no origin.

use std::ops::ControlFlow;

use jiff::Timestamp;
use serde::Serialize;
use similar::DiffTag;

use super::{CommitRecord, LogFilter, Point, body, lines};
use crate::format::changes::changes;
use crate::history::error::{HistoryError, Result};
use crate::history::store::{CONVERSATION, CommitMessage, short_id, turn_of};
use crate::history::take::History;
use crate::reminders::rfc3339;
use crate::vault::{NotePath, VaultError};
use crate::words::words;

/// The bound of a blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlameBound {
    /// The most snapshots of the note.
    pub snapshots: usize,
    /// The most bytes of older texts.
    pub bytes: usize,
}

impl Default for BlameBound {
    fn default() -> Self {
        Self { snapshots: 2_000, bytes: 16 << 20 }
    }
}

words! {
    /// The writer of a line.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LineWriter, as_str {
        /// A person: with an editor, a sync tool, or by a command.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
            snapshot: Some(short_id(record.commit.id)),
            time: Some(rfc3339(record.commit.time, history.zone())),
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
        Self {
            snapshot: None,
            time: None,
            at: None,
            writer: LineWriter::Person,
            actor: "human".to_owned(),
            subject: "in no snapshot yet".to_owned(),
            client: None,
            turn: None,
            reminder: None,
        }
    }
}

/// A line of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlamedLine {
    /// Its number, from 1.
    pub line: usize,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Which of the origins it comes from; none where that is older than what was looked at.
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

/// For each line of a note its position in the older text; none once its origin is known.
struct Trace {
    places: Vec<Option<usize>>,
    origins: Vec<Option<usize>>,
    left: usize,
}

impl Trace {
    fn new(count: usize) -> Self {
        Self { places: (0..count).map(Some).collect(), origins: vec![None; count], left: count }
    }

    /// Lines of `new` that `old` lacks come from `origin`; the others are looked for in `old` from now on. Returns whether
    /// there were any.
    fn step(&mut self, old: &[&[u8]], new: &[&[u8]], origin: usize) -> bool {
        let before = positions_in(old, new);
        let mut any = false;
        for (place, found) in self.places.iter_mut().zip(&mut self.origins) {
            let Some(at) = *place else { continue };
            *place = before.get(at).copied().flatten();
            if place.is_none() {
                *found = Some(origin);
                (self.left, any) = (self.left - 1, true);
            }
        }
        any
    }
}

/// The place in `old` of each line of `new`; line ends don't count.
fn positions_in(old: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let same = |a: &&[u8], b: &&[u8]| body(a) == body(b);
    let head = old.iter().zip(new).take_while(|(a, b)| same(a, b)).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let mut out: Vec<Option<usize>> = (0..head).map(Some).collect();
    out.resize(new.len(), None);
    for at in 0..tail {
        out[new.len() - 1 - at] = Some(old.len() - 1 - at);
    }
    let bodies = |lines: &[&[u8]]| lines.iter().map(|line| body(line).to_vec()).collect::<Vec<_>>();
    let (old_mid, new_mid) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    if old_mid.is_empty() || new_mid.is_empty() {
        return out;
    }
    for op in changes(&bodies(old_mid), &bodies(new_mid)) {
        if op.tag() == DiffTag::Equal {
            for (a, b) in op.old_range().zip(op.new_range()) {
                out[head + b] = Some(head + a);
            }
        }
    }
    out
}

impl History {
    /// The origin of each line of a note: as it stands in the vault, or as it was at a point.
    ///
    /// # Errors
    /// There is no such note, or it or the history can't be read.
    pub fn blame(&self, path: &NotePath, at: Option<&Point>, bound: BlameBound) -> Result<Blame> {
        self.blame_with_records(path, at, bound, 0).map(|(blame, _)| blame)
    }

    /// As [`History::blame`], with the newest `keep` snapshots of the note from that point back: both by one walk.
    ///
    /// # Errors
    /// As there.
    pub fn blame_with_records(
        &self,
        path: &NotePath,
        at: Option<&Point>,
        bound: BlameBound,
        keep: usize,
    ) -> Result<(Blame, Vec<CommitRecord>)> {
        let missing = |at: String| HistoryError::NotInSnapshot(path.to_string(), at);
        let text = match at {
            Some(point) => {
                self.read_at(&point.commit, path.as_str())?.ok_or_else(|| missing(point.short()))?
            }
            None => match self.vault().read(path) {
                Err(VaultError::NotFound(_)) => return Err(missing("now".to_owned())),
                read => read?,
            },
        };
        let shown = lines(&text);
        let mut trace = Trace::new(shown.len());
        let mut walk = BlameWalk {
            history: self,
            current: None,
            path: path.to_string(),
            origins: Vec::new(),
            bound,
            keep,
            records: Vec::new(),
        };
        if let Err(error) = walk.run(&text, at, &mut trace) {
            // A vault without a snapshot has lines all the same.
            if !matches!(error, HistoryError::Empty) {
                return Err(error);
            }
        }
        let line = |(at, line): (usize, &&[u8])| BlamedLine {
            line: at + 1,
            text: String::from_utf8_lossy(body(line)).into_owned(),
            origin: trace.origins[at],
        };
        let lines = shown.iter().enumerate().map(line).collect();
        let blame = Blame { path: path.to_string(), lines, origins: walk.origins, complete: trace.left == 0 };
        Ok((blame, walk.records))
    }
}

/// The walk back through a note's snapshots.
struct BlameWalk<'a> {
    history: &'a History,
    /// The text that was looked at last, with its id.
    current: Option<Vec<u8>>,
    /// The note's name there.
    path: String,
    origins: Vec<LineOrigin>,
    bound: BlameBound,
    /// The number of the note's snapshots that are kept.
    keep: usize,
    records: Vec<CommitRecord>,
}

impl BlameWalk<'_> {
    fn run(&mut self, text: &[u8], at: Option<&Point>, trace: &mut Trace) -> Result<()> {
        let start = at.map(|point| point.commit.id);
        let filter = LogFilter { path: Some(self.path.clone()), ..LogFilter::default() };
        let (mut is_first, mut is_done, mut steps) = (true, false, 0);
        self.history.log_between(&filter, start, None, |record| {
            if !is_done {
                is_done = self.trace_back(&record, text, trace, &mut is_first, &mut steps)?;
            }
            if self.records.len() < self.keep {
                self.records.push(record);
            }
            let is_over = is_done && self.records.len() >= self.keep;
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Compares a snapshot with the one before it. Returns whether no older one is needed.
    fn trace_back(
        &mut self,
        record: &CommitRecord,
        text: &[u8],
        trace: &mut Trace,
        is_first: &mut bool,
        steps: &mut usize,
    ) -> Result<bool> {
        let history = self.history;
        let Some(change) = record.changes.iter().find(|change| change.path == self.path) else {
            return Ok(false);
        };
        if std::mem::take(is_first) {
            let newest = change.new.map(|new| history.content(new.id)).transpose()?.unwrap_or_default();
            if newest != text {
                self.take(LineOrigin::unrecorded(), &newest, text, trace);
            }
            self.current = Some(newest);
        }
        let mut before = change.old;
        if before.is_none() {
            let renames = history.renames_of(record, |path| path == self.path)?;
            if let Some(rename) = renames.into_iter().find(|rename| rename.to == self.path) {
                before = record.changes.iter().find(|it| it.path == rename.from).and_then(|it| it.old);
                self.path = rename.from;
            }
        }
        let old = before.map(|old| history.content(old.id)).transpose()?.unwrap_or_default();
        *steps += 1;
        self.bound.bytes = self.bound.bytes.saturating_sub(old.len());
        let new = self.current.take().unwrap_or_default();
        self.take(LineOrigin::of(history, record), &old, &new, trace);
        self.current = Some(old);
        Ok(trace.left == 0 || *steps >= self.bound.snapshots || self.bound.bytes == 0)
    }

    fn take(&mut self, origin: LineOrigin, old: &[u8], new: &[u8], trace: &mut Trace) {
        if trace.step(&lines(old), &lines(new), self.origins.len()) {
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
