//! Finds changed files: compares every file's stat with the recorded one, then the bytes of those that differ.
//!
//! A file is unchanged if its size, inode and both of its times are. A file system's clock may be as coarse as two
//! seconds, so a write directly after a reading may leave the times as they were. Therefore the change time of a file
//! that was read so early is recorded as unknown, and the next scan compares its bytes. Nothing here writes.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

use rayon::prelude::*;
use rusqlite::Connection;

use crate::vault::{NotePath, Stat, Vault, VaultError, Walk, WalkOptions, conflict};

use crate::search::IndexError;
use crate::search::read::file;
use crate::search::read::note::{Options, Parsed};
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, Look};
use crate::search::store::delta::Change;

/// A file's change time is trusted once it is this old, in nanoseconds: the coarsest clock of a file
/// system in use has a grain of two seconds.
const GRAIN: i64 = 2_100_000_000;

/// A file that may have changed: as known, and as it is.
#[derive(Debug, Clone)]
pub struct Suspect {
    /// Its path.
    pub path: String,
    /// The index's row.
    pub known: Option<FileRow>,
    /// The file's stat; `None` if it is deleted.
    pub stat: Option<Stat>,
}

/// A listing of the vault.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The files to index.
    pub files: Vec<(NotePath, Stat)>,
    /// The files that are left out, with the reasons.
    pub skipped: Vec<(String, String)>,
}

/// Lists the files that are indexed.
///
/// # Errors
/// The vault isn't there.
pub fn list(vault: &Vault, options: &Options) -> Result<Listing, VaultError> {
    let walk: Walk = vault.walk(&WalkOptions::every_file())?;
    let mut listing = Listing { files: Vec::with_capacity(walk.entries.len()), skipped: Vec::new() };
    for entry in walk.entries {
        match options.takes(entry.path.as_str()) {
            Ok(true) => listing.files.push((entry.path, entry.stat)),
            Ok(false) => {}
            Err(why) => listing.skipped.push((entry.path.to_string(), why.to_owned())),
        }
    }
    for skipped in walk.skipped {
        listing.skipped.push((skipped.path.to_string_lossy().into_owned(), skipped.reason.to_string()));
    }
    Ok(listing)
}

/// The files of `listing` that may differ from what is known, the vanished ones included.
pub fn suspects(conn: &Connection, listing: Listing) -> Result<Vec<Suspect>, IndexError> {
    let Listing { files, .. } = listing;
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(files.len());
    places.extend(files.iter().enumerate().map(|(n, (path, _))| (path.as_str(), n)));
    let mut is_known = vec![false; files.len()];
    let (mut differing, mut gone) = (Vec::new(), Vec::new());
    catalog::each_look(conn, |path, look| match places.get(path) {
        Some(n) => {
            is_known[*n] = true;
            if !is_as_looked(&look, &files[*n].1) {
                differing.push(*n);
            }
        }
        None => gone.push(path.to_owned()),
    })?;
    let mut suspects = Vec::with_capacity(differing.len() + gone.len());
    for n in differing {
        let (path, stat) = &files[n];
        let known = catalog::file(conn, path.as_str())?;
        suspects.push(Suspect { path: path.to_string(), known, stat: Some(*stat) });
    }
    for path in gone {
        suspects.push(Suspect { known: catalog::file(conn, &path)?, path, stat: None });
    }
    let new = files.iter().zip(is_known).filter(|(_, is_known)| !is_known);
    suspects.extend(new.map(|((path, stat), _)| Suspect {
        path: path.to_string(),
        known: None,
        stat: Some(*stat),
    }));
    suspects.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(suspects)
}

/// The given files as suspects, folders among them as all that is known or found below them.
pub fn suspects_at(
    conn: &Connection,
    vault: &Vault,
    options: &Options,
    paths: &[String],
) -> Result<Vec<Suspect>, IndexError> {
    let mut suspects: HashMap<String, Suspect> = HashMap::new();
    let is_present = vault.is_present();
    for path in paths {
        let Ok(note) = NotePath::new(path) else { continue };
        let plain = plain_stat(vault, path);
        // Of the agent's own notes, some were never written.
        if plain.is_none() && is_present && !is_there(vault, path) && !catalog::knows(conn, path)? {
            continue;
        }
        let known = if plain.is_some() { catalog::file(conn, path)? } else { None };
        if known.zip(plain).is_some_and(|(known, stat)| is_as_known(&known, &stat)) {
            continue;
        }
        match vault.stat(&note) {
            Ok(Some(stat))
                if !note.is_hidden()
                    && options.takes(path) == Ok(true)
                    && !conflict::is_temporary(note.file_name()) =>
            {
                let known = catalog::file(conn, path)?;
                if !known.as_ref().is_some_and(|known| is_as_known(known, &stat)) {
                    suspects.insert(path.clone(), Suspect { path: path.clone(), known, stat: Some(stat) });
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                if let Some(known) = catalog::file(conn, path)? {
                    suspects
                        .insert(path.clone(), Suspect { path: path.clone(), known: Some(known), stat: None });
                }
                // It may have been a folder.
                for (id, below) in catalog::paths(conn, &format!("{path}/"))? {
                    let known = catalog::file_by_id(conn, id)?;
                    let stat = NotePath::new(&below).ok().and_then(|below| vault.stat(&below).ok().flatten());
                    if !stat.as_ref().is_some_and(|stat| is_as_known(&known, stat)) {
                        suspects.insert(below.clone(), Suspect { path: below, known: Some(known), stat });
                    }
                }
            }
            Err(VaultError::NotAFile { .. }) => {
                let options_under =
                    WalkOptions { extensions: Vec::new(), under: Some(note), ..WalkOptions::default() };
                let Ok(walk) = vault.walk(&options_under) else { continue };
                for entry in
                    walk.entries.into_iter().filter(|entry| options.takes(entry.path.as_str()) == Ok(true))
                {
                    let known = catalog::file(conn, entry.path.as_str())?;
                    if !known.as_ref().is_some_and(|known| is_as_known(known, &entry.stat)) {
                        let path = entry.path.to_string();
                        suspects.insert(path.clone(), Suspect { path, known, stat: Some(entry.stat) });
                    }
                }
            }
            Err(error @ (VaultError::Gone(_) | VaultError::Root { .. })) => return Err(error.into()),
            Err(_) => {
                if let Some(known) = catalog::file(conn, path)? {
                    suspects
                        .insert(path.clone(), Suspect { path: path.clone(), known: Some(known), stat: None });
                }
            }
        }
    }
    let mut suspects: Vec<Suspect> = suspects.into_values().collect();
    suspects.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(suspects)
}

/// Whether the file system says of a file what the index recorded.
pub fn is_as_known(known: &FileRow, stat: &Stat) -> bool {
    let FileRow { size, mtime, ctime, inode, .. } = *known;
    is_as_looked(&Look { size, mtime, ctime, inode }, stat)
}

fn is_as_looked(look: &Look, stat: &Stat) -> bool {
    look.ctime != 0
        && look.size == stat.size
        && look.mtime == stat.mtime_ns
        && look.ctime == stat.ctime_ns
        && look.inode == stat.inode
}

/// What the file system says of a file, at the price of one look. Where it is other than known, only the
/// vault's own careful look ([`Vault::stat`]) tells what it is.
pub fn plain_stat(vault: &Vault, path: &str) -> Option<Stat> {
    let found = std::fs::symlink_metadata(vault.root().join(path)).ok().filter(std::fs::Metadata::is_file)?;
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Some(Stat {
        size: found.size(),
        mtime_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
        ctime_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
        inode: found.ino(),
        dev: found.dev(),
        mode: found.mode(),
        is_placeholder: false,
    })
}

/// Whether anything stands at a path.
fn is_there(vault: &Vault, path: &str) -> bool {
    let found = std::fs::symlink_metadata(vault.root().join(path));
    !found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Fewer files than this don't pay for another core.
const WORTH_A_CORE: usize = 16;

/// Looks at the suspects' bytes, on all cores where there are many. `now` is in nanoseconds since 1970.
pub fn inspect(vault: &Vault, options: &Options, suspects: Vec<Suspect>, now: i64) -> Vec<Change> {
    let suspects = suspects.into_par_iter().with_min_len(WORTH_A_CORE);
    suspects.filter_map(|suspect| look(vault, options, suspect, now)).collect()
}

/// The result of one suspect; `None` without a change.
pub fn look(vault: &Vault, options: &Options, suspect: Suspect, now: i64) -> Option<Change> {
    let Some(stat) = suspect.stat else { return suspect.known.map(Change::Removed) };
    let path = NotePath::new(&suspect.path).ok()?;
    let bytes = match read(vault, options, &path, &stat) {
        Ok(bytes) => bytes,
        Err(Unread::Gone) => return suspect.known.map(Change::Removed),
        Err(Unread::Skip(why)) => return Some(skip(suspect.known, suspect.path, &stat, why, now)),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    let row = FileRow {
        id: suspect.known.as_ref().map_or(0, |known| known.id),
        path: suspect.path.clone(),
        hash,
        size: bytes.len() as u64,
        mtime: stat.mtime_ns,
        ctime: trusted(&stat, now),
        inode: stat.inode,
        head: String::new(),
        tags: String::new(),
        time: None,
        skipped: None,
        findings: None,
        place: suspect.known.as_ref().and_then(|known| known.place),
    };
    if let Some(known) = &suspect.known
        && known.hash == hash
    {
        let touched = FileRow { mtime: row.mtime, ctime: row.ctime, inode: row.inode, ..known.clone() };
        return (touched != *known).then_some(Change::Touched(touched));
    }
    Some(match file::parse(&suspect.path, &bytes, options) {
        Ok(parsed) => content(row, parsed),
        Err(why) => skip(suspect.known, suspect.path, &stat, why, now),
    })
}

/// The change that a parsed file makes.
fn content(row: FileRow, parsed: Parsed) -> Change {
    let mut tags = String::new();
    for tag in &parsed.note.tags {
        tags.push_str(tag);
        tags.push(' ');
    }
    let findings: Vec<String> =
        parsed.note.findings.iter().map(|(line, why)| format!("{line}\t{why}")).collect();
    let file = FileRow {
        head: parsed.head,
        tags,
        time: parsed.note.time,
        findings: (!findings.is_empty()).then(|| findings.join("\n")),
        ..row
    };
    Change::Content { file, note: parsed.note }
}

/// Why a file's bytes were not read.
#[derive(Debug)]
enum Unread {
    /// It is not there any more.
    Gone,
    /// It is left out, with the reason.
    Skip(String),
}

/// Reads a file within the limits.
fn read(vault: &Vault, options: &Options, path: &NotePath, stat: &Stat) -> Result<Vec<u8>, Unread> {
    if stat.is_placeholder {
        return Err(Unread::Skip(VaultError::Placeholder(path.clone()).to_string()));
    }
    if conflict::is_conflict_copy(path.file_name()) {
        return Err(Unread::Skip(
            "it is a conflict copy; merge it with its original, then remove it".to_owned(),
        ));
    }
    if stat.size > options.max_file_bytes {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        return Err(Unread::Skip(format!(
            "it has {:.1} MB, more than the {:.1} MB of `[index] max_file_bytes`",
            megabytes(stat.size),
            megabytes(options.max_file_bytes)
        )));
    }
    match vault.read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.is_not_found() => Err(Unread::Gone),
        Err(error) => Err(Unread::Skip(error.to_string())),
    }
}

/// A file that is known but not indexed.
fn skip(known: Option<FileRow>, path: String, stat: &Stat, why: String, now: i64) -> Change {
    let file = FileRow {
        id: known.as_ref().map_or(0, |known| known.id),
        path,
        hash: [0; 32],
        size: stat.size,
        mtime: stat.mtime_ns,
        ctime: trusted(stat, now),
        inode: stat.inode,
        head: String::new(),
        tags: String::new(),
        time: None,
        skipped: Some(why),
        findings: None,
        place: known.and_then(|known| known.place),
    };
    Change::Content { file, note: crate::search::read::block::Note::default() }
}

/// A change time that later scans may trust, else 0.
fn trusted(stat: &Stat, now: i64) -> i64 {
    let newest = stat.ctime_ns.max(stat.mtime_ns);
    if now.saturating_sub(newest) > GRAIN { stat.ctime_ns } else { 0 }
}
