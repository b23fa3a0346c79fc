//! The corpus on disk, so that a cold process need not read every note's text again.
//!
//! Layers are files of their own, named by their content ([`crate::search::store::corpus::layer`]). The head, `recall.bin`, names them
//! and lists the notes: flat arrays, little endian, each with its length in front, behind a line with the version
//! of everything that they depend on, and before its own checksum. It holds the seal of each layer ([`Seal`]). A head of
//! another version is not an error: the corpus is made from the index again, and so it is, with a word to the person,
//! where the head or a layer is damaged. Each file is replaced in one step (written beside, renamed over), the head last.

use std::io::{self, Write};
use std::path::Path;

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
const LAYOUT: &str = "vault-agent recall 10";

fn head(options: &str) -> String {
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
    replace(path, |file| write(corpus, of, options, file))?;
    for name in known {
        if corpus.layers.iter().all(|frozen| frozen.name.as_ref().is_none_or(|(known, _)| *known != name)) {
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
    Ok(())
}

/// Sums up what goes through it.
struct Summed<'a>(&'a mut dyn Write, crc32fast::Hasher);

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.update(&bytes[..written]);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn write(corpus: &Corpus, of: Option<Stamp>, options: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut summed = Summed(out, crc32fast::Hasher::new());
    write_parts(corpus, of, options, &mut summed)?;
    let sum = summed.1.finalize();
    out.write_all(&sum.to_le_bytes())
}

fn write_parts(corpus: &Corpus, of: Option<Stamp>, options: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(head(options).as_bytes())?;
    let named = corpus.layers.iter().filter_map(|frozen| frozen.name.as_ref());
    let names: Vec<String> = named.map(|(name, seal)| format!("{name} {seal}")).collect();
    put(out, names.join("\0").as_bytes(), |x| [*x])?;
    put(out, boot_id().as_bytes(), |x| [*x])?;
    put(out, of.as_slice(), |of| of.to_bytes())?;
    let mut paths = String::new();
    let (mut authors, mut ends) = (Vec::new(), Vec::new());
    for file in &corpus.files {
        paths.push_str(&file.path);
        paths.push('\0');
        authors.extend_from_slice(&file.authors);
        ends.push(u32::try_from(authors.len()).unwrap_or(u32::MAX));
    }
    put(out, paths.as_bytes(), |x| [*x])?;
    put(out, &corpus.files, |file| file.version.to_le_bytes())?;
    put(out, &corpus.files, |file| file.slots.start.to_le_bytes())?;
    put(out, &corpus.files, |file| file.slots.end.to_le_bytes())?;
    put(out, &corpus.files, |file| {
        [u8::from(file.alive) | u8::from(file.has_notes) << 1 | u8::from(file.has_turns) << 2]
    })?;
    put(out, &corpus.files, |file| file.terms.to_le_bytes())?;
    put(out, &corpus.files, |file| file.windows.to_le_bytes())?;
    put(out, &ends, |x| x.to_le_bytes())?;
    put(out, &authors, |x| x.to_le_bytes())?;
    put(out, corpus.authors().join("\0").as_bytes(), |x| [*x])
}

fn put<T, const N: usize>(out: &mut dyn Write, items: &[T], bytes: impl Fn(&T) -> [u8; N]) -> io::Result<()> {
    out.write_all(&(items.len() as u64).to_le_bytes())?;
    let mut buffer = Vec::with_capacity(N * 8192);
    for chunk in items.chunks(8192) {
        buffer.clear();
        for item in chunk {
            buffer.extend_from_slice(&bytes(item));
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// The names of the layers that the head at `path` names, whatever version it is of.
fn layers_of(path: &Path) -> Vec<String> {
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let after = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    let names = names(&mut &bytes[after..]).unwrap_or_default();
    names.into_iter().map(|(name, _)| name).collect()
}

/// Layers' names and seals. Only such as this room gives are taken: a torn head names nobody else's file.
fn names(rest: &mut &[u8]) -> Option<Vec<(String, Seal)>> {
    let names = String::from_utf8(take(rest, |[x]: [u8; 1]| x)?).ok()?;
    let ours = |line: &str| {
        let (name, seal) = line.split_once(' ')?;
        let core = name.strip_prefix("recall-").and_then(|rest| rest.strip_suffix(".layer"))?;
        let is_ours = core.len() == 16 && core.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_ours.then_some((name.to_owned(), seal.parse().ok()?))
    };
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
    let Some(mut rest) = bytes.strip_prefix(head(options).as_bytes()) else { return Saved::Nothing };
    let Some(folder) = path.parent() else { return Saved::Nothing };
    let Some((names, boot)) = names(&mut rest).zip(take(&mut rest, |[x]: [u8; 1]| x)) else {
        return damaged(&file);
    };
    // What was written without waiting for the disk may be torn after a start of the machine.
    let is_booted = boot != boot_id().as_bytes();
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
    let Some((corpus, of)) = corpus(rest, layers, folder) else { return damaged(&file) };
    // The next process need not look at every byte again.
    if is_moved && let Err(error) = replace(path, |file| write(&corpus, of, options, file)) {
        tracing::debug!(%error, "the layers are not sealed again");
    }
    Saved::Whole(Box::new(corpus), of)
}

fn corpus(mut rest: &[u8], layers: Vec<Frozen>, folder: &Path) -> Option<(Corpus, Option<Stamp>)> {
    let of = take(&mut rest, Stamp::from_bytes)?.into_iter().next();
    let paths = String::from_utf8(take(&mut rest, |[x]: [u8; 1]| x)?).ok()?;
    let versions = take(&mut rest, u64::from_le_bytes)?;
    let starts = take(&mut rest, u32::from_le_bytes)?;
    let ends = take(&mut rest, u32::from_le_bytes)?;
    let flags = take(&mut rest, |[x]: [u8; 1]| x)?;
    let terms = take(&mut rest, u32::from_le_bytes)?;
    let windows = take(&mut rest, f32::from_le_bytes)?;
    let author_ends = take(&mut rest, u32::from_le_bytes)?;
    let of_files = take(&mut rest, u32::from_le_bytes)?;
    let authors = String::from_utf8(take(&mut rest, |[x]: [u8; 1]| x)?).ok()?;
    let authors: Vec<String> =
        if authors.is_empty() { Vec::new() } else { authors.split('\0').map(str::to_owned).collect() };
    let count = versions.len();
    let same = [starts.len(), ends.len(), flags.len(), terms.len(), windows.len(), author_ends.len()];
    if !rest.is_empty() || same != [count; 6] || paths.split_terminator('\0').count() != count {
        return None;
    }
    let mut files = Vec::with_capacity(count);
    let mut author = 0;
    for (at, path) in paths.split_terminator('\0').enumerate() {
        let slots = starts[at]..ends[at];
        let layer = layers.get((slots.start >> layer::BITS) as usize).map_or(0, |frozen| frozen.layer.len());
        let within = (slots.start as usize & (layer::MOST - 1)) + slots.len() <= layer;
        if slots.end < slots.start || (!slots.is_empty() && !within) {
            return None;
        }
        let speakers = of_files.get(author..author_ends[at] as usize)?.to_vec();
        author = author_ends[at] as usize;
        files.push(File {
            path: path.to_owned(),
            version: versions[at],
            slots,
            alive: flags[at] & 1 != 0,
            has_notes: flags[at] & 2 != 0,
            has_turns: flags[at] & 4 != 0,
            terms: terms[at],
            windows: windows[at],
            authors: speakers,
        });
    }
    // A block without a note would be nobody's.
    if files.is_empty() && !layers.is_empty() {
        return None;
    }
    Some((Corpus::from_parts(files, layers, authors, folder.to_owned()), of))
}

fn take<T, const N: usize>(rest: &mut &[u8], item: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (count, after) = rest.split_first_chunk::<8>()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let (items, after) = after.split_at_checked(count.checked_mul(N)?)?;
    *rest = after;
    let (chunks, _) = items.as_chunks::<N>();
    Some(chunks.iter().map(|chunk| item(*chunk)).collect())
}

#[cfg(test)]
mod tests;
