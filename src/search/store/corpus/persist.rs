//! The corpus on disk, so that a cold process need not read every note's text again.
//!
//! Layers are files of their own, named by their content ([`crate::search::store::corpus::layer`]). The head, `recall.bin`,
//! has a line with the version of everything that it depends on, a line that names the layers, each with its [`Seal`], the
//! list of notes as `bitcode` packs it, and its own checksum. A head of another version is not an error: the corpus is made
//! from the index again, and so it is, with a word to the person, where the head or a layer is damaged. Each file is replaced
//! in one step (written beside, renamed over), the head last.

use std::io;
use std::path::Path;

use bitcode::{Decode, Encode};

use crate::embed::table;
use crate::search::store::cache::boot_id;
use crate::search::store::corpus::blocks::{Corpus, File};
use crate::search::store::corpus::frozen::{Frozen, replace, write_layer};
use crate::search::store::corpus::layer;
use crate::search::store::corpus::layer::Layer;
use crate::search::store::seal::{Seal, Verdict};
use crate::search::store::stamp::Stamp;

/// The version of the layout and of what the arrays mean; the table's name and the program's version are
/// part of the head beside it.
const LAYOUT: &str = "vault-agent recall 12";

/// What a head holds behind its two lines.
#[derive(Encode, Decode)]
struct Head {
    /// The start of the machine in which it was written.
    boot: String,
    of: Option<Stamp>,
    notes: Vec<Row>,
    authors: Vec<String>,
}

/// A [`File`].
#[derive(Encode, Decode)]
struct Row {
    path: String,
    version: u64,
    slots: (u32, u32),
    alive: bool,
    has_notes: bool,
    has_turns: bool,
    terms: u32,
    windows: f32,
    authors: Vec<u32>,
}

impl Row {
    fn of(file: &File) -> Self {
        let File { version, alive, has_notes, has_turns, terms, windows, .. } = *file;
        let slots = (file.slots.start, file.slots.end);
        let (path, authors) = (file.path.clone(), file.authors.clone());
        Self { path, version, slots, alive, has_notes, has_turns, terms, windows, authors }
    }

    fn file(self) -> File {
        let Self { path, version, slots, alive, has_notes, has_turns, terms, windows, authors } = self;
        File { path, version, slots: slots.0..slots.1, alive, has_notes, has_turns, terms, windows, authors }
    }
}

fn version(options: &str) -> String {
    format!("{LAYOUT} {} {} {options}\n", table::NAME, env!("CARGO_PKG_VERSION"))
}

/// Writes `corpus`, made under `options` (what its blocks depend on beside the notes), to the head at `path` and
/// its layers beside it: the corpus of the index's state `of`. The tail becomes a layer.
///
/// # Errors
/// The disk's.
pub fn save(corpus: &mut Corpus, of: Option<Stamp>, options: &str, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    corpus.folder.get_or_insert_with(|| folder.to_owned());
    corpus.freeze();
    for frozen in &mut corpus.layers {
        // What another process removed is still mapped here.
        if frozen.name.as_ref().is_none_or(|(name, _)| !folder.join(name).exists()) {
            frozen.name = Some(write_layer(folder, frozen.layer.as_bytes())?);
        }
    }
    let known = layers_of(path);
    replace(path, |file| file.write_all(&head(corpus, of, options)))?;
    for name in known {
        if corpus.layers.iter().all(|frozen| frozen.name.as_ref().is_none_or(|(known, _)| *known != name)) {
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
    Ok(())
}

/// The bytes of a head.
fn head(corpus: &Corpus, of: Option<Stamp>, options: &str) -> Vec<u8> {
    let named = corpus.layers.iter().filter_map(|frozen| frozen.name.as_ref());
    let names: Vec<String> = named.map(|(name, seal)| format!("{name} {seal}")).collect();
    let mut bytes = format!("{}{}\n", version(options), names.join("\0")).into_bytes();
    let (notes, authors) = (corpus.files.iter().map(Row::of).collect(), corpus.authors().to_vec());
    bytes.extend(bitcode::encode(&Head { boot: boot_id(), of, notes, authors }));
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The names of the layers that the head at `path` names, whatever version it is of.
fn layers_of(path: &Path) -> Vec<String> {
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let second = bytes.split(|byte| *byte == b'\n').nth(1);
    let names = second.and_then(names).unwrap_or_default();
    names.into_iter().map(|(name, _)| name).collect()
}

/// Layers' names and seals. Only such as this room gives are taken: a torn head names nobody else's file.
fn names(line: &[u8]) -> Option<Vec<(String, Seal)>> {
    let ours = |line: &str| {
        let (name, seal) = line.split_once(' ')?;
        let core = name.strip_prefix("recall-").and_then(|rest| rest.strip_suffix(".layer"))?;
        let is_ours = core.len() == 16 && core.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_ours.then_some((name.to_owned(), seal.parse().ok()?))
    };
    let names = std::str::from_utf8(line).ok()?;
    names.split('\0').filter(|name| !name.is_empty()).map(ours).collect()
}

/// What was saved.
#[derive(Debug)]
pub enum Saved {
    /// The corpus, and the state of the index that it is of.
    Whole(Box<Corpus>, Option<Stamp>),
    /// None of this version made under these options.
    Nothing,
    /// Something else than what was written. What that is, for a person.
    Damaged(String),
}

/// The corpus at `path`, made under `options`; where `deep`, every byte of it is looked at.
pub fn load(path: &Path, options: &str, deep: bool) -> Saved {
    let mut saved = Saved::Nothing;
    // A process that saves meanwhile may take layers away: its own head names those that stay.
    for _ in 0..3 {
        saved = load_once(path, options, deep);
        if !matches!(saved, Saved::Damaged(_)) {
            break;
        }
    }
    saved
}

/// Removes what was saved at `path`.
pub fn forget(path: &Path) {
    let _ = std::fs::remove_file(path);
    for entry in
        path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten()
    {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("recall-") && name.ends_with(".layer") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn load_once(path: &Path, options: &str, deep: bool) -> Saved {
    let Ok(bytes) = std::fs::read(path) else { return Saved::Nothing };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let damaged = |name: &str| Saved::Damaged(format!("`{name}` is not what it was"));
    let Some((bytes, sum)) = bytes.split_last_chunk::<4>() else { return damaged(&file) };
    if crc32fast::hash(bytes) != u32::from_le_bytes(*sum) {
        return damaged(&file);
    }
    let Some(rest) = bytes.strip_prefix(version(options).as_bytes()) else { return Saved::Nothing };
    let Some(folder) = path.parent() else { return Saved::Nothing };
    let mut lines = rest.splitn(2, |byte| *byte == b'\n');
    let named =
        lines.next().and_then(names).zip(lines.next().and_then(|rest| bitcode::decode::<Head>(rest).ok()));
    let Some((names, head)) = named else { return damaged(&file) };
    // What was written without waiting for the disk may be torn after a start of the machine.
    let is_booted = head.boot != boot_id();
    let (mut layers, mut is_moved) = (Vec::new(), is_booted);
    for (name, seal) in names {
        let seal = match seal.check(&folder.join(&name), deep || is_booted) {
            Verdict::Known => seal,
            Verdict::Same(seal) => {
                is_moved = true;
                seal
            }
            Verdict::Damaged => return damaged(&name),
        };
        let Some(layer) = Layer::map(folder, &name) else { return damaged(&name) };
        layers.push(Frozen { layer, name: Some((name, seal)) });
    }
    let of = head.of;
    let Some(corpus) = corpus(head, layers, folder) else { return damaged(&file) };
    // The next process need not look at every byte again.
    if is_moved && let Err(error) = replace(path, |file| file.write_all(&self::head(&corpus, of, options))) {
        tracing::debug!(%error, "the layers are not sealed again");
    }
    Saved::Whole(Box::new(corpus), of)
}

/// The corpus of a head and its layers; none where they don't belong together.
fn corpus(head: Head, layers: Vec<Frozen>, folder: &Path) -> Option<Corpus> {
    let is_there = |file: &File| {
        let slots = &file.slots;
        let layer = layers.get((slots.start >> layer::BITS) as usize).map_or(0, |frozen| frozen.layer.len());
        let end = (slots.start as usize & (layer::MOST - 1)) + slots.len();
        slots.start <= slots.end && (slots.is_empty() || end <= layer)
    };
    let files: Vec<File> = head.notes.into_iter().map(Row::file).collect();
    // A block without a note would be nobody's.
    let is_whole = files.iter().all(is_there) && (!files.is_empty() || layers.is_empty());
    is_whole.then(|| Corpus::from_parts(files, layers, head.authors, folder.to_owned()))
}

#[cfg(test)]
mod tests;
