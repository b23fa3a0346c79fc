//! Writes failures of hooks to `hooks.log` of the state directory: one line a failure, with its cause.
//!
//! The file stays small. It holds no prompt, no memory and no secret, because each cause is a sentence of this program.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use jiff::Timestamp;

use super::host::HostEvent;
use crate::config::json_file;

/// The file's name.
pub const NAME: &str = "hooks.log";
/// Beyond this the older half goes.
const MAX_BYTES: u64 = 64 << 10;
/// A cause is one line and not longer than this.
const MAX_CHARS: usize = 300;

/// Adds a line; a write error is ignored.
pub fn note(dir: &Path, now: Timestamp, event: HostEvent, cause: &str) {
    let _ = append(&dir.join(NAME), &line(now, event, cause));
}

fn line(now: Timestamp, event: HostEvent, cause: &str) -> String {
    let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let cause: String = cause.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_CHARS).collect();
    format!("{second} {}: {}\n", event.as_str(), cause.trim())
}

fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() > MAX_BYTES) {
        halve(path)?;
    }
    // One write, so that lines of two hooks don't mix.
    std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

fn halve(path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::File::open(path)?;
    file.seek(SeekFrom::End(-(i64::try_from(MAX_BYTES / 2).unwrap_or(0))))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES / 2).read_to_end(&mut bytes)?;
    let start = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
    json_file::replace(path, &bytes[start..], false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_stays_small_and_keeps_the_newest_lines() {
        let temp = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-12-01T09:30:00.5Z".parse().unwrap();
        for n in 0..2000 {
            note(temp.path(), now, HostEvent::Stop, &format!("cause {n}\n{}", "x".repeat(500)));
        }
        let text = std::fs::read_to_string(temp.path().join(NAME)).unwrap();
        assert!(text.len() as u64 <= MAX_BYTES + 1000, "{}", text.len());
        assert!(text.lines().all(|line| line.starts_with("2026-12-01T09:30:00Z stop: cause ")), "{text}");
        assert!(text.lines().last().unwrap().contains("cause 1999 xxx"));
    }
}
