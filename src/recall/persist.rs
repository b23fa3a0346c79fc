//! The corpus as one file, so that a cold process need not read every note's text again.
//!
//! Flat arrays, little endian, each with its length in front, behind a head that names the version of
//! everything that they depend on. A file of another version, a torn or a foreign one is not an error: the
//! corpus is made from the index again. It is replaced in one step (written beside, renamed over).

use std::io::{self, Write};
use std::path::Path;

use super::corpus::{Corpus, File};
use super::matrix::Matrix;
use super::postings::{Flat, Postings};
use super::text::Shape;
use crate::embed::table;

/// The version of the layout and of what the arrays mean; the table's name and the program's version are
/// part of the head beside it.
const LAYOUT: &str = "vault-agent recall 1";

fn head(options: &str) -> String {
    format!("{LAYOUT} {} {} {options}\n", table::NAME, env!("CARGO_PKG_VERSION"))
}

/// Writes `corpus`, made under `options` (what its blocks depend on beside the notes), to `path`.
///
/// # Errors
/// The disk's.
pub fn save(corpus: &Corpus, options: &str, path: &Path) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = write(corpus, options, &temporary).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn write(corpus: &Corpus, options: &str, path: &Path) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    out.write_all(head(options).as_bytes())?;
    let flat = corpus.postings.to_flat();
    let (rows, scales) = corpus.vectors.parts();
    let mut paths = String::new();
    for file in &corpus.files {
        paths.push_str(&file.path);
        paths.push('\0');
    }
    put(&mut out, paths.as_bytes(), |x| [*x])?;
    put(&mut out, &corpus.files, |file| file.version.to_le_bytes())?;
    put(&mut out, &corpus.files, |file| file.slots.end.to_le_bytes())?;
    put(&mut out, &corpus.files, |file| [u8::from(file.alive)])?;
    put(&mut out, corpus.authors.join("\0").as_bytes(), |x| [*x])?;
    put(&mut out, &corpus.file_of, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.line, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.end_line, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.length, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.window, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.shape, |x| x.0.to_le_bytes())?;
    put(&mut out, &corpus.author, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.time, |x| x.to_le_bytes())?;
    put(&mut out, &corpus.role, |x| [*x])?;
    put(&mut out, &corpus.hash, |x| *x)?;
    put(&mut out, &flat.text, |x| [*x])?;
    put(&mut out, &flat.ends, |x| x.to_le_bytes())?;
    put(&mut out, &flat.stretches, |x| x.to_le_bytes())?;
    put(&mut out, &flat.slots, |x| x.to_le_bytes())?;
    put(&mut out, &flat.counts, |x| [*x])?;
    put(&mut out, scales, |x| x.to_le_bytes())?;
    put(&mut out, rows, |x| x.to_le_bytes())?;
    out.flush()
}

fn put<T, const N: usize>(
    out: &mut impl Write,
    items: &[T],
    bytes: impl Fn(&T) -> [u8; N],
) -> io::Result<()> {
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

/// The corpus at `path`, if there is a whole one of this version made under `options`.
pub fn load(path: &Path, options: &str) -> Option<Corpus> {
    let bytes = std::fs::read(path).ok()?;
    let mut rest = bytes.strip_prefix(head(options).as_bytes())?;
    let paths = String::from_utf8(take(&mut rest, |[x]: [u8; 1]| x)?).ok()?;
    let versions = take(&mut rest, u64::from_le_bytes)?;
    let ends = take(&mut rest, u32::from_le_bytes)?;
    let alive = take(&mut rest, |[x]: [u8; 1]| x != 0)?;
    let mut start = 0;
    let mut files = Vec::with_capacity(ends.len());
    for (((path, version), end), alive) in paths.split_terminator('\0').zip(versions).zip(&ends).zip(alive) {
        files.push(File { path: path.to_owned(), version, slots: start..*end, alive });
        start = *end;
    }
    let authors = String::from_utf8(take(&mut rest, |[x]: [u8; 1]| x)?).ok()?;
    let corpus = Corpus {
        authors: if authors.is_empty() {
            Vec::new()
        } else {
            authors.split('\0').map(str::to_owned).collect()
        },
        file_of: take(&mut rest, u32::from_le_bytes)?,
        line: take(&mut rest, u32::from_le_bytes)?,
        end_line: take(&mut rest, u32::from_le_bytes)?,
        length: take(&mut rest, u16::from_le_bytes)?,
        window: take(&mut rest, f32::from_le_bytes)?,
        shape: take(&mut rest, |x| Shape(u16::from_le_bytes(x)))?,
        author: take(&mut rest, u32::from_le_bytes)?,
        time: take(&mut rest, i64::from_le_bytes)?,
        role: take(&mut rest, |[x]: [u8; 1]| x)?,
        hash: take(&mut rest, |x: [u8; 16]| x)?,
        ..Corpus::new()
    };
    let flat = Flat {
        text: take(&mut rest, |[x]: [u8; 1]| x)?,
        ends: take(&mut rest, u32::from_le_bytes)?,
        stretches: take(&mut rest, u32::from_le_bytes)?,
        slots: take(&mut rest, u32::from_le_bytes)?,
        counts: take(&mut rest, |[x]: [u8; 1]| x)?,
    };
    let scales = take(&mut rest, f32::from_le_bytes)?;
    let rows = take(&mut rest, i8::from_le_bytes)?;
    let n = corpus.file_of.len();
    let same = [corpus.line.len(), corpus.end_line.len(), corpus.length.len(), corpus.window.len()]
        .into_iter()
        .chain([
            corpus.shape.len(),
            corpus.author.len(),
            corpus.time.len(),
            corpus.role.len(),
            corpus.hash.len(),
            scales.len(),
        ])
        .all(|len| len == n);
    let sound = same
        && rest.is_empty()
        && files.len() == ends.len()
        && ends.is_sorted()
        && start as usize == n
        && corpus.file_of.iter().all(|file| (*file as usize) < files.len())
        && flat.is_sound(start);
    if !sound {
        return None;
    }
    let vectors = Matrix::from_parts(table::DIMENSIONS, rows, scales)?;
    Some(Corpus { files, postings: Postings::from_flat(flat), vectors, ..corpus }.connect())
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
mod tests {
    use super::*;
    use crate::recall::corpus::Passage;

    fn corpus() -> Corpus {
        let mut corpus = Corpus::new();
        for (path, texts) in
            [("a.md", ["The dentist, Ann", "is closed?"]), ("b.md", ["x", ""]), ("a.md", ["anew", "y"])]
        {
            let passages = texts.iter().zip(1..).map(|(text, line)| Passage {
                line,
                end_line: line,
                is_turn: true,
                role: None,
                author: Some("Ann"),
                time: Some(7),
                head: "",
                text,
            });
            corpus.put(path, 3, passages);
        }
        corpus
    }

    #[test]
    fn what_was_saved_is_loaded_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("recall.bin");
        let corpus = corpus();
        save(&corpus, "utc", &path).unwrap();
        let loaded = load(&path, "utc").unwrap();
        assert_eq!(loaded.files(), corpus.files());
        assert_eq!(loaded.postings.to_flat(), corpus.postings.to_flat());
        assert_eq!(
            (&loaded.shape, &loaded.hash, &loaded.vectors),
            (&corpus.shape, &corpus.hash, &corpus.vectors)
        );
        assert_eq!(loaded.file("a.md"), corpus.file("a.md"));
        assert!(load(&path, "other").is_none());
        let bytes = std::fs::read(&path).unwrap();
        for cut in (0..bytes.len()).step_by(97) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(load(&path, "utc").is_none(), "{cut}");
        }
        // A flipped byte may change a value, but never panics.
        for at in (0..bytes.len()).step_by(31) {
            let mut torn = bytes.clone();
            torn[at] ^= 0x81;
            std::fs::write(&path, &torn).unwrap();
            let _ = load(&path, "utc");
        }
    }
}
