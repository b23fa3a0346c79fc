//! Detects the program that a file or folder is from, and reads it.
//!
//! A basic-memory project is a folder of Markdown entities:
//!
//! ```text
//! ---
//! title: Coffee
//! permalink: coffee
//! ---
//! - [method] Pour over gives more clarity #brewing (tried at home)
//! - relates_to [[Beans]]
//! ```
//!
//! Each of its notes is copied whole into the folder of imports, in which search finds its observations, and its links
//! still work. Nothing is copied into `MEMORY.md` as well.

use std::path::Path;

use super::bounded_read::{self, MAX_ENTRIES_BYTES};
use super::{ImportBatch, Result, TransferError, calendar, contents, memory_json, openclaw, records};
use crate::format::lines::{self, LiveLines};
use crate::format::yaml;
use crate::vault::NotePath;
use crate::words::words;

words! {
    /// The sources of an import.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
    pub enum ImportSourceKind, name {
        /// An OpenClaw workspace.
        Openclaw = "openclaw",
        /// A basic-memory project.
        BasicMemory = "basic-memory",
        /// The file of the MCP reference memory server: entities and relations, JSON Lines.
        McpMemory = "mcp-memory",
        /// An export of ours, JSON Lines.
        Jsonl = "jsonl",
    }
}

impl ImportSourceKind {
    /// The kind of what is at `path`, by what it looks like.
    ///
    /// # Errors
    /// There is nothing, or it looks like none of them.
    pub fn detect(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(|source| bounded_read::io(path, source))?;
        if metadata.is_dir() {
            if openclaw::is_one(path) {
                return Ok(Self::Openclaw);
            }
            if is_basic_memory(path) {
                return Ok(Self::BasicMemory);
            }
        } else {
            let bytes = bounded_read::read_file(path, MAX_ENTRIES_BYTES)?;
            if records::is_one(&bytes) {
                return Ok(Self::Jsonl);
            }
            if memory_json::is_graph(&bytes) {
                return Ok(Self::McpMemory);
            }
        }
        Err(TransferError::UnknownKind(path.to_owned()))
    }
}

/// Whether a file is an earlier export, in any of the forms that are one file.
pub fn is_export(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.starts_with(calendar::FIRST) || contents::is_document(text) || records::is_whole(text)
    })
}

/// Reads `path` (`-` is standard input) as a source of that kind. Notes without a place of their own
/// are meant for the folder `into`, or one that is named like the source; `timezone` is the zone of the
/// vault that it is read for.
///
/// # Errors
/// It isn't there, is not of that kind, is too large, or can't be read.
pub fn read(
    kind: ImportSourceKind,
    path: &Path,
    into: Option<&NotePath>,
    timezone: &str,
) -> Result<ImportBatch> {
    if matches!(kind, ImportSourceKind::Jsonl | ImportSourceKind::McpMemory) {
        let bytes = if path.as_os_str() == "-" {
            bounded_read::read_stream(path, std::io::stdin().lock(), MAX_ENTRIES_BYTES)?
        } else {
            bounded_read::read_file(path, MAX_ENTRIES_BYTES)?
        };
        return match kind {
            ImportSourceKind::Jsonl => Ok(records::parse(&bytes, timezone)),
            _ => memory_json::parse(&bytes)
                .map_err(|reason| TransferError::NotUnderstood(path.to_owned(), reason)),
        };
    }
    let root = path.canonicalize().map_err(|source| bounded_read::io(path, source))?;
    if !root.is_dir() {
        return Err(TransferError::WrongType(path.to_owned(), "a folder"));
    }
    let into = into.cloned().unwrap_or_else(|| folder_for(kind, &root));
    let batch = match kind {
        ImportSourceKind::Openclaw => openclaw::read(&root, &into),
        _ => read_basic_memory(&root, &into),
    };
    batch.map(ImportBatch::without_scopes)
}

/// The folder of imports for a source: by its name where that can stand in a path, else by its kind.
fn folder_for(kind: ImportSourceKind, root: &Path) -> NotePath {
    let own = root.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.'));
    let named = own.and_then(|name| NotePath::new(&format!("imported/{name}")).ok());
    named.filter(|_| kind == ImportSourceKind::BasicMemory).unwrap_or_else(|| {
        NotePath::new(&format!("imported/{}", kind.name())).expect("the names of kinds are plain words")
    })
}

/// Reads the project at `root`; its notes go to the folder `into`.
///
/// # Errors
/// `root` is no folder, or has too much in it.
fn read_basic_memory(root: &Path, into: &NotePath) -> Result<ImportBatch> {
    let mut batch = ImportBatch::default();
    for (relative, text) in bounded_read::texts(root, &mut batch)? {
        batch.add_note(into.join(&relative), &relative, text);
    }
    Ok(batch)
}

/// Whether some note of a folder is an entity.
fn is_basic_memory(root: &Path) -> bool {
    let mut batch = ImportBatch::default();
    let notes = bounded_read::notes(root, &mut batch).unwrap_or_default();
    notes.iter().take(200).any(|relative| {
        let text = bounded_read::read_note(root, relative, &mut batch).unwrap_or_default();
        is_entity(&text)
    })
}

/// Whether a note is an entity: it has a permalink in its head, or an observation.
fn is_entity(text: &str) -> bool {
    let bytes = text.as_bytes();
    let head = lines::frontmatter_end(bytes).unwrap_or(0);
    let is_permalink = |line: lines::Line<'_>| yaml::entry(line.text).is_some_and(|it| it.key == "permalink");
    lines::lines(&bytes[..head]).into_iter().any(is_permalink)
        || LiveLines::new(bytes).any(|line| observation(&String::from_utf8_lossy(line.text)).is_some())
}

/// The observation that a line is: `- [category] text`, or a list item with a tag that is no relation.
fn observation(line: &str) -> Option<&str> {
    let item = line.trim_start().strip_prefix(['-', '*'])?.strip_prefix(' ')?.trim();
    if let Some(rest) = item.strip_prefix('[') {
        let (category, text) = rest.split_once(']')?;
        let is_task = matches!(category.trim(), "" | "x" | "X" | "-" | "/");
        let is_plain = !category.contains(['[', '(', ')']);
        return (!is_task && is_plain && text.starts_with(' ') && !text.trim().is_empty()).then_some(item);
    }
    let is_tag = |word: &str| word.strip_prefix('#').is_some_and(|tag| tag.starts_with(char::is_alphabetic));
    (!item.contains("[[") && item.split_whitespace().any(is_tag)).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_told_from_tasks_links_and_relations() {
        let text = "---\ntitle: Coffee\npermalink: coffee\ntags: [a]\n---\n# Coffee\n\n- [method] Pour over #brewing (at home)\n\
                    * [tip] See [[Beans]]\n- [ ] task\n- [x] done\n- [text](https://example.org)\n- [[Bare]]\n- relates_to [[Beans]] #x\n\
                    - tagged #brewing\n- plain\n```\n- [code] no\n```\n  - [nested] yes\n- [empty] \n";
        let found: Vec<_> = text.lines().filter_map(observation).collect();
        assert_eq!(
            found,
            [
                "[method] Pour over #brewing (at home)",
                "[tip] See [[Beans]]",
                "tagged #brewing",
                "[code] no",
                "[nested] yes"
            ]
        );
        assert!(is_entity(text) && is_entity("---\npermalink: a\n---\n") && is_entity("- [a] b\n"));
        assert!(!is_entity("---\ntitle: a\n---\nwords\n") && !is_entity("```\n- [code] no\n```\n"));
    }
}
