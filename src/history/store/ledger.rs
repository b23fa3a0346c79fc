//! Keeps, outside the repository, a list of all snapshots, to detect that the history was rewritten.
//!
//! `history.log` beside `history.git` has lines `TIME WORD ID`; no line is ever removed. A commit's id is a hash of
//! everything before the commit. So as long as the branch and the list end with the same commit, nothing was rewritten.
//! If the branch is lost or is found at another commit, a line records that and the commit.
//!
//! A snapshot has two lines: `next` is on disk before the branch moves to the snapshot, and `kept` is added afterwards.
//! If a kill or a power cut comes between them, the list ends with `next`. The next process then knows that this
//! program made the snapshot, and finishes it. The list holds no text and no name of a note.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};

use crate::clock::{Clock, SystemClock};
use crate::history::error::{HistoryError, Result, if_there};
use crate::history::prelude::*;
use crate::words::words;

words! {
    /// The kind of a line.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum LineKind, as_str {
        /// The branch is about to move to this snapshot, whose objects are on disk.
        Next = "next",
        /// We made this snapshot.
        Kept = "kept",
        /// It was there when the list began, or came from a remote.
        Adopted = "adopted",
        /// The repository was gone, and with it this snapshot, its last.
        Anew = "anew",
        /// The branch was found here, moved by another program.
        Moved = "moved",
        /// The branch was gone, and was put back here.
        PutBack = "put-back",
        /// The branch's file was emptied or cut, as by a power cut or a full disk, and was written anew.
        Mended = "mended",
        /// A person has taken the history as it was then.
        Accepted = "accepted",
    }
}

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LedgerLine {
    pub at: Timestamp,
    pub kind: LineKind,
    pub id: Oid,
}

impl LedgerLine {
    fn parse(text: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(text).ok()?.split(' ');
        let (at, word, id) = (words.next()?, words.next()?, words.next()?);
        let kind = LineKind::named(word)?;
        let whole = id.len() == 40 && words.next().is_none();
        Some(Self { at: at.parse().ok()?, kind, id: Oid::from_str(id).ok().filter(|_| whole)? })
    }

    /// The branch's end after this line.
    pub(crate) fn end(&self) -> Option<Oid> {
        (self.kind != LineKind::Anew && !self.id.is_zero()).then_some(self.id)
    }
}

/// The end that the branch should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedHead {
    /// There is no list yet.
    NoList,
    /// There is no snapshot.
    Nothing,
    /// At this one.
    At(Oid),
}

impl ExpectedHead {
    /// The snapshot that the branch should end at.
    pub(crate) fn end(self) -> Option<Oid> {
        if let Self::At(end) = self { Some(end) } else { None }
    }
}

/// The list of one repository. Lines are added only under the repository's lock.
#[derive(Debug)]
pub(crate) struct Ledger(PathBuf);

impl Ledger {
    /// The list of the repository `dir`.
    pub(crate) fn new(dir: &Path) -> Self {
        Self(dir.with_extension("log"))
    }

    /// The end that the branch should have, and the snapshot that it was about to move to if the last line says so.
    pub(crate) fn expected(&self) -> Result<(ExpectedHead, Option<Oid>)> {
        /// More than the longest line, five times.
        const TAIL: u64 = 512;
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = File::open(&self.0)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
            let mut bytes = Vec::new();
            file.take(TAIL).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let tail = if_there(read()).map_err(HistoryError::io("read", &self.0))?;
        let Some(tail) = tail else { return Ok((ExpectedHead::NoList, None)) };
        let last = |lines: Vec<LedgerLine>| {
            let end = *lines.iter().rfind(|line| line.kind != LineKind::Next)?;
            let next = lines.last().filter(|line| line.kind == LineKind::Next);
            Some((end.end().map_or(ExpectedHead::Nothing, ExpectedHead::At), next.map(|line| line.id)))
        };
        // A power cut may have torn more than the tail.
        Ok(match last(parse(&tail)) {
            Some(found) => found,
            None => {
                let lines = self.lines()?;
                let next = lines.last().map(|line| line.id);
                last(lines).unwrap_or((ExpectedHead::NoList, next))
            }
        })
    }

    /// Every whole line, oldest first; none where there is no list.
    pub(crate) fn lines(&self) -> Result<Vec<LedgerLine>> {
        let bytes = if_there(fs::read(&self.0)).map_err(HistoryError::io("read", &self.0))?;
        Ok(parse(&bytes.unwrap_or_default()))
    }

    /// Adds a line for each id. Only `next` waits for the disk: a power cut that takes a later line leaves it.
    pub(crate) fn add(&self, kind: LineKind, ids: &[Oid]) -> Result<()> {
        let second = Timestamp::from_second(SystemClock.now().as_second()).unwrap_or_default();
        let text: String = ids.iter().map(|id| format!("{second} {} {id}\n", kind.as_str())).collect();
        let add = || -> std::io::Result<()> {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&self.0)?;
            let torn = file.metadata()?.len() > 0 && {
                let mut last = [0];
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
                last != *b"\n"
            };
            file.write_all(format!("{}{text}", if torn { "\n" } else { "" }).as_bytes())?;
            if kind == LineKind::Next { file.sync_data() } else { Ok(()) }
        };
        add().map_err(HistoryError::io("write", &self.0))
    }
}

/// The whole lines of a text.
fn parse(text: &[u8]) -> Vec<LedgerLine> {
    text.split(|byte| *byte == b'\n').filter_map(LedgerLine::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Oid {
        Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap()
    }

    #[test]
    fn the_list_says_where_the_branch_ends_and_bears_a_torn_end() {
        let dir = tempfile::tempdir().unwrap();
        let known = Ledger::new(&dir.path().join("history.git"));
        assert_eq!(known.expected().unwrap(), (ExpectedHead::NoList, None));
        known.add(LineKind::Next, &[id("1")]).unwrap();
        assert_eq!(known.expected().unwrap(), (ExpectedHead::NoList, Some(id("1"))));
        known.add(LineKind::Kept, &[id("1"), id("2")]).unwrap();
        assert_eq!(known.expected().unwrap(), (ExpectedHead::At(id("2")), None));
        let whole = fs::read(&known.0).unwrap();
        for cut in whole.len() * 2 / 3 + 1..whole.len() - 1 {
            fs::write(&known.0, &whole[..cut]).unwrap();
            assert_eq!(known.expected().unwrap(), (ExpectedHead::At(id("1")), None), "cut at {cut}");
            known.add(LineKind::Next, &[id("3")]).unwrap();
            assert_eq!(known.expected().unwrap(), (ExpectedHead::At(id("1")), Some(id("3"))), "cut at {cut}");
            known.add(LineKind::Kept, &[id("3")]).unwrap();
            let lines = known.lines().unwrap();
            let kept: Vec<_> = lines.iter().filter(|line| line.kind == LineKind::Kept).collect();
            assert_eq!(
                kept.iter().map(|line| line.id).collect::<Vec<_>>(),
                [id("1"), id("3")],
                "cut at {cut}"
            );
        }
        // The end of a file as a power cut may leave it.
        fs::write(&known.0, [&whole[..], &[0; 600]].concat()).unwrap();
        assert_eq!(known.expected().unwrap(), (ExpectedHead::At(id("2")), None));
        known.add(LineKind::Anew, &[id("2")]).unwrap();
        assert_eq!(known.expected().unwrap(), (ExpectedHead::Nothing, None));
    }
}
