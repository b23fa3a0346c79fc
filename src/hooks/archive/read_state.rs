//! Reads the new lines of a transcript, one at a time, from the position at which the last reading ended. Each
//! transcript has a small file in the state directory, in which this position is recorded.
//!
//! The files are disposable: without them a transcript is read from its beginning, and the log shows which lines it
//! holds already. They also list the known transcripts, so that the next session of a project can finish the log of a
//! session whose hooks were killed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::config::json_file;
use crate::hooks::host::open_transcript;

/// The number of bytes before the last read position whose hash shows that the file is still the same.
const CHECKED: u64 = 256;

/// A longer line is passed over, and the log says so. In bytes.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// The read state of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadState {
    /// The transcript.
    pub transcript: PathBuf,
    /// The session.
    pub session: String,
    /// The offset at which reading goes on, in bytes.
    pub offset: u64,
    /// Hash of what stands before that.
    pub check: String,
    /// How long it was when all of it was read; 0 where some is left.
    pub length: u64,
    /// Whether it was read as one to which nothing more will come.
    pub ended: bool,
}

/// The folder of the read states.
#[derive(Debug, Clone)]
pub struct ReadStates {
    dir: PathBuf,
}

/// A file being read.
#[derive(Debug)]
pub struct LineReader {
    file: BufReader<File>,
    at: u64,
    line: Vec<u8>,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub struct FileLine<'a> {
    /// Its bytes without the line break; none of a line that is too long.
    pub bytes: &'a [u8],
    /// Its offset.
    pub start: u64,
    /// The next line's offset.
    pub end: u64,
    /// Whether it ends with a line break: the last one may still grow.
    pub is_ended: bool,
    /// Whether it is too long to be held.
    pub is_long: bool,
}

impl ReadStates {
    /// In the state directory `state`.
    pub fn new(state: &Path) -> Self {
        Self { dir: state.join("sessions") }
    }

    /// The read state of a transcript; empty where it was replaced or the state's file is gone, torn or strange.
    pub fn load(&self, transcript: &Path) -> ReadState {
        let known = json_file::load(&self.path(transcript)).filter(|known: &ReadState| {
            known.transcript == transcript
                && prefix_hash(transcript, known.offset).is_ok_and(|check| check == known.check)
        });
        known.unwrap_or_else(|| ReadState { transcript: transcript.to_owned(), ..ReadState::default() })
    }

    /// Records that a transcript was read up to `offset`. `length` is its length if all of it was read; `ended` says
    /// whether nothing more was expected then.
    ///
    /// # Errors
    /// It can't be written.
    pub fn save(
        &self,
        transcript: &Path,
        session: &str,
        offset: u64,
        length: u64,
        ended: bool,
    ) -> io::Result<()> {
        let known = ReadState {
            transcript: transcript.to_owned(),
            session: session.to_owned(),
            offset,
            check: prefix_hash(transcript, offset)?,
            length,
            ended,
        };
        json_file::save(&self.path(transcript), &known)
    }

    /// Forgets a transcript.
    pub fn forget(&self, transcript: &Path) {
        let _ = std::fs::remove_file(self.path(transcript));
    }

    /// All recorded transcripts.
    pub fn all(&self) -> Vec<ReadState> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().extension().is_some_and(|name| name == "json"));
        files.filter_map(|entry| json_file::load(&entry.path())).collect()
    }

    /// The instant from which sessions are archived, which is that of the first call.
    pub fn since(&self) -> Option<SystemTime> {
        let mark = self.dir.join("since");
        if let Ok(meta) = std::fs::metadata(&mark) {
            return meta.modified().ok();
        }
        std::fs::create_dir_all(&self.dir).and_then(|()| std::fs::write(&mark, "")).ok()?;
        std::fs::metadata(&mark).and_then(|meta| meta.modified()).ok()
    }

    fn path(&self, transcript: &Path) -> PathBuf {
        let name = blake3::hash(transcript.as_os_str().as_encoded_bytes()).to_hex();
        self.dir.join(format!("{}.json", &name[..16]))
    }
}

impl LineReader {
    /// The lines of the file at `path` from byte `from` on; from its beginning where it is shorter.
    ///
    /// # Errors
    /// It can't be read, or is no file.
    pub fn open(path: &Path, from: u64) -> io::Result<Self> {
        let (mut file, length) = open_transcript(path)?;
        let at = if from <= length { from } else { 0 };
        file.seek(SeekFrom::Start(at))?;
        Ok(Self { file: BufReader::with_capacity(256 << 10, file), at, line: Vec::new() })
    }

    /// The next line, if there is one.
    ///
    /// # Errors
    /// Reading fails.
    pub fn next(&mut self) -> io::Result<Option<FileLine<'_>>> {
        self.line.clear();
        // The memory of one long line is released.
        self.line.shrink_to(1 << 20);
        let start = self.at;
        let mut read = (&mut self.file).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line)? as u64;
        let mut is_ended = self.line.last() == Some(&b'\n');
        let is_long = !is_ended && read == MAX_LINE_BYTES;
        if is_long {
            self.line = Vec::new();
            let (more, ended) = self.skip()?;
            (read, is_ended) = (read + more, ended);
        } else if is_ended {
            self.line.pop();
        }
        self.at += read;
        Ok((read > 0).then_some(FileLine { bytes: &self.line, start, end: self.at, is_ended, is_long }))
    }

    /// Passes over the rest of a line; how long that is, and whether it ended.
    fn skip(&mut self) -> io::Result<(u64, bool)> {
        let mut skipped = 0;
        loop {
            let buffer = self.file.fill_buf()?;
            let (length, is_end) = match memchr::memchr(b'\n', buffer) {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            };
            let ended = is_end && length > 0;
            self.file.consume(length);
            skipped += length as u64;
            if is_end {
                return Ok((skipped, ended));
            }
        }
    }
}

/// Hash of the bytes before `offset`.
fn prefix_hash(transcript: &Path, offset: u64) -> io::Result<String> {
    let mut file = File::open(transcript)?;
    let from = offset.saturating_sub(CHECKED);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(offset - from).read_to_end(&mut bytes)?;
    Ok(format!("{} {}", bytes.len(), &blake3::hash(&bytes).to_hex()[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_transcript_is_read_from_its_beginning() {
        let temp = tempfile::tempdir().unwrap();
        let (states, path) = (ReadStates::new(temp.path()), temp.path().join("t.jsonl"));
        std::fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(states.load(&path).offset, 0);
        states.save(&path, "s", 4, 8, false).unwrap();
        assert_eq!((states.load(&path).offset, states.all().len()), (4, 1));
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(states.load(&path).offset, 4);
        for other in ["two\none\n", "on", ""] {
            std::fs::write(&path, other).unwrap();
            assert_eq!(states.load(&path).offset, 0, "{other}");
        }
        std::fs::write(states.path(&path), "{\"offset\": ").unwrap();
        assert_eq!((states.load(&path).offset, states.all().len()), (0, 0));
        assert_eq!(states.since(), states.since());
    }

    #[test]
    fn lines_know_where_they_stand() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("t");
        std::fs::write(&path, "one\n\nthree").unwrap();
        let from = |from| {
            let mut lines = LineReader::open(&path, from).unwrap();
            let mut out = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                out.push((
                    String::from_utf8_lossy(line.bytes).into_owned(),
                    line.start,
                    line.end,
                    line.is_ended,
                ));
            }
            out
        };
        let all =
            [("one".to_owned(), 0, 4, true), (String::new(), 4, 5, true), ("three".to_owned(), 5, 10, false)];
        assert_eq!(from(0), all);
        assert_eq!(from(5), all[2..]);
        assert_eq!(from(11), all, "a file that was begun anew");
        assert!(from(10).is_empty());
        assert!(LineReader::open(temp.path(), 0).is_err());
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("t");
        let long = vec![b'x'; usize::try_from(MAX_LINE_BYTES).unwrap() + 7];
        std::fs::write(&path, [b"a\n", &long[..], b"\nb\n"].concat()).unwrap();
        let mut lines = LineReader::open(&path, 2).unwrap();
        let line = lines.next().unwrap().unwrap();
        assert_eq!(
            (line.bytes.len(), line.start, line.end, line.is_ended),
            (0, 2, MAX_LINE_BYTES + 10, true)
        );
        assert!(line.is_long);
        assert_eq!(lines.next().unwrap().unwrap().bytes, b"b");
        assert_eq!(lines.next().unwrap(), None);
    }
}
