//! Reads the markers of a session's log: the names of its pieces, and the link to the log that it continues.

use std::io::{BufRead, BufReader};

use ulid::Ulid;

use crate::hooks::error::ArchiveError;
use crate::vault::{NotePath, Vault};

/// How the event begins that says which log a session goes on from.
pub(super) const CONTINUES: &str = "Goes on from [[";
/// The bits of a name.
const NAME: u128 = (1 << 80) - 1;

/// The name of the first piece that was said in a log, which may go on from another.
pub(super) fn first(vault: &Vault, path: &NotePath) -> Option<u128> {
    let (mut found, mut is_link) = (None, false);
    let read = each_line(vault, path, |line| {
        is_link |= continued_log(line).is_some();
        if let Some(name) = name_in(line) {
            found = Some(name).filter(|_| !std::mem::take(&mut is_link));
        }
        found.is_none()
    });
    read.ok().and(found)
}

/// The name in the line of a block's id, which is whole.
pub(super) fn name_in(line: &[u8]) -> Option<u128> {
    let id = line.strip_prefix(b"^")?.strip_suffix(b"\n")?;
    let id = std::str::from_utf8(id).ok()?.trim_end();
    Some(Ulid::from_string(id).ok()?.0 & NAME)
}

/// The log that an event says its session goes on from.
pub(super) fn continued_log(line: &[u8]) -> Option<String> {
    let rest = line.strip_prefix(b"> ")?.strip_prefix(CONTINUES.as_bytes())?;
    let rest = std::str::from_utf8(rest).ok()?;
    Some(rest.split_once("]]")?.0.to_owned())
}

/// Hands over the lines of a note, with their line breaks, until `take` wants no more.
pub(super) fn each_line(
    vault: &Vault,
    path: &NotePath,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<(), ArchiveError> {
    let mut file = BufReader::with_capacity(256 << 10, vault.open_note(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line).map_err(ArchiveError::Log)?;
        if read == 0 || !take(&line) {
            return Ok(());
        }
    }
}
