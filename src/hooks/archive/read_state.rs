//! Records how far each transcript was read, in one small file each in the state directory.
//!
//! The files are disposable: without them a transcript is read from its beginning, and the log shows which lines it
//! holds already. They also list the known transcripts, so that the next session of a project finishes one whose own
//! hooks were killed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::config::json_file;

/// The number of bytes before the last read position whose hash shows that the file is still the same.
const CHECKED: u64 = 256;

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
}

/// The folder of the read states.
#[derive(Debug, Clone)]
pub struct ReadStates {
    dir: PathBuf,
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

    /// Keeps that a transcript was read up to `offset`, and all of it as long as it was `length` long.
    ///
    /// # Errors
    /// It can't be written.
    pub fn save(&self, transcript: &Path, session: &str, offset: u64, length: u64) -> io::Result<()> {
        let known = ReadState {
            transcript: transcript.to_owned(),
            session: session.to_owned(),
            offset,
            check: prefix_hash(transcript, offset)?,
            length,
        };
        json_file::save(&self.path(transcript), &known)
    }

    /// Forgets a transcript.
    pub fn forget(&self, transcript: &Path) {
        let _ = std::fs::remove_file(self.path(transcript));
    }

    /// All that is known.
    pub fn all(&self) -> Vec<ReadState> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().extension().is_some_and(|name| name == "json"));
        files.filter_map(|entry| json_file::load(&entry.path())).collect()
    }

    /// Since when sessions are kept: from the first call on.
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
        states.save(&path, "s", 4, 8).unwrap();
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
}
