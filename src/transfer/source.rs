//! Detects the program that a file or folder comes from, and reads that file or folder.
//!
//! A basic-memory project is a folder of Markdown entities, and read as any folder of notes:
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
//! Each of its notes is copied whole into the folder of imports, where search finds the observations. Nothing is added
//! to `MEMORY.md`.

use std::path::Path;

use super::bounded_read::{self, MAX_ENTRIES_BYTES};
use super::{ImportBatch, Result, TransferError, calendar, contents, memory_json, openclaw, records};
use crate::vault::NotePath;
use crate::words::words;

words! {
    /// The sources of an import.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
    pub enum ImportSourceKind, name {
        /// An OpenClaw workspace.
        Openclaw = "openclaw",
        /// A basic-memory project, or another folder of notes.
        BasicMemory = "basic-memory",
        /// The file of the MCP reference memory server: entities and relations, JSON Lines.
        McpMemory = "mcp-memory",
        /// An export of ours, JSON Lines.
        Jsonl = "jsonl",
    }
}

impl ImportSourceKind {
    /// The kind of what is at `path`, by what it looks like. A folder that is no OpenClaw workspace is one of notes.
    ///
    /// # Errors
    /// There is nothing, or the file looks like none of them.
    pub fn detect(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(|source| bounded_read::io(path, source))?;
        if metadata.is_dir() {
            return Ok(if openclaw::is_one(path) { Self::Openclaw } else { Self::BasicMemory });
        }
        let bytes = bounded_read::read_file(path, MAX_ENTRIES_BYTES)?;
        if records::is_one(&bytes) {
            return Ok(Self::Jsonl);
        }
        if memory_json::is_graph(&bytes) {
            return Ok(Self::McpMemory);
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
