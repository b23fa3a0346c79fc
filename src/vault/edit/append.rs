//! Appends to a note that only grows, such as a log, without reading the whole note.
//!
//! An ordinary edit reads and journals the whole note, so each message would cost more than the one before. Here the
//! kernel puts the bytes at the end (`O_APPEND`), so no other program's bytes are overwritten. A torn write is cut off
//! again. If the note was replaced meanwhile, the bytes are added to the new file of that name. No observer is
//! notified: the next snapshot reads such notes, and separates the bot's events from people's changes.

use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, Mode, OFlags};

use super::swap::{remove, rename_new, sync_folder, temp_name, write_temp};
use crate::vault::prelude::*;
use crate::vault::read::conflict::OUR_MARK;
use crate::vault::read::stat_of;
use crate::vault::{EditError, Editor, NotePath, Result, VaultError};

/// How often a note may be replaced under an append before that is an error.
const TRIES: usize = 8;
/// A temporary file that was not touched for so long belongs to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

impl Editor {
    /// Adds `bytes` at the end of a note, on a line of their own; a note that doesn't exist begins with `header`.
    /// The cost doesn't grow with the note. On return the bytes are on disk.
    ///
    /// # Errors
    /// The note can't be written, or is replaced all the time; it then holds no part of `bytes` from this call.
    pub fn append(&self, path: &NotePath, header: &[u8], bytes: &[u8]) -> Result<()> {
        self.add(path, header, bytes, true)
    }

    /// Adds `bytes` directly behind the last byte of a note: the rest of an append that a killed process began.
    ///
    /// # Errors
    /// As [`Editor::append`]; a note that doesn't exist is one.
    pub fn finish_append(&self, path: &NotePath, bytes: &[u8]) -> Result<()> {
        self.vault().stat(path)?.ok_or_else(|| VaultError::NotFound(path.clone()))?;
        self.add(path, &[], bytes, false)
    }

    fn add(&self, path: &NotePath, header: &[u8], bytes: &[u8], on_own_line: bool) -> Result<()> {
        for _ in 0..TRIES {
            let (file, stat) = match self.vault().open_file(path, OFlags::RDWR | OFlags::APPEND) {
                Ok(opened) => opened,
                Err(error) if error.is_not_found() => {
                    if self.begin(path, &[header, bytes].concat())? {
                        return Ok(());
                    }
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if bytes.is_empty() {
                return Ok(());
            }
            let within = || ends_within_a_line(&file, stat.size).map_err(|error| VaultError::io(path, error));
            let broken = on_own_line && within()?;
            let added = if broken { [b"\n", bytes].concat() } else { bytes.to_vec() };
            let sync = || {
                fail::fail_point!("vault::append::sync", |_| Err(io::Error::other("a bad disk")));
                file.sync_data()
            };
            if let Err(error) = (&file).write_all(&added).and_then(|()| sync()) {
                // Bytes that another program appended meanwhile stay, and with them those of this call.
                let mut tail = vec![0; added.len() + 1];
                let read = file.read_at(&mut tail, stat.size);
                let length = file.metadata().map_or(0, |found| found.len());
                let is_ours =
                    read.is_ok_and(|len| stat.size + len as u64 == length && added.starts_with(&tail[..len]));
                if is_ours {
                    let _ = file.set_len(stat.size);
                }
                return Err(EditError::write(path, "adding to it")(error));
            }
            if self.is_same_file(path, &file, &stat)? {
                return Ok(());
            }
        }
        Err(EditError::Busy(path.clone(), Duration::ZERO))
    }
    /// Makes the note with its first bytes, whole or not at all; `false` if there is one by now. No observer is
    /// notified, because an `undo` is for edits and not for conversations.
    fn begin(&self, path: &NotePath, bytes: &[u8]) -> Result<bool> {
        let wrong = |step| EditError::write(path, step);
        self.vault().create_parents(path)?;
        let place = self.vault().locate(path)?;
        let temp = temp_name(&place.name).map_err(wrong("naming a temporary file"))?;
        let written = write_temp(&place.dir, &temp, bytes, Mode::from_raw_mode(0o666))
            .and_then(|file| file.sync_all())
            .and_then(|()| rename_new(&place.dir, &temp, &place.name));
        if !matches!(written, Ok(true)) {
            remove(&place.dir, &temp);
        }
        let named = written.map_err(wrong("writing it"))?;
        sync_folder(&place.dir);
        self.sweep(&place.dir);
        Ok(named)
    }

    /// Removes leftovers of a process that was killed while it made a note, which no journal lists, from a folder.
    /// Files that a swap has displaced are kept as long as their records exist.
    fn sweep(&self, dir: &OwnedFd) {
        let Ok(items) = Dir::read_from(dir) else { return };
        let names = items.flatten().filter_map(|item| item.file_name().to_str().ok().map(str::to_owned));
        let is_ours =
            |name: &String| name.starts_with('.') && name.contains(OUR_MARK) && name.ends_with(".tmp");
        for name in names.filter(is_ours).filter(|name| !self.record_file(name).exists()) {
            let Ok(stat) = rustix::fs::statat(dir, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let changed = u64::try_from(stat_of(&stat).mtime_ns).unwrap_or(u64::MAX);
            let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(changed));
            if changed.and_then(|then| then.elapsed().ok()).is_some_and(|age| age > ABANDONED) {
                remove(dir, &name);
            }
        }
    }
}

fn ends_within_a_line(file: &File, size: u64) -> io::Result<bool> {
    let mut last = [b'\n'];
    if size > 0 {
        file.read_exact_at(&mut last, size - 1)?;
    }
    Ok(last != [b'\n'])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::SystemClock;
    use crate::vault::{EditOptions, Vault};

    fn set_up() -> (tempfile::TempDir, Editor, NotePath) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("vault");
        std::fs::create_dir(&root).unwrap();
        let vault = Vault::open(&root).unwrap();
        let editor = Editor::new(vault, temp.path(), Arc::new(SystemClock), EditOptions::default());
        (temp, editor, NotePath::new("logs/a/b.md").unwrap())
    }

    #[test]
    fn a_note_begins_with_its_header_and_grows() {
        let (_temp, editor, path) = set_up();
        editor.append(&path, b"head\n", b"one\n").unwrap();
        editor.append(&path, b"head\n", b"two\n").unwrap();
        assert_eq!(editor.vault().read(&path).unwrap(), b"head\none\ntwo\n");
    }

    #[test]
    fn what_a_killed_process_left_goes_when_the_next_note_is_made_there() {
        let (temp, editor, path) = set_up();
        let folder = temp.path().join("vault/logs/a");
        std::fs::create_dir_all(&folder).unwrap();
        let old = SystemTime::now() - 2 * ABANDONED;
        let left = |name: &str, at: SystemTime| {
            let file = File::create(folder.join(name)).unwrap();
            file.set_modified(at).unwrap();
            folder.join(name)
        };
        let gone = left(".x.md.vault-agent-abcdefgh.tmp", old);
        let kept = [
            left(".y.md.vault-agent-abcdefgh.tmp", SystemTime::now()),
            left(".z.md.vault-agent-displace.tmp", old),
            left(".vault-agent-notes.md", old),
            left("x.md", old),
        ];
        let record = editor.record_file(".z.md.vault-agent-displace.tmp");
        std::fs::create_dir_all(record.parent().unwrap()).unwrap();
        std::fs::write(record, b"").unwrap();
        editor.append(&path, b"head\n", b"one\n").unwrap();
        assert!(!gone.exists() && kept.iter().all(|file| file.exists()), "{kept:?}");
    }

    #[test]
    fn a_torn_last_line_is_ended_first() {
        let (_temp, editor, path) = set_up();
        editor.append(&path, b"", b"torn").unwrap();
        editor.append(&path, b"", b"two\n").unwrap();
        assert_eq!(editor.vault().read(&path).unwrap(), b"torn\ntwo\n");
    }

    #[test]
    fn a_torn_write_is_gone_on_with() {
        let (_temp, editor, path) = set_up();
        assert!(editor.finish_append(&path, b"n\n").is_err());
        editor.append(&path, b"", b"tor").unwrap();
        editor.finish_append(&path, b"n\n").unwrap();
        assert_eq!(editor.vault().read(&path).unwrap(), b"torn\n");
    }

    #[test]
    fn what_others_append_meanwhile_stays() {
        let (temp, editor, path) = set_up();
        editor.append(&path, b"", b"0\n").unwrap();
        let file = temp.path().join("vault/logs/a/b.md");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut other = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
                    other.write_all(b"theirs\n").unwrap();
                }
            });
            for _ in 0..50 {
                editor.append(&path, b"", b"ours\n").unwrap();
            }
        });
        let text = String::from_utf8(editor.vault().read(&path).unwrap()).unwrap();
        assert_eq!(text.lines().filter(|line| *line == "theirs").count(), 200);
        assert_eq!(text.lines().filter(|line| *line == "ours").count(), 50);
    }
}
