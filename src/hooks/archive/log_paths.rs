//! Chooses the paths of sessions' logs: `logs/claude-code/PROJECT/SESSION.md`, and a sub-agent's log in the same
//! folder.
//!
//! Also writes attachments (large results, pictures) into `files/`, named by their SHA-256, and reads a log's markers.
//! The markers are the names of the log's pieces (texts, tool calls and results of the transcript), and the link to the
//! log that it continues.
//!
//! A log that was moved to another folder below `logs/claude-code/` is found there and continued. A new log begins in
//! the folder of the project in which the session's first line was written, unless the environment names the project.

use std::collections::HashMap;
use std::fs::DirEntry;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use ulid::Ulid;

use crate::hooks::archive::{ArchiveError, Result};
use crate::hooks::context::CLIENT;
use crate::memory::{Scope, derive};
use crate::redact::Redactor;
use crate::vault::{Editor, NotePath, PathError, Vault};
use crate::workspace::Workspace;

/// Longer names are cut, with a hash of the whole.
const MAX_NAME_CHARS: usize = 80;
/// The most logs that are searched for the one that a session continues, the newest first.
const MAX_SCANNED_LOGS: usize = 1000;
/// Logs are found in folders so deep below the surface's own, as the docs say.
const MAX_DEPTH: usize = 6;

/// The beginning of an event that names the log which this session continues.
pub(super) const CONTINUES: &str = "Goes on from [[";
/// The folder of attachments beside logs.
const FILES: &str = "files";
/// The bits of a name.
const NAME: u128 = (1 << 80) - 1;

/// The longest text in a log, in bytes; a longer one gets a file of its own.
pub const MAX_INLINE_BYTES: usize = 16 << 10;
/// The bytes of its beginning that are in the log all the same; of its end half as many.
const SHOWN: usize = 2048;

/// The folder of one surface's logs.
#[derive(Debug, Clone)]
pub struct LogPaths {
    pub(super) vault: Vault,
    folder: String,
}

/// An attachment.
#[derive(Debug, PartialEq, Eq)]
pub struct DecodedAttachment {
    bytes: Vec<u8>,
    extension: &'static str,
}

impl LogPaths {
    /// The paths of a workspace.
    pub fn of(workspace: &Workspace) -> Self {
        let logs = workspace.settings.paths.logs.trim_end_matches('/');
        Self { vault: workspace.vault.clone(), folder: format!("{logs}/{CLIENT}") }
    }

    /// The folder, as [`LogPaths::log`] takes it, and the path of an existing log.
    pub fn find(&self, name: &str) -> Option<(String, NotePath)> {
        self.levels().flatten().find_map(|folder| {
            let path = self.log(&folder, name).ok()?;
            self.vault.exists(&path).then(|| (folder.trim_start_matches("./").to_owned(), path))
        })
    }

    /// The folders of logs by their depth: the surface's own, the projects', and those that a person made below. A
    /// level is looked for when it is asked for.
    fn levels(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let mut level = vec![".".to_owned()];
        (0..=MAX_DEPTH).map(move |depth| {
            if depth > 0 {
                level = level.iter().flat_map(|folder| self.folders(folder)).collect();
            }
            level.clone()
        })
    }

    fn folders(&self, folder: &str) -> Vec<String> {
        let is_folder = |entry: &DirEntry| {
            let kind = entry.file_type();
            kind.is_ok_and(|kind| kind.is_dir() || kind.is_symlink() && entry.path().is_dir())
        };
        let names =
            self.entries(folder).filter(is_folder).filter_map(|entry| entry.file_name().into_string().ok());
        // A project may be called so, too.
        names.filter(|name| folder == "." || name != FILES).map(|name| format!("{folder}/{name}")).collect()
    }

    fn entries(&self, folder: &str) -> impl Iterator<Item = DirEntry> + use<> {
        let dir = self.vault.root().join(&self.folder).join(folder);
        std::fs::read_dir(dir).into_iter().flatten().flatten()
    }

    /// The path of a log.
    ///
    /// # Errors
    /// The settings' folder of logs is none.
    pub fn log(&self, project: &str, name: &str) -> Result<NotePath, PathError> {
        self.path(project, &format!("{name}.md"))
    }

    /// The path of a file beside the logs.
    ///
    /// # Errors
    /// As [`LogPaths::log`].
    pub fn file(&self, project: &str, name: &str) -> Result<NotePath, PathError> {
        self.path(project, &format!("{FILES}/{name}"))
    }

    fn path(&self, project: &str, name: &str) -> Result<NotePath, PathError> {
        NotePath::new(&format!("{}/{project}/{name}", self.folder).replace("/./", "/"))
    }

    /// The log that a link names, if it is one of these.
    pub fn linked(&self, target: &str) -> Option<NotePath> {
        let path = NotePath::new(&format!("{target}.md")).ok()?;
        path.as_str().strip_prefix(&self.folder).is_some_and(|rest| rest.starts_with('/')).then_some(path)
    }

    /// The logs, by the name of the first piece of each.
    pub fn heads(&self) -> HashMap<u128, NotePath> {
        let log = |folder: &str, entry: &DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let path = self.log(folder, name.strip_suffix(".md")?).ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, path))
        };
        let logs_in = |folder: String| self.entries(&folder).filter_map(move |entry| log(&folder, &entry));
        let mut logs: Vec<_> = self.levels().flatten().flat_map(logs_in).collect();
        logs.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        logs.truncate(MAX_SCANNED_LOGS);
        let head = |path: NotePath| Some((first(&self.vault, &path)?, path));
        logs.into_iter().rev().filter_map(|(_, path)| head(path)).collect()
    }
}

impl DecodedAttachment {
    /// A text.
    pub fn text(text: String) -> Self {
        Self { bytes: text.into_bytes(), extension: "txt" }
    }

    /// A picture or a document, decoded from base64; all other text, and what isn't base64, is masked.
    pub fn decode(media: &str, base64: &str, mask: &Redactor) -> Self {
        let masked = |text: &str| Self::text(mask.apply(text).into_owned());
        let plain: Vec<u8> = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let Ok(mut bytes) = data_encoding::BASE64.decode(&plain) else { return masked(base64) };
        let extension = match media {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "application/pdf" => "pdf",
            _ => {
                if let Ok(text) = std::str::from_utf8(&bytes) {
                    return masked(text);
                }
                // Text in another encoding: as Latin-1, each byte is a character, and keys are found in all of them.
                if !bytes.contains(&0) {
                    let text: String = bytes.iter().copied().map(char::from).collect();
                    bytes = mask.apply(&text).chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
                }
                "bin"
            }
        };
        Self { bytes, extension }
    }
}

/// The name of a session's log; of a sub-agent's, where one is named.
pub fn log_name(session: &str, agent: Option<&str>) -> String {
    match agent {
        None => path_part(session),
        Some("") => format!("{}_agents", path_part(session)),
        Some(agent) => format!("{}_agent-{}", path_part(session), path_part(agent)),
    }
}

/// The name of the project that a session in the folder `cwd` belongs to.
pub fn project_of(cwd: &Path) -> String {
    match derive(cwd, |name| std::env::var(name).ok()) {
        Scope::Project(id) => path_part(&id),
        _ => path_part(&cwd.file_name().map(PathBuf::from).unwrap_or_default().to_string_lossy()),
    }
}

/// A text as a part of a path: what is no plain letter, digit, `-` or `_` is a `-`, and a hash tells texts apart that
/// would look the same.
fn path_part(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.len() <= MAX_NAME_CHARS && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let plain: String =
        text.chars().take(MAX_NAME_CHARS).map(|c| if is_plain(c) { c } else { '-' }).collect();
    let hash = &blake3::hash(text.as_bytes()).to_hex()[..6];
    format!("{}-{hash}", plain.trim_matches('-')).trim_start_matches('-').to_owned()
}

/// The name of the first piece of a log, which may continue another log.
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

/// The log that a session continues, as an event names it.
pub(super) fn continued_log(line: &[u8]) -> Option<String> {
    let rest = line.strip_prefix(b"> ")?.strip_prefix(CONTINUES.as_bytes())?;
    let rest = std::str::from_utf8(rest).ok()?;
    Some(rest.split_once("]]")?.0.to_owned())
}

/// Passes the lines of a note, with their line breaks, to `take`, until it returns false.
pub(super) fn each_line(vault: &Vault, path: &NotePath, mut take: impl FnMut(&[u8]) -> bool) -> Result<()> {
    let mut file = BufReader::with_capacity(32 << 10, vault.open_note(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line).map_err(ArchiveError::Log)?;
        if read == 0 || !take(&line) {
            return Ok(());
        }
    }
}

/// Writes a file once, and returns the link to it with its size and hash.
///
/// # Errors
/// It can't be written.
pub fn store(
    editor: &Editor,
    log_paths: &LogPaths,
    project: &str,
    file: &DecodedAttachment,
) -> Result<String> {
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(&file.bytes));
    let path = log_paths.file(project, &format!("{hash}.{}", file.extension))?;
    // One write makes it, whole or not at all; one that is there already is the same.
    editor.append(&path, &file.bytes, &[])?;
    let shown = if matches!(file.extension, "txt" | "bin") { "" } else { "!" };
    Ok(format!("{shown}[[{path}]] ({} bytes, sha256 {hash})", file.bytes.len()))
}

/// The beginning and the end of a text that is too long for a log.
pub fn shortened(text: &str) -> Option<String> {
    if text.len() <= MAX_INLINE_BYTES {
        return None;
    }
    let (head, tail) = (text.floor_char_boundary(SHOWN), text.ceil_char_boundary(text.len() - SHOWN / 2));
    Some(format!("{}\n[… {} bytes …]\n{}", &text[..head], tail - head, &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parts_of_paths() {
        assert_eq!(log_name("0b9c-x", None), "0b9c-x");
        assert_eq!(log_name("s", Some("a1")), "s_agent-a1");
        assert_eq!(log_name("s", Some("")), "s_agents");
        for odd in ["../../etc/passwd", "", "a b", "..", "é", &"x".repeat(300)] {
            let name = path_part(odd);
            assert!(NotePath::new(&name).is_ok() && name.len() < 100, "{odd}: {name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{name}");
            assert_ne!(name, path_part(&format!("{odd}!")));
        }
    }

    #[test]
    fn only_long_texts_are_shortened() {
        assert_eq!(shortened(&"x".repeat(MAX_INLINE_BYTES)), None);
        let text = format!("begin {} end", "é".repeat(MAX_INLINE_BYTES));
        let short = shortened(&text).unwrap();
        assert!(
            short.starts_with("begin é") && short.ends_with("é end") && short.len() < 2 * SHOWN,
            "{short}"
        );
    }

    #[test]
    fn base64_is_decoded() {
        let decode = |media, text: &str| DecodedAttachment::decode(media, text, &Redactor::new(true, &[]));
        let image = DecodedAttachment { bytes: b"hi".to_vec(), extension: "png" };
        assert_eq!(decode("image/png", "aGk=\n"), image);
        assert_eq!(decode("image/png", "%%"), DecodedAttachment::text("%%".to_owned()));
        let key = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6";
        let base64 = |bytes: &[u8]| data_encoding::BASE64.encode(bytes);
        let encoded = &*base64(key.as_bytes());
        for (media, text) in
            [("image/png", key), ("text/plain", encoded), ("application/json", encoded), ("", encoded)]
        {
            assert_eq!(decode(media, text), DecodedAttachment::text("[masked: github token]".to_owned()));
        }
        let latin = |text: &str| [&b"caf\xe9 "[..], text.as_bytes(), b" \xff"].concat();
        let masked = DecodedAttachment { bytes: latin("[masked: github token]"), extension: "bin" };
        assert_eq!(decode("application/xml", &base64(&latin(key))), masked);
        let other = DecodedAttachment { bytes: b"\0\xff".to_vec(), extension: "bin" };
        assert_eq!(decode("application/zip", &base64(b"\0\xff")), other);
    }
}
